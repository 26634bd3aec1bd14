"""Two sets of runs side by side, from hand-made records."""

import numpy as np
import pytest

from backplay.rates import wilson
from backplay.report.comparing import (
    Pair,
    compare,
    compare_cells,
    difference_cells,
    labelled,
    paired,
)
from backplay.report.records import RunRecord, grouped
from made_up_records import record, records


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
    assert tuple(row.first) == pytest.approx((0.2, 0.0, 1.0))  # a share has no more room
    assert row.difference.value == pytest.approx(0.6)
    assert row.difference.low < -0.2  # two seeds each say very little
    assert row.improvement == (1.0, pytest.approx(wilson(2, 2)[0]), 1.0)
    cells = compare_cells([row], "success", ("old", "new"))
    assert cells[0][4:] == ("old", "new", "new − old", "P(new > old)")
    assert cells[1][:6] == ("Optimal", "backplay", "1k", "2 / 2", "20% [0, 100]", "80% [0, 100]")
    assert cells[1][6].startswith("+60 points [")
    assert cells[1][7] == "100% [34.2, 100]"


def _with_steps(values: np.ndarray) -> list[RunRecord]:
    return [record(seed, measures={"steps": float(one)}) for seed, one in enumerate(values)]


def test_the_interval_of_a_difference_is_around_it() -> None:
    """Of many seeds it is the normal one: 1.96 standard errors of the difference of means."""
    made = np.random.default_rng(1)
    sides = [made.normal(mean, 1.0, 200) for mean in (10.0, 13.0)]
    pairs = paired(*(grouped(_with_steps(side)) for side in sides))
    (row,) = compare(pairs, "steps", rng())
    value, low, high = row.difference
    half = 1.96 * float(np.sqrt(sum(side.var(ddof=1) / 200 for side in sides)))
    assert value == pytest.approx(sides[1].mean() - sides[0].mean())
    assert (low, high) == pytest.approx((value - half, value + half), abs=0.1 * half)
    (back,) = compare([Pair(pair.second, pair.first) for pair in pairs], "steps", rng())
    assert back.difference.value == pytest.approx(-value)
    assert back.difference.high < 0


def test_one_seed_has_no_interval() -> None:
    (row,) = compare(
        paired(grouped([record(0, 0.5)]), grouped(records(0.7, 0.9))), "success", rng()
    )
    assert row.difference == (pytest.approx(0.3), None, None)
    assert row.improvement == (1.0, None, None)
    *_, chance = compare_cells([row], "success", ("old", "new"))[1]
    assert chance == "–"  # no probability from one seed


def test_what_differs_is_said_by_name_and_once_for_all_settings() -> None:
    slow = {"settings.ppo.learning_rate": "0.001", "env_kwargs": "null"}
    fast = slow | {"settings.ppo.learning_rate": "0.1"}
    made = {"commit": "abc", "versions": {"numpy": "2.0"}}
    newer = {"commit": "abc", "versions": {"numpy": "2.1"}}
    first = [*records(0.1, asked=slow, provenance=made), record(setting="B", provenance=made)]
    second = [*records(0.3, asked=fast, provenance=newer), record(setting="B", provenance=newer)]
    head, *rows = difference_cells(paired(grouped(first), grouped(second)), ("old", "new"))
    assert head == ("what differs", "old", "new", "in")
    assert rows == [
        ("settings.ppo.learning_rate", "0.001", "0.1", "Optimal"),
        ("numpy, version", "2.0", "2.1", "all"),
    ]
    same = paired(grouped(records(0.1)), grouped(records(0.2)))
    assert len(difference_cells(same, ("old", "new"))) == 1
    regimes = paired(grouped(records(0.1)), grouped(records(0.2, regime="uniform")))
    assert difference_cells(regimes, ("a", "b"))[1] == ("regime", "backplay", "uniform", "all")
    stairs = {"curriculum.kind": "Staircase", "curriculum.target": "0.35"}
    kinds = paired(
        grouped(records(0.1, asked=stairs)), grouped(records(0.2, asked={"curriculum.kind": "U"}))
    )
    assert [row[0] for row in difference_cells(kinds, ("a", "b"))[1:]] == ["curriculum.kind"]


def test_several_pairs_have_a_row_for_all() -> None:
    first = grouped([*records(0.1, 0.2), *records(0.5, 0.6, setting="5-Optimal")])
    second = grouped([*records(0.3, 0.4), *records(0.5, 0.6, setting="5-Optimal")])
    *_, total = compare(paired(first, second), "success", rng())
    assert (total.setting, total.seeds, total.frames) == ("all", (4, 4), None)
    assert total.first.value == pytest.approx((0.15 + 0.55) / 2)
    assert total.difference.value == pytest.approx((0.2 + 0.0) / 2)
    assert total.improvement.value == pytest.approx((1.0 + 0.5) / 2)
    assert total.difference.low <= 0.1 <= total.difference.high


def test_in_the_row_for_all_every_setting_counts_the_same_however_many_seeds_it_has() -> None:
    first = grouped([*records(*[0.1] * 5), *records(0.9, setting="B")])
    second = grouped([*records(0.1), *records(*[0.9] * 5, setting="B")])
    *_, total = compare(paired(first, second), "success", rng())
    assert total.difference == (pytest.approx(0.0), None, None)  # a single seed has no interval
    assert (total.first.value, total.second.value) == pytest.approx((0.5, 0.5))
    assert total.improvement == (0.5, None, None)
    # With two at least on every side there is one, of the mean of both differences.
    first = grouped([*records(*[0.1] * 5), *records(0.9, 0.9, setting="B")])
    second = grouped([*records(0.1, 0.1), *records(*[0.9] * 5, setting="B")])
    *_, total = compare(paired(first, second), "success", rng())
    value, low, high = total.difference
    assert value == pytest.approx(0.0)
    # Chance of 200 and 500 episodes at 10 %, twice, halved for the mean of two settings.
    error = 1.96 * np.sqrt(2 * 0.09 * (1 / 200 + 1 / 500)) / 2
    assert (low, high) == pytest.approx((-error, error), rel=0.06)


def test_runs_set_up_the_same_are_paired_and_then_those_of_the_same_name() -> None:
    fast, slow = ({"settings.ppo.learning_rate": rate} for rate in ("0.1", "0.001"))
    both = grouped([*records(0.1, asked=fast), *records(0.2, asked=slow)])
    (pair,) = paired(both, grouped(records(0.3, asked=slow)))
    assert pair.first.values("success") == [0.2]
    (pair,) = paired(grouped(records(0.1, asked=fast)), grouped(records(0.3, asked=slow)))
    assert pair.first.setting == "Optimal"  # alone in its folder: that is what is compared
    third = records(0.5, setting="5-Optimal", asked=fast)
    other = [*records(0.3, asked=slow), *records(0.6, setting="5-Optimal", asked=fast)]
    pairs = paired(grouped([*records(0.1, asked=fast), *third]), grouped(other))
    assert [pair.first.setting for pair in pairs] == ["Optimal", "5-Optimal"]


def test_runs_that_have_not_ended_or_lack_the_measure_have_no_row() -> None:
    late = grouped([record(0, None)])
    assert compare(paired(late, grouped(records(0.5))), "success", rng()) == []
    assert compare(paired(grouped(records(0.5)), grouped(records(0.5))), "optimal", rng()) == []


def test_labels_keep_the_runs() -> None:
    (group,) = labelled(grouped(records(0.5, 0.6)), "new")
    assert group.regime == "backplay (new)"
    assert group.values("success") == [0.5, 0.6]
