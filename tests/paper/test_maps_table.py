"""Maps won, beside the paper's count."""

from __future__ import annotations

from typing import Any

from backplay.paper.pommerman.maps import maps_cells, maps_tables
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
