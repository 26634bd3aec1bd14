"""Staircase: it settles where the target is met, goes on where it cannot be, and comes back."""

from collections.abc import Callable

import numpy as np
import pytest
from curriculum_strategies import staircases
from hypothesis import given, settings
from hypothesis import strategies as st

from backplay.curricula import Staircase, check_curriculum, from_json, to_json
from backplay.records import Episode, Start

Policy = Callable[[int], float]
"""From steps back to the chance of success."""


def trained(
    rule: Staircase, policy: Policy, updates: int, *, length: int = 100, each: int = 20,
    cost: float = 0.0, seed: int = 0,
) -> Staircase:  # fmt: skip
    """The rule after so many updates of `each` episodes under one policy."""
    rng = np.random.default_rng(seed)
    for _ in range(updates):
        _, steps = rule.sample([length], each, rng)
        episodes = []
        for step in steps.tolist():
            back = length - step
            success = bool(rng.random() < policy(back))
            reward = float(success) - cost * back
            episodes.append(Episode(Start(0, step), reward, back, success, back, 1.0))
        rule = rule.update(episodes, rule.frames + sum(e.length for e in episodes))
    return rule


def frontier(rule: Staircase, demo: int = 0) -> float:
    return rule.state.rungs[demo].frontier


@settings(max_examples=25)
@given(curriculum=staircases, lengths=st.lists(st.integers(1, 60), min_size=1, max_size=4))
def test_sample_agrees_with_weights(curriculum: Staircase, lengths: list[int]) -> None:
    check_curriculum(curriculum, lengths, frames=(), draws=5_000)


def test_it_settles_around_what_the_policy_can_do() -> None:
    rule = trained(Staircase(), lambda back: back <= 30, 60)
    assert 20 < frontier(rule) < 45
    better = trained(rule, lambda back: back <= 60, 30)
    assert frontier(better) > 45


def test_it_comes_back_when_the_policy_forgets() -> None:
    rule = trained(Staircase(), lambda back: back <= 60, 30)
    assert frontier(trained(rule, lambda back: back <= 10, 40)) < frontier(rule) - 20


def test_it_ends_in_the_initial_state() -> None:
    rule = trained(Staircase(), lambda back: 1.0, 100)
    assert rule.weights(0, 100)[0] == pytest.approx(1.0)
    assert "initial state" in rule.describe()


def test_a_task_that_never_allows_the_target_does_not_stop_it() -> None:
    slippery = trained(Staircase(), lambda back: 0.15, 400)
    assert slippery.weights(0, 100)[0] > 0.5


def test_a_lost_ending_does_not_stop_it() -> None:
    lost = trained(Staircase(), lambda back: 0.0 if back < 20 else 0.9, 400)
    assert frontier(lost) > 20


def test_one_good_batch_does_not_carry_it_beyond_what_was_tried() -> None:
    near = [Episode(Start(0, 96), 1.0, 4, True, 4, 1.0)] * 1000
    assert frontier(Staircase().update(near, 4000)) < 8


def test_true_starts_have_their_share_of_the_frames() -> None:
    silent = trained(Staircase(), lambda back: back <= 30, 40)
    paying = trained(Staircase(), lambda back: back <= 30, 40, cost=0.01)
    assert paying.state.pays
    assert not silent.state.pays
    assert paying.start_chance > 3 * silent.start_chance


def test_each_demonstration_has_its_own_frontier() -> None:
    rule = Staircase()
    for k in range(40):
        told = [
            Episode(Start(demo, 50 - back), 1.0, 5, demo == 3, back, 1.0)
            for demo in (1, 3)
            for back in range(1, 50)
        ]
        rule = rule.update(told, 100 * k)
    assert frontier(rule, 3) > frontier(rule, 1)
    assert frontier(rule, 0) == frontier(rule, 2) == 4.0


def test_it_says_when_it_stands_still() -> None:
    assert "stand still" not in trained(Staircase(), lambda back: back <= 30, 20).describe()
    assert "stand still" in trained(Staircase(), lambda back: 0.0, 60).describe()


def test_a_used_one_survives_json_and_goes_on_alike() -> None:
    rule = trained(Staircase(), lambda back: back <= 30, 30)
    again = from_json(to_json(rule))
    assert trained(again, lambda back: back <= 40, 5) == trained(rule, lambda back: back <= 40, 5)
