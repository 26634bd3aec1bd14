"""Advantages against hand arithmetic and against a slow reference that sums episode by episode."""

import numpy as np
import pytest

from backplay.learners.rollout import (
    BoolArray,
    FloatArray,
    estimate_advantages,
    successor_values,
)


def column(*numbers: float) -> FloatArray:
    return np.array(numbers, np.float32)[:, None]


def flags(*numbers: int) -> BoolArray:
    return np.array(numbers, np.bool_)[:, None]


# Three steps with γ = λ = 0.5, so errors are carried back by 0.25.
REWARDS = column(1, 2, 3)
VALUES = column(10, 20, 40)
NONE = flags(0, 0, 0)


def estimate(next_values: FloatArray, terminated: BoolArray, truncated: BoolArray) -> list[float]:
    advantages = estimate_advantages(
        REWARDS, VALUES, next_values, terminated, truncated, gamma=0.5, gae_lambda=0.5
    )
    assert advantages.dtype == np.float32
    return [float(a) for a in advantages[:, 0]]


def test_episode_goes_on_after_the_rollout() -> None:
    # errors: 1 + 0.5·20 − 10 = 1;  2 + 0.5·40 − 20 = 2;  3 + 0.5·80 − 40 = 3
    # advantages: 3;  2 + 0.25·3 = 2.75;  1 + 0.25·2.75 = 1.6875
    assert estimate(column(20, 40, 80), NONE, NONE) == [1.6875, 2.75, 3.0]


def test_termination_has_no_future() -> None:
    # errors: 1;  2 − 20 = −18 (the 40 belongs to the next episode);  3
    # advantages: 3;  −18;  1 + 0.25·(−18) = −3.5
    assert estimate(column(20, 40, 80), flags(0, 1, 0), NONE) == [-3.5, -18.0, 3.0]


def test_truncation_counts_the_final_observation() -> None:
    # The final observation is worth 8. Errors: 1;  2 + 0.5·8 − 20 = −14;  3
    # advantages: 3;  −14;  1 + 0.25·(−14) = −2.5
    assert estimate(column(20, 8, 80), NONE, flags(0, 1, 0)) == [-2.5, -14.0, 3.0]


def test_both_endings_at_once_is_a_termination() -> None:
    assert estimate(column(20, 8, 80), flags(0, 1, 0), flags(0, 1, 0)) == [-3.5, -18.0, 3.0]


def test_ending_at_the_last_step() -> None:
    # errors 1, 2 and: terminated 3 − 40 = −37; truncated at a value of 6: 3 + 0.5·6 − 40 = −34
    # advantages: −37;  2 − 9.25 = −7.25;  1 − 1.8125 = −0.8125
    assert estimate(column(20, 40, 80), flags(0, 0, 1), NONE) == [-0.8125, -7.25, -37.0]
    # advantages: −34;  2 − 8.5 = −6.5;  1 − 1.625 = −0.625
    assert estimate(column(20, 40, 6), NONE, flags(0, 0, 1)) == [-0.625, -6.5, -34.0]


def test_successors_of_cut_steps_are_the_final_observations() -> None:
    values = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    truncated = np.array([[0, 1], [1, 1], [0, 0]], np.bool_)
    successors = successor_values(
        values, np.array([7, 8], np.float32), truncated, np.array([10, 20, 30], np.float32)
    )
    np.testing.assert_array_equal(successors, [[3, 10], [20, 30], [7, 8]])
    np.testing.assert_array_equal(values, [[1, 2], [3, 4], [5, 6]])  # left as it was


def slow_advantage(  # one env, from one step on: sums discounted errors until the episode ends
    rewards: FloatArray,
    values: FloatArray,
    next_values: FloatArray,
    terminated: BoolArray,
    truncated: BoolArray,
    gamma: float,
    gae_lambda: float,
) -> float:
    total, weight = 0.0, 1.0
    for step in range(len(rewards)):
        future = 0.0 if terminated[step] else gamma * float(next_values[step])
        total += weight * (float(rewards[step]) + future - float(values[step]))
        if terminated[step] or truncated[step]:
            break
        weight *= gamma * gae_lambda
    return total


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_the_slow_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps, envs = 12, 40
    rewards, values, next_values = rng.normal(size=(3, steps, envs)).astype(np.float32)
    terminated, truncated = rng.random((2, steps, envs)) < 0.15
    # An ending of either kind at each position of some env, and in both of the last rows' corners
    terminated[np.arange(steps), np.arange(steps)] = True
    truncated[np.arange(steps), steps + np.arange(steps)] = True
    gamma, gae_lambda = 0.97, 0.8
    advantages = estimate_advantages(
        rewards, values, next_values, terminated, truncated, gamma=gamma, gae_lambda=gae_lambda
    )
    for step in range(steps):
        for env in range(envs):
            parts = rewards, values, next_values, terminated, truncated
            expected = slow_advantage(*(p[step:, env] for p in parts), gamma, gae_lambda)
            assert advantages[step, env] == pytest.approx(expected, abs=1e-5)


def test_the_extremes_of_lambda() -> None:
    rewards, values = column(1, 1, 1), column(0, 0, 0)
    ends = flags(0, 0, 1)
    one_step = estimate_advantages(rewards, values, values, ends, NONE, gamma=0.5, gae_lambda=0.0)
    to_the_end = estimate_advantages(rewards, values, values, ends, NONE, gamma=0.5, gae_lambda=1.0)
    assert one_step[:, 0].tolist() == [1, 1, 1]
    assert to_the_end[:, 0].tolist() == [1.75, 1.5, 1]
