"""Rates and exact counts: by hand, against every way a trial can go, and against each other."""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theory_strategies import chains, work_by_hand

from backplay.curricula import (
    Backplay,
    Frontier,
    Patience,
    Standard,
    TrueStarts,
    Uniform,
    Until,
    Window,
)
from backplay.errors import BackplayError
from backplay.theory import (
    Chain,
    log_backplay,
    log_backplay_sum,
    log_standard,
    log_uniform,
    merging_cost,
    number,
    phases,
    stepwise,
    walking_cost,
    windowed,
)


def test_the_papers_rates() -> None:
    assert number(log_standard(8, 0.25)) == pytest.approx(8 * 4**4)
    assert number(log_backplay(8, 0.25, 2)) == pytest.approx(64 / 2 * 16)
    assert number(log_uniform(8, 0.25)) == pytest.approx(512 * 4)
    assert number(log_standard(2000, 1e-3)) == np.inf
    for wrong in (lambda: log_standard(0, 0.5), lambda: log_uniform(3, 0.0)):
        with pytest.raises(BackplayError):
            wrong()


def test_the_proofs_sum() -> None:
    # Windows [1, 2] and [3]: 1/(.5 .4) + 1/.4, then 1/.8; each trial 3 steps
    chain = Chain.of([0.5, 0.4, 0.8])
    assert number(log_backplay_sum(chain, 2)) == pytest.approx(3 * (5 + 2.5 + 1.25))
    for m in (1, 2, 3, 6):
        closed = 144 / m * (1 - 0.3**m) / 0.7 * 0.3**-m
        assert number(log_backplay_sum(Chain.constant(12, 0.3), m)) == pytest.approx(closed)


def test_where_the_regimes_start_on_a_chain() -> None:
    np.testing.assert_allclose(phases(Standard(), 3).by_distance(), [[0, 0, 0, 1]] * 3)
    np.testing.assert_allclose(phases(Uniform(), 2).by_distance(), [[0, 0.5, 0.5]] * 2)
    exact = phases(stepwise(5, 2), 5).by_distance()
    assert exact.argmax(1).tolist() == [2, 2, 4, 4, 5]
    assert (exact.max(1) == 1).all()
    inside = phases(windowed(5, 2), 5).by_distance()
    expected = [[0, 0.5, 0.5, 0, 0, 0]] * 2 + [[0, 0, 0, 0.5, 0.5, 0]] * 2 + [[0, 0, 0, 0, 0, 1]]
    np.testing.assert_allclose(inside, expected)


def test_shares_of_other_starts_do_not_hold_a_window() -> None:
    curriculum = TrueStarts(Backplay((Window(0, 0, 2), Window(9, 4, 4))), 0.5)
    found = phases(curriculum, 4)
    assert found.farthest.tolist() == [3, 0]
    np.testing.assert_allclose(found.weights, [[0.5, 0, 0, 0.5, 0], [1, 0, 0, 0, 0]])
    for around in (curriculum, Patience(curriculum, 2), TrueStarts(Patience(curriculum, 2), 0.1)):
        assert phases(around, 4).farthest.tolist() == [3, 0]
    assert phases(Until(curriculum, at=7), 4).farthest.tolist() == [3, 0, 0]
    assert phases(Patience(Frontier()), 4).farthest.tolist() == [3, 2, 1, 0]
    late = phases(Until(Uniform(), at=7, frames=9), 2)
    np.testing.assert_allclose(late.weights, [[0.5, 0.5, 0], [1, 0, 0]])


def test_a_frontier_is_a_phase_for_each_step() -> None:
    found = phases(Frontier(), 6)
    assert found.farthest.tolist() == [5, 4, 3, 2, 1, 0]
    np.testing.assert_allclose(found.weights.sum(1), 1.0)
    assert found.weights[0, 2:6].sum() > 0.6  # nothing is known yet: the last steps, and beyond
    for phase, step in enumerate(range(4, -1, -1), 1):  # there and up to twice as far
        assert found.weights[phase, : step + 1].sum() > 0.85
        assert found.weights[phase, step] > 0.1


def test_a_curriculum_that_never_comes_to_the_start_is_refused() -> None:
    short = phases(Backplay((Window(0, 0, 2),)), 4)
    with pytest.raises(BackplayError, match="initial state"):
        merging_cost(Chain.constant(4, 0.5), short, 4)
    with pytest.raises(BackplayError):
        merging_cost(Chain.constant(3, 0.5), phases(Standard(), 4), 4)
    for step in (0, 5):
        with pytest.raises(BackplayError):
            stepwise(4, step)


def test_one_state_by_hand() -> None:
    chain = Chain.of([0.2])
    for work in (merging_cost, walking_cost):
        for curriculum in (Standard(), Uniform(), stepwise(1, 1)):
            found = work(chain, phases(curriculum, 1), 1)
            assert (found.trials, found.steps) == pytest.approx((5, 5))
        # Two tries a trial: success 0.36; lengths 1 or 2, 1.8 on average
        found = work(chain, phases(Standard(), 1), 2)
        assert (found.trials, found.steps) == pytest.approx((1 / 0.36, 5))


def test_two_states_by_hand() -> None:
    a = 0.3
    found = merging_cost(Chain.constant(2, a), phases(Standard(), 2), 2)
    assert found.trials == pytest.approx(1 / a**2 + 1 / (a * (2 - a)))
    assert found.steps == pytest.approx(2 / a**2 + 1 / a)
    assert found.log_trials_by_informed[0] == pytest.approx(-2 * log(a))
    # Uniform: half of the trials inform 1 at first (a from 1, or from 2 down both), then half 2.
    found = merging_cost(Chain.constant(2, a), phases(Uniform(), 2), 1)
    assert found.trials == pytest.approx(2 / a + 2 / a)
    assert found.steps == pytest.approx(2 / a + 1 / a)


def test_three_states_straight_down() -> None:
    """With horizon M only the straight way first reaches the goal: alpha^-M trials, exactly."""
    for alpha in (0.2, 0.5, 0.8):
        for beta in (0.0, 0.1):
            found = merging_cost(Chain.constant(3, alpha, beta), phases(Standard(), 3), 3)
            assert number(found.log_trials_by_informed[0]) == pytest.approx(alpha**-3)


@settings(max_examples=40)
@given(
    chains(longest=4),
    st.integers(4, 6),
    st.sampled_from([0, 1, 2]),
    st.integers(1, 4),
    st.booleans(),
)
def test_counts_agree_with_every_way_a_trial_can_go(
    chain: Chain, horizon: int, kind: int, step: int, merging: bool
) -> None:
    step = min(step, chain.length)
    curriculum = (Standard(), Uniform(), windowed(chain.length, step))[kind]
    where = phases(curriculum, chain.length)
    trials, steps = work_by_hand(chain, where.by_distance(), horizon, merging)
    found = (merging_cost if merging else walking_cost)(chain, where, horizon)
    assert found.trials == pytest.approx(trials, rel=1e-9)
    assert found.steps == pytest.approx(steps, rel=1e-9)


@settings(max_examples=40)
@given(chains(longest=12), st.integers(1, 12), st.integers(0, 30))
def test_the_proofs_sum_bounds_backplay(chain: Chain, step: int, extra: int) -> None:
    """In steps with trials of M steps; a longer horizon needs fewer trials still."""
    step = min(step, chain.length)
    where = phases(stepwise(chain.length, step), chain.length)
    bound = log_backplay_sum(chain, step)
    assert merging_cost(chain, where, chain.length).log_steps <= bound + 1e-9
    more = merging_cost(chain, where, chain.length + extra)
    assert more.log_trials <= bound - log(chain.length) + 1e-9


@settings(max_examples=30)
@given(st.integers(1, 12), st.floats(0.05, 1.0))
def test_the_rates_bound_constant_chains(length: int, alpha: float) -> None:
    chain = Chain.constant(length, alpha)
    standard = merging_cost(chain, phases(Standard(), length), length)
    assert standard.log_trials + 1e-9 >= log_standard(length, alpha) - log(length)
    uniform = merging_cost(chain, phases(Uniform(), length), length)
    assert uniform.log_steps <= log_uniform(length, alpha) + 1e-9


@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.45])
@pytest.mark.parametrize("horizon", [1, 4, 16])
def test_drift_bounds_standard_whatever_the_horizon(alpha: float, horizon: int) -> None:
    """From M the walk gets to the goal before it is back with the gambler's small chance only."""
    r = (1 - alpha) / alpha
    for m in (5, 10, 20):
        found = merging_cost(Chain.constant(m, alpha), phases(Standard(), m), horizon * m)
        assert found.steps >= (r**m - 1) / (alpha * (r - 1))


@settings(max_examples=30)
@given(st.integers(1, 20), st.integers(1, 20), st.floats(0.05, 1.0))
def test_windows_cost_no_exponent(length: int, step: int, alpha: float) -> None:
    """At least one start in m is next to what is informed: M m / alpha trials at most."""
    step = min(step, length)
    where = phases(windowed(length, step), length)
    found = merging_cost(Chain.constant(length, alpha), where, length)
    assert found.trials <= length * step / alpha * (1 + 1e-9)


def test_exponential_chains_stay_in_logarithms() -> None:
    chain = Chain.constant(120, 1e-3)
    found = merging_cost(chain, phases(Standard(), 120), 120)
    assert found.log_trials_by_informed[0] == pytest.approx(-120 * log(1e-3))
    assert np.isfinite(found.log_steps)
    assert found.trials == np.inf


def test_a_horizon_too_short_never_suffices() -> None:
    chain = Chain.constant(5, 0.5)
    for work in (merging_cost, walking_cost):
        found = work(chain, phases(Standard(), 5), 4)
        assert (found.trials, found.steps) == (np.inf, np.inf)
        assert np.isfinite(work(chain, phases(stepwise(5, 1), 5), 4).trials)


def test_walking_needs_no_more_trials_than_merging() -> None:
    for alpha in (0.2, 0.5, 0.8):
        chain = Chain.constant(7, alpha)
        for curriculum in (Standard(), Uniform(), stepwise(7, 2)):
            where = phases(curriculum, 7)
            assert (
                walking_cost(chain, where, 14).trials
                <= merging_cost(chain, where, 14).trials + 1e-9
            )
