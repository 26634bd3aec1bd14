"""Simulated learning against exact counts; growth fitted to counts of a known kind."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from theory_strategies import chains

from backplay.curricula import Backplay, Standard, Uniform, Window
from backplay.errors import BackplayError
from backplay.theory import (
    Chain,
    GraphTask,
    growth,
    line,
    merging_cost,
    passage_times,
    phases,
    simulate_chain,
    simulate_graph,
    stepwise,
    tree,
    walking_cost,
    windowed,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def agree(counts: np.ndarray, expected: float) -> None:
    """The mean is within five standard errors, and what is too rare to be seen at all."""
    error = counts.std() / len(counts) ** 0.5
    assert abs(counts.mean() - expected) <= 5 * error + 0.002 * expected


@settings(max_examples=25)
@given(
    chains(longest=6, least=0.3),
    st.integers(6, 20),
    st.sampled_from([0, 1, 2, 3]),
    st.integers(1, 6),
    st.booleans(),
)
def test_runs_agree_with_the_exact_counts(
    chain: Chain, horizon: int, kind: int, step: int, merging: bool
) -> None:
    m = chain.length
    step = min(step, m)
    curriculum = (Standard(), Uniform(), stepwise(m, step), windowed(m, step))[kind]
    found = simulate_chain(
        chain, curriculum, horizon=horizon, runs=4000, rng=rng(), merging=merging
    )
    exact = (merging_cost if merging else walking_cost)(chain, phases(curriculum, m), horizon)
    assert found.finished.all()
    agree(found.trials, exact.trials)
    agree(found.steps, exact.steps)


def test_one_trial_without_a_horizon_takes_the_first_passage_time() -> None:
    chain = Chain.of([0.5, 0.3, 0.6, 0.4], 0.1)
    found = simulate_chain(
        chain, stepwise(4, 4), horizon=10**6, runs=20_000, rng=rng(), merging=True
    )
    # Merging one distance after another: the passage from 4 to 0, to 1, to 2 and to 3
    exact = sum(passage_times(chain.merged(k))[-1] for k in range(4))
    assert (found.trials == 4).all()
    agree(found.steps, exact)


def test_runs_depend_on_the_generator_alone() -> None:
    chain = Chain.constant(6, 0.4)
    a, b, c = (
        simulate_chain(chain, Uniform(), horizon=6, runs=50, rng=rng(seed)) for seed in (1, 1, 2)
    )
    assert (a.trials == b.trials).all()
    assert (a.steps == b.steps).all()
    assert (a.trials != c.trials).any()


def test_a_run_gives_up() -> None:
    found = simulate_chain(
        Chain.constant(50, 0.1), Standard(), horizon=50, runs=3, rng=rng(), max_trials=7
    )
    assert not found.finished.any()
    assert found.trials.tolist() == [7] * 3
    assert found.steps.tolist() == [350] * 3


def test_phases_of_a_fixed_number_of_trials() -> None:
    """A sure chain informs one distance a trial: 2 trials a window of 1 waste every other one."""
    sure = Chain.constant(4, 1.0)
    found = simulate_chain(
        sure, stepwise(4, 1), horizon=4, runs=2, rng=rng(), trials_per_phase=2, merging=True
    )
    assert found.trials.tolist() == [7, 7]
    assert found.steps.tolist() == [4, 4]
    # Windows of one trial, too early: from 2 steps back nothing is informed but the first
    hasty = Backplay((Window(0, 2, 2), Window(1, 4, 4)))
    found = simulate_chain(sure, hasty, horizon=4, runs=1, rng=rng(), trials_per_phase=1)
    assert found.trials.tolist() == [4]


def test_a_path_and_its_chain_are_the_same() -> None:
    chain = Chain.of([0.5, 0.5, 0.5, 0.5, 1.0])
    for curriculum in (Standard(), windowed(5, 2)):
        found = simulate_graph(line(5), curriculum, horizon=9, runs=6000, rng=rng())
        exact = walking_cost(chain, phases(curriculum, 5), 9)
        agree(found.trials, exact.trials)
        agree(found.steps, exact.steps)


def test_a_policy_on_a_graph() -> None:
    chain = Chain.constant(3, 0.6, 0.2)
    policy = chain.matrix.copy()
    policy[0, :2] = 0.0, 1.0
    found = simulate_graph(line(3), Standard(), horizon=5, runs=6000, rng=rng(), policy=policy)
    agree(found.trials, walking_cost(chain, phases(Standard(), 3), 5).trials)


def test_information_spreads_over_any_edge() -> None:
    """From the corner of a triangle on a stick: either neighbour may be the one that informs."""
    task = GraphTask(nx.Graph([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]), 0, [3, 1, 0])
    found = simulate_graph(task, stepwise(2, 1), horizon=1, runs=20_000, rng=rng())
    # First 1 -> 0 with chance 1/3; then 3 -> 1 with chance 1/2: node 2 is never informed
    agree(found.trials, 3 + 2)


def test_step_zero_is_the_tasks_own_start() -> None:
    task = tree(1, rng())
    both = simulate_graph(task, Standard(), horizon=1, runs=20_000, rng=rng())
    agree(both.trials, 3)  # each trial is a random leaf: 1 + 2 trials to see both
    half = simulate_graph(task, Standard(), horizon=1, runs=10, rng=rng(), share=0.5)
    assert (half.trials == 1).all()


def test_one_demonstration_helps_from_its_own_leaf_only() -> None:
    """The paper's tree: to update most leaves, Backplay needs about the trials of Standard."""
    task = tree(6, rng(3))
    own = GraphTask(task.graph, task.goal, task.demonstration)
    gains = []
    for each, share in ((task, 0.9), (own, 1.0)):
        standard, backplay = (
            simulate_graph(each, curriculum, horizon=18, runs=400, rng=rng(1), share=share)
            for curriculum in (Standard(), stepwise(6, 1))
        )
        gains.append(standard.trials.mean() / backplay.trials.mean())
    assert 0.95 < gains[0] < 1.25
    assert gains[1] > 3


def test_what_cannot_be_simulated_is_refused() -> None:
    chain = Chain.constant(3, 0.5)
    for wrong in ({"horizon": 0}, {"runs": 0}, {"rng": 3}, {"trials_per_phase": 0}):
        with pytest.raises(BackplayError):
            simulate_chain(chain, Standard(), **{"horizon": 3, "runs": 1, "rng": rng(), **wrong})


def test_growth_tells_exponents_from_powers() -> None:
    sizes = np.arange(4, 21, 2)
    noise = rng().lognormal(0, 0.5, size=(len(sizes), 200))
    powers = growth(sizes, 3.0 * sizes[:, None] ** 2.0 * noise, rng(1))
    assert powers.better == "polynomial"
    assert powers.exponential_share < 0.05
    assert powers.exponent_interval[0] < 2.0 < powers.exponent_interval[1]
    exponents = growth(sizes, 3.0 * np.exp(0.7 * sizes[:, None]) * noise, rng(1))
    assert exponents.better == "exponential"
    assert exponents.exponential_share > 0.95
    assert exponents.rate_interval[0] < 0.7 < exponents.rate_interval[1]
    assert exponents.rate_interval[1] - exponents.rate_interval[0] < 0.05


def test_growth_of_exact_numbers() -> None:
    sizes = [10, 20, 40, 80]
    found = growth(sizes, [2000.0 * m for m in sizes], rng(), logarithms=True)
    assert found.rate == pytest.approx(2000)
    assert found.rate_interval == pytest.approx((2000, 2000))
    assert found.better == "exponential"
    squares = growth(sizes, [m**2 for m in sizes], rng())
    assert squares.exponent == pytest.approx(2)
    assert squares.better == "polynomial"
    for wrong in ([1, 2], [1, 2, 3, -4], [[1, 2]]):
        with pytest.raises(BackplayError):
            growth(sizes, wrong, rng())
    with pytest.raises(BackplayError):
        growth([5, 5, 6], [1, 2, 3], rng())
