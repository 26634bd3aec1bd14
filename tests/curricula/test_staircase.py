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
    par: float = 1.0, seed: int = 0,
) -> Staircase:  # fmt: skip
    """The rule after so many updates of `each` episodes under one policy."""
    rng = np.random.default_rng(seed)
    for _ in range(updates):
        _, steps = rule.sample([length], each, rng)
        episodes = []
        for step in steps.tolist():
            back = length - step
            success = bool(rng.random() < policy(back))
            episodes.append(Episode(Start(0, step), float(success), back, success, back, par))
        rule = rule.update(episodes, rule.frames + sum(e.length for e in episodes))
    return rule


def frontier(rule: Staircase, demo: int = 0) -> float:
    return rule.state.known[demo]


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


def test_where_nothing_succeeds_it_starts_anywhere() -> None:
    rule = trained(Staircase(), lambda back: 0.0, 100)
    assert rule.weights(0, 100)[:90].sum() > 0.6
    assert "lost" in rule.describe()


def test_a_lost_ending_does_not_stop_it() -> None:
    lost = trained(Staircase(), lambda back: 0.0 if back < 20 else 0.9, 400)
    assert frontier(lost) > 20


def test_one_good_batch_does_not_carry_it_beyond_what_was_tried() -> None:
    near = [Episode(Start(0, 96), 1.0, 4, True, 4, 1.0)] * 1000
    assert frontier(Staircase().update(near, 4000)) < 10


def test_where_all_there_is_are_costs_half_of_the_frames_are_true_starts() -> None:
    prize = trained(Staircase(), lambda back: back <= 30, 40)
    costs = trained(Staircase(), lambda back: back <= 30, 40, par=-1.0)
    assert (prize.patience, costs.patience) == (4.0, 1.0)
    for rule, share in ((prize, 0.1), (costs, 0.5)):
        chance, (true, others) = rule.start_chance, rule.state.lengths
        assert chance * true / (chance * true + (1 - chance) * others) == pytest.approx(share)


def test_a_prize_is_seen_behind_the_costs_of_a_long_way() -> None:
    maze = [Episode(Start(0, step), -1.0, 9, False, 50 - step, 1.0 - 0.03 * (50 - step))
            for step in range(50)]  # fmt: skip
    assert not Staircase().update(maze, 450).state.costs


def test_short_episodes_from_the_initial_state_do_not_crowd_out_the_others() -> None:
    trap = [Episode(Start(0, 0), 0.1, 1, False, 100, 1.0)] * 50
    others = [Episode(Start(0, 90), 1.0, 10, True, 10, 1.0)] * 50
    assert Staircase().update([*trap, *others], 550).start_chance == 0.1


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


def test_a_used_one_survives_json_and_goes_on_alike() -> None:
    rule = trained(Staircase(), lambda back: back <= 30, 30)
    again = from_json(to_json(rule))
    assert trained(again, lambda back: back <= 40, 5) == trained(rule, lambda back: back <= 40, 5)
