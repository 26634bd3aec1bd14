"""The Maze's table, curves, counts and figures, from made-up results."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from scipy import stats

from backplay.paper.maze.figures import (
    DrawnPath,
    draw_curves,
    draw_paths,
    draw_starts,
    pixels_as_png,
)
from backplay.paper.maze.page import write_maze_page
from backplay.paper.maze.results import (
    MazeResult,
    estimate,
    grouped,
    table,
    table_text,
)
from backplay.report.figures import COLOURS, as_png, as_svg

PAPER = {("backplay", 0): {"optimal": 0.31, "within_5": 1.0, "extra_mean": 0.64, "extra_std": None}}


def summary(success: float) -> dict[str, float | None]:
    return {
        "success": success, "optimal": success / 2, "within_5": success * 0.9,
        "extra_mean": 100 * (1 - success), "extra_std": 3.0,
        "success_extra_mean": None, "success_extra_std": None,
    }  # fmt: skip


def made_up(
    regime: str = "backplay", seed: int = 0, end: float = 0.8, **changes: Any
) -> MazeResult:
    fields: dict[str, Any] = {
        "regime": regime, "preset": "ours", "extra": 0, "frames": 1_000, "seed": seed,
        "seconds": 120.0 + 60 * seed,
        "curve": [(500, summary(end / 2)), (1_000, summary(end))],
        "starts": [(250, 0, 10, 5), (500, 4, 8, 2), (750, 8, 6, 6), (1_000, 8, 4, 1)],
        "measured": {"greedy": summary(end), "sampled": summary(end / 4)},
    }  # fmt: skip
    return MazeResult(**fields | changes)


def test_an_estimate_is_the_mean_with_students_interval() -> None:
    rng = np.random.default_rng(0)
    for n in (2, 3, 5, 11, 21):
        values = rng.normal(size=n).tolist()
        mean, low, high = estimate(values)
        sem = np.std(values, ddof=1) / np.sqrt(n)
        wanted = stats.t.interval(0.95, n - 1, loc=np.mean(values), scale=sem)
        assert mean == pytest.approx(np.mean(values))
        assert (low, high) == pytest.approx(wanted, rel=2e-3, abs=1e-3)
    assert estimate([0.7]) == (0.7, None, None)
    assert estimate([0.9, 1.0], share=True)[2] == 1.0
    assert estimate([0.0, 0.1], share=True)[1] == 0.0
    assert estimate([0.9, 1.0])[2] > 1.0


def test_runs_are_one_group_if_only_their_seeds_differ() -> None:
    results = [
        made_up(seed=2), made_up(extra=5), made_up("uniform"), made_up(seed=1),
        made_up(preset="paper"), made_up(frames=2_000),
    ]  # fmt: skip
    groups = grouped(results)
    assert [[run.seed for run in group.runs] for group in groups] == [[1, 2], [0], [0], [0], [0]]
    names = [(group.set_name, group.name, group.first.frames) for group in groups]
    assert names == [
        ("Optimal", "backplay", 1_000), ("Optimal", "uniform", 1_000),
        ("Optimal", "backplay (paper)", 1_000), ("Optimal", "backplay", 2_000),
        ("5-Optimal", "backplay", 1_000),
    ]  # fmt: skip


def test_the_table_has_the_papers_numbers_behind_ours() -> None:
    results = [made_up(seed=0, end=0.6), made_up(seed=1, end=0.8), made_up("cloned", end=1.0)]
    results.append(made_up("uniform", measured={}))
    rows = table(grouped(results), "greedy", PAPER)
    assert [row.group.name for row in rows] == ["backplay", "cloned"]  # uniform has not ended
    assert rows[0].seeds == 2
    assert rows[0].ours["success"].value == pytest.approx(0.7)
    head, backplay, cloned = table_text(rows)
    assert head[4:7] == ("success", "optimal (paper)", "within 5 (paper)")
    half = 12.706 * 0.1  # of the interval of 0.6 and 0.8
    assert backplay == (
        "Optimal", "backplay", "2", "0.001 M", "70% [0, 100]", "35% [0, 99] (31%)",
        "63% [0, 100] (100%)", f"30.00 [{30 - 100 * half:.2f}, {30 + 100 * half:.2f}] (0.64)",
        "3.00 [3.00, 3.00] (–)", "2.5",
    )  # fmt: skip
    assert cloned[:6] == ("Optimal", "cloned", "1", "–", "100%", "50% (–)")
    sampled = table_text(table(grouped(results), "sampled"))
    assert "(" not in "".join(sampled[1])
    assert sampled[1][4].startswith("18%")  # 0.175
    assert table(grouped(results), "held-out greedy") == []


def test_curves_show_every_group_with_its_interval() -> None:
    groups = grouped(
        [
            made_up(seed=0, end=0.6), made_up(seed=1, end=0.8),
            made_up("cloned", end=0.4, curve=[], starts=[]), made_up("uniform", extra=5),
        ]
    )  # fmt: skip
    figure = draw_curves(groups)
    assert len(figure.axes) == 4  # two sets, two measures
    first = figure.axes[0]
    lines = {line.get_label(): line for line in first.get_lines()}
    assert set(lines) == {"backplay, 2 seeds", "cloned, 1 seed"}
    line = lines["backplay, 2 seeds"]
    assert np.asarray(line.get_ydata()).tolist() == pytest.approx([0.35, 0.7])
    assert line.get_color() == COLOURS["backplay"]
    assert np.asarray(lines["cloned, 1 seed"].get_ydata()).tolist() == [0.4, 0.4]
    assert len(first.collections) == 1  # the band of the two seeds
    assert len(figure.axes[1].collections) == 0  # one seed has none
    optimal = figure.axes[2].get_lines()[0]
    assert np.asarray(optimal.get_ydata()).tolist() == pytest.approx([0.175, 0.35])


def test_the_map_of_starts_colours_success() -> None:
    figure = draw_starts(grouped([made_up(), made_up("cloned", starts=[])]))
    (image,) = figure.axes[0].get_images()
    colours = np.asarray(image.get_array())
    assert colours.shape == (3, 4, 4)  # steps back, time
    assert (colours[..., 3] > 0).sum() == 4  # as many cells as there were starts
    all_won, few_won = colours[2, 2], colours[2, 3]
    assert all_won[0] < few_won[0]  # less red
    assert tuple(image.get_extent()) == (0, 1_000, 0, 12)
    draw_starts(grouped([made_up("cloned", starts=[])]))  # nothing to show is no error


def test_figures_are_files_that_can_be_read() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)
    read = imread(io.BytesIO(pixels_as_png(pixels)))
    assert (np.round(read[..., :3] * 255).astype(np.uint8) == pixels).all()
    figure = draw_paths([("a", [DrawnPath("maze 0", pixels)]), ("b", [])])
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["a\nmaze 0", ""]
    assert imread(io.BytesIO(as_png(figure))).ndim == 3
    svg = as_svg(figure)
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert as_svg(figure) == svg


def test_the_page_holds_everything_and_escapes_it() -> None:
    tables = {
        "greedy": [("set", "regime"), ("Optimal", "a<b")],
        "sampled": [("set", "regime"), ("Optimal", "drawn")],
        "held-out greedy": [("set", "regime")],
    }
    figures = {"curves": ("image/svg+xml", b"<svg/>"), "paths": ("image/png", b"png")}
    page = write_maze_page(
        tables, figures, command="backplay maze report 'x&y'", versions={"backplay": "1"},
        unfinished=["runs/<late>"],
    )  # fmt: skip
    assert "a&lt;b" in page
    assert "x&amp;y" in page
    assert "runs/&lt;late&gt;" in page
    assert re.findall(r'src="(.*?)"', page) == [
        "data:image/svg+xml;base64,PHN2Zy8+", "data:image/png;base64,cG5n",
    ]  # fmt: skip
    assert page.index("The table") < page.index("Learning curves") < page.index("With drawn")
    assert "On mazes held out" not in page  # nothing was measured there
    assert "http" not in page.replace("http-equiv", "")
