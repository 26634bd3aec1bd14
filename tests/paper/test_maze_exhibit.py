"""What runs in mazes have to show, from made-up results."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from matplotlib.image import imread

from backplay.paper.maze.exhibit import (
    DrawnPath,
    draw_paths,
    exhibit,
    measured_cells,
    pixels_as_png,
    wasted,
)
from backplay.report.records import RunRecord, grouped
from made_up_records import record

BOARD: dict[str, Any] = {
    "height": 3, "width": 3, "walls": [4], "start": 0, "goal": 2, "demonstration": [0, 1, 2],
    "path": [0, 1, 2], "shortest": 2,
}  # fmt: skip


def summary(success: float) -> dict[str, float | None]:
    return {
        "success": success, "optimal": success / 2, "within_5": success * 0.9,
        "extra_mean": 100 * (1 - success), "extra_std": None,
    }  # fmt: skip


def made_up(seed: int, end: float, **changes: Any) -> RunRecord:
    result = {
        "training": {"greedy": summary(end), "sampled": summary(end / 4)},
        "held_out": None, "paths": [BOARD, BOARD | {"path": [0, 1]}], "measured_mazes": 100,
    }  # fmt: skip
    return record(seed, end, result=result, **changes)


def test_the_table_has_the_papers_numbers_behind_ours() -> None:
    runs = [made_up(0, 0.6), made_up(1, 0.8), made_up(0, 1.0, regime="cloned")]
    runs.append(record(0, None, regime="uniform"))
    head, backplay, cloned = measured_cells(grouped(runs), "training", "greedy", paper=True)
    assert head[:5] == ("set", "regime", "seeds", "success", "optimal (paper)")
    assert backplay[:3] == ("Optimal", "backplay", "2")
    assert backplay[3] == "70% [0, 100]"
    assert backplay[4].endswith(" (31%)")
    assert backplay[5].endswith(" (100%)")
    assert backplay[6].endswith(" (0.64)")
    assert backplay[7] == "–"
    assert cloned[:5] == ("Optimal", "cloned", "1", "100%", "50%")  # the paper has no row for it
    sampled = measured_cells(grouped(runs), "training", "sampled", paper=False)
    assert sampled[2][3] == "25%"
    assert len(measured_cells(grouped(runs), "held_out", "greedy", paper=False)) == 1


def test_the_papers_row_is_that_of_the_set() -> None:
    assert [wasted(name) for name in ("Optimal", "5-Optimal", "10-Optimal, set 1")] == [0, 5, 10]
    runs = [made_up(0, 0.5, setting="10-Optimal")]
    (_, row) = measured_cells(grouped(runs), "training", "greedy", paper=True)
    assert row[4].endswith(" (54%)")


def test_tables_paths_and_a_film_are_shown() -> None:
    shown = exhibit([made_up(0, 0.5), made_up(1, 0.5), record(0, None, regime="uniform")])
    assert [table.title for table in shown.tables] == [
        "Beside the paper's Table 2", "With drawn actions",
    ]  # fmt: skip
    (figure,) = shown.figures.values()
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        "Optimal, backplay\nmaze 0: 2 steps, 0 too many",
        "Optimal, backplay\nmaze 1: never reaches the goal",
    ]
    assert len(shown.films) == 1
    assert exhibit([]).figures == {}


def test_pixels_are_files_that_can_be_read() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)
    read = imread(io.BytesIO(pixels_as_png(pixels)))
    assert (np.round(read[..., :3] * 255).astype(np.uint8) == pixels).all()
    figure = draw_paths([("a", [DrawnPath("maze 0", pixels)]), ("b", [])])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["a\nmaze 0", ""]
