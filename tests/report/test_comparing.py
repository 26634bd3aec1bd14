"""Two sets of runs side by side, from hand-made records."""

import numpy as np
import pytest
from made_up_records import record, records

from backplay.report.comparing import compare, compare_cells, labelled, paired
from backplay.report.records import grouped
from backplay.report.statistics import student_interval


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_the_same_runs_are_paired() -> None:
    first = grouped([record(), record(regime="uniform"), record(setting="5-Optimal")])
    second = grouped([record(setting="5-Optimal"), record(4), record(frames=9)])
    pairs = paired(first, second)
    assert [(pair.first.setting, pair.name) for pair in pairs] == [
        ("Optimal", "backplay"), ("5-Optimal", "backplay"),
    ]  # fmt: skip
    assert pairs[0].second.first.seed == 4


def test_without_the_same_runs_those_alone_in_their_setting_are_paired() -> None:
    backplay = grouped([record(), record(setting="5-Optimal")])
    uniform = grouped([record(regime="uniform"), record(setting="5-Optimal", regime="uniform")])
    assert [pair.name for pair in paired(backplay, uniform)] == ["backplay / uniform"] * 2
    two = grouped([record(regime="uniform"), record(regime="standard")])
    assert paired(backplay, two) == []  # which of the two is meant?
    assert paired(backplay, grouped([record(kind="grid")])) == []


def test_a_pair_by_hand() -> None:
    (row,) = compare(
        paired(grouped(records(0.1, 0.3)), grouped(records(0.7, 0.9))), "success", rng()
    )
    assert (row.setting, row.regime, row.frames, row.seeds) == (
        "Optimal",
        "backplay",
        1_000,
        (2, 2),
    )
    assert row.first == pytest.approx(student_interval([0.1, 0.3]))
    assert row.difference.value == pytest.approx(0.6)
    assert row.difference.low is not None
    assert row.difference.low < -1.0  # two seeds each say very little
    assert row.improvement == (1.0, 1.0, 1.0)
    cells = compare_cells([row], "success", ("old", "new"))
    assert cells[0][4:] == ("old", "new", "new − old", "P(new > old)")
    assert cells[1][:6] == ("Optimal", "backplay", "1k", "2 / 2", "20% [0, 100]", "80% [0, 100]")
    assert cells[1][6].startswith("+60 points [")
    assert cells[1][7] == "100% [100, 100]"


def test_one_seed_has_no_interval() -> None:
    (row,) = compare(
        paired(grouped([record(0, 0.5)]), grouped(records(0.7, 0.9))), "success", rng()
    )
    assert row.difference == (pytest.approx(0.3), None, None)
    assert row.improvement == (1.0, None, None)


def test_several_pairs_have_a_row_for_all() -> None:
    first = grouped([*records(0.1, 0.2), *records(0.5, 0.6, setting="5-Optimal")])
    second = grouped([*records(0.3, 0.4), *records(0.5, 0.6, setting="5-Optimal")])
    *_, total = compare(paired(first, second), "success", rng())
    assert (total.setting, total.seeds, total.frames) == ("all", (4, 4), None)
    assert total.first.value == pytest.approx(0.35)  # the middle two of four
    assert total.difference.value == pytest.approx(0.45 - 0.35)
    assert total.improvement.value == pytest.approx((1.0 + 0.5) / 2)
    assert total.difference.low is not None
    assert total.difference.high is not None
    assert total.difference.low <= 0.1 <= total.difference.high
    one_each = [grouped([record(0, end), record(0, end, setting="b")]) for end in (0.1, 0.9)]
    assert compare(paired(*one_each), "success", rng())[-1].difference == (
        pytest.approx(0.8), None, None,
    )  # fmt: skip


def test_runs_that_have_not_ended_or_lack_the_measure_have_no_row() -> None:
    late = grouped([record(0, None)])
    assert compare(paired(late, grouped(records(0.5))), "success", rng()) == []
    assert compare(paired(grouped(records(0.5)), grouped(records(0.5))), "optimal", rng()) == []


def test_labels_keep_the_runs() -> None:
    (group,) = labelled(grouped(records(0.5, 0.6)), "new")
    assert group.regime == "backplay (new)"
    assert group.values("success") == [0.5, 0.6]
