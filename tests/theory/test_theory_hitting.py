"""First-passage times: by hand, against each other, and against plain enumeration."""

from math import exp, log

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theory_strategies import chains, steps_from

from backplay.errors import BackplayError
from backplay.theory import (
    Chain,
    eigenvalues,
    generating_function,
    hitting_times,
    log_passage_times,
    log_reach_within,
    log_relaxation,
    mean_length_within,
    passage_times,
    spectral_gap,
)
from backplay.theory.projection import walk

EXACTLY = settings(max_examples=60)


def test_one_two_and_three_states_by_hand() -> None:
    np.testing.assert_allclose(passage_times(Chain.of([0.2])), [0, 5])
    # h_2 = 1/a, h_1 = (1 + (1 - a)/a)/a = 1/a^2
    np.testing.assert_allclose(passage_times(Chain.constant(2, 0.2)), [0, 25, 30])
    # With beta 1/4: h_3 = 2, h_2 = (1 + 2/4) * 2 = 3, h_1 = (1 + 3/4) * 2 = 3.5
    np.testing.assert_allclose(passage_times(Chain.constant(3, 0.5, 0.25)), [0, 3.5, 6.5, 8.5])


def test_the_fair_walk_has_the_textbook_time() -> None:
    far = np.arange(51)
    np.testing.assert_allclose(passage_times(Chain.constant(50, 0.5)), far * (101 - far))


def test_the_gamblers_ruin_on_a_circle() -> None:
    """Both ruins are one node of a circle: the game lasts l (N - l)."""
    _, matrix = walk(nx.cycle_graph(11))
    far = np.arange(11)
    np.testing.assert_allclose(hitting_times(matrix, 0), far * (11 - far))


@pytest.mark.parametrize(("alpha", "beta"), [(0.2, 0.0), (0.3, 0.3), (0.6, 0.1), (0.9, 0.05)])
def test_the_closed_form_of_a_constant_chain(alpha: float, beta: float) -> None:
    ratio = (1 - alpha - beta) / alpha
    m = 12
    expected = (ratio * (ratio**m - 1) / (ratio - 1) - m) / (alpha * (ratio - 1))
    assert passage_times(Chain.constant(m, alpha, beta))[-1] == pytest.approx(expected)


@EXACTLY
@given(chains())
def test_all_solvers_agree(chain: Chain) -> None:
    times = passage_times(chain)
    np.testing.assert_allclose(times, hitting_times(chain.matrix, 0), rtol=1e-6)
    found = eigenvalues(chain)
    plain = np.sort(np.linalg.eigvals(chain.matrix[1:, 1:]).real)[::-1]
    np.testing.assert_allclose(found, plain, atol=1e-6)
    assert (1 / (1 - found)).sum() == pytest.approx(times[-1], rel=1e-5)
    assert exp(log_relaxation(chain)) == pytest.approx(1 / (1 - found[0]), rel=1e-5)


@EXACTLY
@given(chains(longest=5), st.integers(0, 6))
def test_arriving_in_time_agrees_with_enumeration(chain: Chain, horizon: int) -> None:
    def go(at: int, left: int) -> tuple[float, float]:
        if at == 0 or left == 0:
            return float(at == 0), 0.0
        ways = [(p, go(to, left - 1)) for to, p in steps_from(chain, at)]
        return sum(p * reach for p, (reach, _) in ways), 1 + sum(p * n for p, (_, n) in ways)

    expected = np.array([go(at, horizon) for at in range(chain.length + 1)])
    np.testing.assert_allclose(np.exp(log_reach_within(chain, horizon)), expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(mean_length_within(chain, horizon), expected[:, 1], atol=1e-12)


@EXACTLY
@given(chains(longest=5, least=0.3), st.floats(0.0, 1.0))
def test_the_generating_function_is_the_series(chain: Chain, s: float) -> None:
    reach = np.array([np.exp(log_reach_within(chain, n)) for n in range(200)])
    arrivals = np.diff(reach, axis=0)
    powers = s ** np.arange(1, 200)
    left = 1 - reach[-1]
    for start in range(1, chain.length + 1):
        series = float(powers @ arrivals[:, start])
        tail = float(left[start]) + 1e-7
        assert series - 1e-7 <= generating_function(chain, s, start) <= series + tail


def test_the_generating_functions_slope_is_the_mean() -> None:
    chain = Chain.of([0.5, 0.3, 0.6, 0.4], 0.1)
    for start in (1, 3, None):
        low, high = generating_function(chain, [1 - 1e-6, 1 + 1e-6], start)
        mean = passage_times(chain)[-1 if start is None else start]
        assert (high - low) / 2e-6 == pytest.approx(mean, rel=1e-6)
    with pytest.raises(BackplayError):
        generating_function(chain, 1.5)
    with pytest.raises(BackplayError):
        generating_function(chain, 0.5, 5)


def test_the_longest_chains_stay_exact() -> None:
    m, alpha = 2000, 1e-3
    ratio = (1 - alpha) / alpha
    expected = (m + 1) * log(ratio) - log(alpha) - 2 * log(ratio - 1)
    chain = Chain.constant(m, alpha)
    assert log_passage_times(chain)[-1] == pytest.approx(expected, rel=1e-12)
    assert log_relaxation(chain) == pytest.approx(expected, rel=1e-9)
    assert passage_times(chain)[-1] == np.inf
    assert spectral_gap(chain) == 0.0
    assert log_reach_within(chain, m)[-1] == pytest.approx(m * log(alpha), rel=1e-12)


def test_a_gap_that_a_float_cannot_subtract() -> None:
    """1 - eigenvalue is 1e-31 here; inverse iteration keeps all digits of it."""
    chain = Chain.constant(32, 0.1)
    total = log_passage_times(chain)[-1]
    assert total - 2e-12 < log_relaxation(chain) <= total + 1e-12
    assert spectral_gap(chain) == pytest.approx(exp(-total), rel=1e-9)


def test_a_slow_walk_has_the_gap_of_a_fast_one() -> None:
    """Staying with chance 0.999 stretches time a thousandfold and changes nothing else."""
    for alpha in (0.3, 0.5, 0.7):
        fast = log_relaxation(Chain.constant(300, alpha))
        slow = log_relaxation(Chain.constant(300, alpha / 1000, 0.999))
        assert slow == pytest.approx(fast + log(1000), abs=1e-6)


def test_a_goal_out_of_reach_is_refused() -> None:
    for goal in (1, 2, -1):  # no way to 1 from 0; no states 2 and -1
        with pytest.raises(BackplayError):
            hitting_times(np.array([[1.0, 0.0], [0.5, 0.5]]), goal)


def test_both_ways_to_the_gap_meet() -> None:
    """Sizes on either side of where inverse iteration takes over."""
    for m in (14, 15, 16, 17, 18, 19, 20):
        chain = Chain.constant(m, 0.3)
        direct = -log(1 - eigenvalues(chain)[0])
        assert log_relaxation(chain) == pytest.approx(direct, abs=1e-6)


@pytest.mark.parametrize(
    ("alpha", "beta", "holds"),
    [
        (0.1, 0.0, True),
        (0.38, 0.0, True),
        (0.385, 0.0, False),
        (0.45, 0.0, False),
        (0.5, 0.0, False),
        (0.7, 0.0, False),
        (0.13, 0.5, True),
        (0.14, 0.5, False),
    ],
)
def test_where_the_papers_rate_of_the_gap_holds(alpha: float, beta: float, holds: bool) -> None:
    """1 / gap grows like alpha^(-M/2) or faster exactly if 1 - alpha - beta >= sqrt(alpha)."""
    assert (1 - alpha - beta >= alpha**0.5) == holds
    rates = [log_relaxation(Chain.constant(m, alpha, beta)) for m in (1000, 2000)]
    assert ((rates[1] - rates[0]) / 1000 >= -log(alpha) / 2) == holds
