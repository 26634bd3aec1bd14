"""Frontier: starts lie where success falls off, follow it, and come back with it."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from curriculum_strategies import frontiers
from hypothesis import given, settings
from hypothesis import strategies as st

from backplay.curricula import Frontier, check_curriculum, from_json, to_json
from backplay.curricula.frontier import LONG, _kept, beyond, falls, success_curve
from backplay.records import Episode, Start

Policy = Callable[[int], float]
"""From steps back to the chance of success."""


def trained(
    rule: Frontier, policy: Policy, updates: int, *, length: int = 100, each: int = 20,
    par: Callable[[int], float] = lambda back: 1.0, seed: int = 0,
) -> Frontier:  # fmt: skip
    """The rule after so many updates of `each` episodes under one policy."""
    rng = np.random.default_rng(seed)
    for _ in range(updates):
        _, steps = rule.sample([length], each, rng)
        episodes = []
        for step in steps.tolist():
            back = length - step
            success = bool(rng.random() < policy(back))
            episodes.append(Episode(Start(0, step), float(success), back, success, back, par(back)))
        rule = rule.update(episodes, rule.frames + sum(e.length for e in episodes))
    return rule


def test_the_weights_of_long_demonstrations_are_not_kept() -> None:
    """They differ after every episode, and a few thousand of them would be gigabytes."""
    before = _kept.cache_info().misses
    for length, kept in ((LONG, 1), (LONG + 1, 0)):
        rule = Frontier().update([Episode(Start(0, length - 9), 1.0, 9, True, 9, 1.0)], 9)
        assert rule.weights(0, length).sum() == pytest.approx(1.0)
        assert _kept.cache_info().misses - before == kept
        before = _kept.cache_info().misses


def between(rule: Frontier, nearest: int, farthest: int, length: int = 100) -> float:
    """The share of the starts from so many to so many steps back, both included."""
    return float(rule.weights(0, length)[length - farthest : length - nearest + 1].sum())


@settings(max_examples=25)
@given(curriculum=frontiers, lengths=st.lists(st.integers(1, 60), min_size=1, max_size=4))
def test_sample_agrees_with_weights(curriculum: Frontier, lengths: list[int]) -> None:
    check_curriculum(curriculum, lengths, frames=(), draws=5_000)


@given(st.lists(st.integers(-50, 50).filter(bool), max_size=60))
def test_the_curve_falls_and_is_the_best_that_does(past: list[int]) -> None:
    curve = success_curve(past)
    levels = [level for _, _, level in curve]
    assert all(a > b for a, b in pairwise(levels))
    covered = [back for nearest, far, _ in curve for back in range(nearest, far + 1)]
    assert {abs(back) for back in past} <= set(covered)
    for nearest, far, level in curve:  # a level is the mean of its part, less sure by one episode
        inside = [back > 0 for back in past if nearest <= abs(back) <= far]
        assert level == pytest.approx((sum(inside) + 0.5) / (len(inside) + 1))


@given(st.lists(st.integers(-80, 80).filter(bool), max_size=60), st.integers(1, 60))
def test_falls_are_chances(past: list[int], length: int) -> None:
    chance = falls(past, length)
    assert chance.shape == (length + 1,)
    assert chance[0] == 0
    assert chance.min() >= 0
    assert chance.sum() == pytest.approx(1.0)


@given(
    st.lists(st.integers(-80, 80).filter(bool), max_size=60), st.integers(1, 60), st.integers(1, 9)
)
def test_each_chance_is_spread_as_far_again_as_there_are_few_demonstrations(
    past: list[int], length: int, demos: int
) -> None:
    chance, expected = falls(past, length), np.zeros(length + 1)
    for back in range(1, length):
        for far in range(back, back + back // demos + 1):
            expected[min(far, length)] += chance[back] / (back // demos + 1)
    expected[length] += chance[length]
    spread = beyond(chance, 1 / demos)
    assert spread == pytest.approx(expected, abs=1e-12)
    assert spread.min() >= 0


def test_chances_beyond_by_hand() -> None:
    chance = np.array([0, 0.3, 0, 0.4, 0, 0.3])  # a place of 1 has 1 and 2, one of 3 has 3 to 6
    assert beyond(chance, 1.0) == pytest.approx([0, 0.15, 0.15, 0.1, 0.1, 0.2 + 0.3])
    assert beyond(chance, 0.5) == pytest.approx([0, 0.3, 0, 0.2, 0.2, 0.3])  # 3 has 3 and 4
    assert beyond(chance, 0.01) == pytest.approx(chance)


def test_where_one_step_decides_half_of_the_starts_are_at_it_and_half_beyond() -> None:
    runs = [trained(Frontier(), lambda back: back <= 30, 60, seed=seed) for seed in range(10)]
    assert np.mean([between(run, 30, 62) for run in runs]) > 0.65
    assert np.mean([between(run, 30, 34) for run in runs]) > 0.3
    assert np.mean([between(run, 36, 62) for run in runs]) > 0.25
    assert np.mean([between(run, 1, 25) for run in runs]) < 0.15


def test_where_success_fades_starts_are_spread_and_the_beginning_has_what_is_left() -> None:
    runs = [trained(Frontier(), lambda back: 0.98**back, 30, seed=seed) for seed in range(20)]
    beginning = np.mean([run.weights(0, 100)[0] for run in runs])
    assert 0.1 < beginning < 0.35  # success from there is 13 %
    for nearest, farthest in ((1, 25), (26, 50), (51, 75), (76, 99)):
        assert np.mean([between(run, nearest, farthest) for run in runs]) > 0.04


def test_it_follows_a_policy_that_learns_and_one_that_forgets() -> None:
    learns, forgets = [], []
    for seed in range(10):
        rule = trained(Frontier(), lambda back: back <= 30, 20, seed=seed)
        rule = trained(rule, lambda back: back <= 70, 20, seed=seed)
        learns.append(between(rule, 60, 100))
        forgets.append(between(trained(rule, lambda back: back <= 10, 20, seed=seed), 8, 25))
    assert np.mean(learns) > 0.6
    assert np.mean(forgets) > 0.5


def test_a_long_way_is_found_by_doubling() -> None:
    rule = trained(Frontier(), lambda back: 1.0, 12, length=1_000)
    assert rule.weights(0, 1_000)[0] > 0.5


def test_what_is_not_mastered_is_not_left_for_the_true_start_alone() -> None:
    """However long it takes: most starts stay where success falls, for a policy that is stuck."""
    stuck = trained(Frontier(), lambda back: back <= 30, 300)
    assert stuck.weights(0, 100)[0] < 0.2
    assert between(stuck, 25, 65) > 0.5


def test_it_ends_in_the_initial_state() -> None:
    rule = trained(Frontier(), lambda back: 1.0, 100)
    assert rule.weights(0, 100)[0] > 0.85


def test_where_nothing_succeeds_half_of_the_starts_are_anywhere() -> None:
    rule = trained(Frontier(start_share=0.0), lambda back: 0.0, 100)
    assert between(rule, 6, 100) == pytest.approx(0.5, abs=0.1)


def test_a_lost_ending_does_not_stop_it() -> None:
    lost = trained(Frontier(), lambda back: 0.0 if back < 20 else 0.9 if back < 60 else 0.0, 200)
    assert between(lost, 20, 70) > 0.2
    assert between(lost, 55, 65) > between(lost, 25, 35)


def test_episodes_near_the_end_do_not_carry_it_beyond_four_times_as_far() -> None:
    near = [Episode(Start(0, 96), 1.0, 4, True, 4, 1.0)] * 1000
    assert between(Frontier(start_share=0.0).update(near, 4000), 17, 100) < 0.15


def test_costs_alone_cut_episodes_at_the_demonstrations_pace() -> None:
    prize = trained(Frontier(), lambda back: back <= 30, 40)
    costs = trained(Frontier(), lambda back: back <= 30, 40, par=lambda back: -0.1 * back)
    assert (prize.patience, costs.patience) == (2.0, 1.0)
    assert Frontier(cut=2.5).patience == 2.5


def test_a_lost_ending_is_no_cost() -> None:
    """Of a hundred demonstrations one that ends with a penalty would cut all the others."""
    lost = trained(Frontier(), lambda back: back <= 30, 40, par=lambda back: -1.0)
    assert lost.patience == 2.0


def test_a_prize_is_seen_behind_the_costs_of_a_long_way() -> None:
    maze = [Episode(Start(0, step), -1.0, 9, False, 50 - step, 1.0 - 0.03 * (50 - step))
            for step in range(50)]  # fmt: skip
    assert not Frontier().update(maze, 450).state.costs


def test_the_initial_state_has_its_share_of_the_frames() -> None:
    rule = trained(Frontier(start_share=0.2), lambda back: back <= 30, 40)
    chance, (true, others) = rule.start_chance, rule.state.lengths
    assert chance * true / (chance * true + (1 - chance) * others) == pytest.approx(0.2)
    trap = [Episode(Start(0, 0), 0.1, 1, False, 100, 1.0)] * 50  # short ones crowd out nobody
    far = [Episode(Start(0, 90), 1.0, 10, True, 10, 1.0)] * 50
    assert Frontier().update([*trap, *far], 550).start_chance == 0.1


def test_each_demonstration_has_its_own_and_a_mastered_one_is_drawn_less() -> None:
    told = [
        Episode(Start(demo, 50 - back), 1.0, 5, demo == 3, back, 1.0)
        for demo in (1, 3)
        for back in range(1, 51)
    ]
    last = [Episode(Start(3, 0), 1.0, 50, True, 50, 1.0)] * 16
    rule = Frontier().update([*told, *last], 100)
    assert rule.weights(3, 50)[0] > 0.8 > 0.5 > rule.weights(1, 50)[0]
    assert rule.weights(0, 50) == pytest.approx(rule.weights(2, 50))
    chance = rule.demo_weights([50] * 4)
    assert chance[3] < 0.2 * chance[1]
    assert chance[1] == pytest.approx(chance[0])


def test_it_remembers_64_episodes_and_16_of_each_demonstration() -> None:
    told = [Episode(Start(k % 2, 5), 1.0, 5, True, 45, 1.0) for k in range(400)]
    assert [len(row) for row in Frontier().update(told, 1).state.episodes] == [32, 32]
    many = [Episode(Start(k % 8, 5), 1.0, 5, True, 45, 1.0) for k in range(400)]
    assert [len(row) for row in Frontier().update(many, 1).state.episodes] == [16] * 8


def test_a_used_one_survives_json_and_goes_on_alike() -> None:
    rule = trained(Frontier(), lambda back: back <= 30, 30)
    again = from_json(to_json(rule))
    assert trained(again, lambda back: back <= 40, 5) == trained(rule, lambda back: back <= 40, 5)
