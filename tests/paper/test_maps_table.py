"""Maps won, beside the paper's count."""

from __future__ import annotations

from typing import Any

from backplay.paper.pommerman.maps import each_map_tables, maps_cells, maps_tables
from backplay.report.records import RunRecord, grouped
from made_up_records import record

PAPER = {"90%": 24, "50%": 66}


def won(seed: int, ninety: int, fifty: int, **changes: Any) -> RunRecord:
    sampled = {"maps_won": {"90%": ninety, "50%": fifty}, "by_map": [0.5] * 100}
    made = {"setting": "100 maps", "result": {"training": {"sampled": sampled}}}
    return record(seed, kind="pommerman", **{**made, **changes})


def test_means_over_seeds_beside_the_paper() -> None:
    runs = [won(0, 10, 60), won(1, 13, 70), won(0, 0, 1, regime="standard")]
    cells = maps_cells(grouped(runs), PAPER)
    assert cells == [
        ("won at least", "the paper", "backplay, 2 seeds", "standard, 1 seed"),
        ("90% of the games", "24 of 100", "11.5 of 100", "0 of 100"),
        ("50% of the games", "66 of 100", "65 of 100", "1 of 100"),
    ]
    assert maps_cells(grouped(runs))[1] == ("90% of the games", "11.5 of 100", "0 of 100")


def test_runs_that_counted_nothing_are_left_out() -> None:
    results: list[dict[str, Any]] = [
        {}, {"training": 3}, {"training": {"sampled": {}}},
        {"training": {"sampled": {"maps_won": {"90%": "x"}}}},
    ]  # fmt: skip
    for result in results:
        assert len(maps_cells(grouped([won(0, 1, 1, result=result)]), PAPER)) == 1
    assert len(maps_cells(grouped([won(0, 1, 1, finished=False)]))) == 1


def test_a_table_for_each_setting_and_the_papers_reading_where_it_has_one() -> None:
    runs = [won(0, 10, 60), won(0, 1, 2, setting="4 <maps>"), record(0, setting="maze")]
    first, second = maps_tables(runs, {"100 maps": PAPER})
    assert first.title == "Maps won: 100 maps"
    assert first.cells[1][1] == "24 of 100"
    assert "added up" in first.note
    assert second.title == "Maps won: 4 <maps>"
    assert "added up" not in second.note
    assert "the paper" not in second.cells[0]


def test_each_map_has_a_row_where_they_are_few_and_means_are_over_seeds() -> None:
    def run(seed: int, shares: list[float], **changes: Any) -> RunRecord:
        parts = {part: {"sampled": {"by_map": shares}} for part in ("training", "held_out")}
        return record(seed, kind="pommerman", setting="4 maps", result=parts, **changes)

    runs = [run(0, [0.5, 1.0]), run(1, [0.7, 0.0]), run(0, [0.0, 0.25], regime="standard")]
    trained, held_out = each_map_tables([*runs, won(0, 1, 2)])
    assert trained.title == "Each map: 4 maps"
    assert held_out.title == "Each map held out: 4 maps"
    assert trained.cells == [
        ("map", "backplay", "standard"), ("1", "60%", "0%"), ("2", "50%", "25%"),
        ("all", "55.0%", "12.5%"),
    ]  # fmt: skip
    assert each_map_tables([won(0, 1, 2)]) == []  # 100 maps: too many for rows
