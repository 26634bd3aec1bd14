"""The rules of the field: each moves as its source says, and keeps the contract."""

import numpy as np
import pytest

from backplay.curricula import (
    Backward,
    Bisection,
    Curriculum,
    FailureBins,
    Frontier,
    GrowingWindow,
    Learnability,
    ReverseForward,
    Staircase,
    TrueStarts,
    check_curriculum,
)
from backplay.records import Episode, Start

RIVALS = (
    Backward(), Backward.go_explore(4), ReverseForward(), Learnability(), FailureBins(),
    Bisection(), GrowingWindow(), Staircase(), Frontier(),
)  # fmt: skip
LENGTH = 40


def episodes(backs: object, success: bool, demo: int = 0) -> list[Episode]:
    return [
        Episode(Start(demo, LENGTH - int(back)), float(success), 5, success, int(back), 1.0)
        for back in np.atleast_1d(backs)
    ]


def drawn(curriculum: Curriculum, able: int, seed: int) -> list[Episode]:
    """Thirty episodes of a policy that succeeds up to `able` steps back."""
    _, step = curriculum.sample([LENGTH], 30, np.random.default_rng(seed))
    return [one for s in step for one in episodes(LENGTH - s, LENGTH - s <= able)]


def mean_back(curriculum: Curriculum) -> float:
    return float(curriculum.weights(0, LENGTH) @ (LENGTH - np.arange(LENGTH + 1)))


@pytest.mark.parametrize("curriculum", RIVALS, ids=lambda c: type(c).__name__)
def test_contract(curriculum: Curriculum) -> None:
    check_curriculum(curriculum)


@pytest.mark.parametrize("curriculum", RIVALS, ids=lambda c: type(c).__name__)
def test_settings_are_never_changed_and_a_row_is_made_when_it_is_needed(curriculum: object) -> None:
    moved = curriculum.update(episodes([1, 2, 3], True, demo=2), 100)
    fresh, used = dict(vars(curriculum)), dict(vars(moved))
    assert fresh.pop("state") != used.pop("state")
    assert fresh == used
    assert moved.weights(7, LENGTH).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "curriculum", [c for c in RIVALS if not isinstance(c, FailureBins)],
    ids=lambda c: type(c).__name__,
)  # fmt: skip
def test_starts_follow_an_able_policy_to_the_beginning(curriculum: Curriculum) -> None:
    weak, able = curriculum, curriculum
    for k in range(150):
        weak = weak.update(drawn(weak, 6, k), 100 * k)
        able = able.update(drawn(able, LENGTH, k), 100 * k)
    assert able.weights(0, LENGTH)[0] > 0.02
    assert mean_back(able) > mean_back(weak)


def test_backward_moves_forward_when_nothing_succeeds() -> None:
    rule = Backward(band=8).update(episodes(np.arange(1, 9), True), 1)
    assert rule.row(0)[0] > 1
    back = rule.update(episodes(np.repeat(np.arange(1, 17), 30), False), 2)
    assert back.row(0)[0] == 1


def test_reverse_forward_counts_the_frontier_alone_and_draws_those_that_lag() -> None:
    rule = ReverseForward().update(episodes([2, 3, 4], True), 1)
    assert rule.row(0) == (1.0, 0.0)
    rule = rule.update(episodes([1, 1, 1], True), 2)
    assert rule.row(0) == (5.0, 0.0)
    assert rule.update(episodes([5, 5], True) + episodes([5], False), 3).row(0) == (5.0, 0.0)
    weights = rule.demo_weights([LENGTH, LENGTH])
    assert weights[1] > weights[0]
    assert rule.weights(0, LENGTH)[35:40].tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16]


def test_learnability_prefers_what_is_uncertain() -> None:
    mixed = episodes([1] * 50, True) + episodes([20] * 25, True) + episodes([20] * 25, False)
    rule = Learnability(bins=8).update([*mixed, *episodes([40] * 50, False)], 1)
    weights = rule.weights(0, LENGTH)
    assert weights[20] > 3 * max(weights[39], weights[1])


def test_failure_bins_prefer_what_fails() -> None:
    rule = FailureBins(bins=8).update(episodes([1] * 50, True) + episodes([20] * 50, False), 1)
    weights = rule.weights(0, LENGTH)
    assert weights[20] > 10 * weights[39] > 0


def test_bisection_narrows_and_opens_again() -> None:
    rule = Bisection().update(episodes([10], True), 1)
    assert rule.row(0) == (0.25, 1.0)
    rule = rule.update(episodes([20], False), 2)
    assert rule.row(0) == (0.0, 0.5)
    assert rule.update(episodes([20], True), 3).row(0) == (0.5, 0.75)


def test_a_growing_window_grows_by_half_after_ten_good_updates() -> None:
    rule = GrowingWindow()
    for k in range(9):
        rule = rule.update(episodes([1, 2], True), k)
    assert rule.reach == 4
    assert rule.update(episodes([1, 2], True), 10).reach == 6
    assert rule.update(episodes([1, 2], False), 10).reach == 6  # 0.9 over ten
    for k in range(3):
        rule = rule.update(episodes([1, 2], False), 10 + k)
    assert rule.reach == 6


def test_starts_outside_a_growing_window_say_nothing_of_it() -> None:
    rule = TrueStarts(GrowingWindow(), 0.5)
    for k in range(10):
        rule = rule.update(episodes([1, 2], True) + episodes([LENGTH] * 4, False), k)
    assert rule.inner.weights(0, LENGTH)[LENGTH - 6] > 0
