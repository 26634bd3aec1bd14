"""Generalised advantage estimation (Schulman et al. 2015), termination and truncation kept apart.

In come rewards, values and the two kinds of ending as arrays [steps, envs]; out go advantages of
the same shape. Knows nothing of networks, environments or PPO.
"""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]


def successor_values(
    values: FloatArray, last_values: FloatArray, truncated: BoolArray, final_values: FloatArray
) -> FloatArray:
    """Value of the observation each step led to, in that step's own episode, [steps, envs].

    Under same-step auto-reset the row after an episode's end belongs to the next episode. The
    observation a truncated episode really ended in comes separately, and its value replaces that
    row's. (The entry of a terminated step is never used.)

    Args:
        values: value of the observation each step started from, [steps, envs].
        last_values: value of the observations after the last step, [envs].
        truncated: which steps were cut short by a limit and need a final value, [steps, envs].
        final_values: value of each cut episode's final observation, [number of True entries],
            ordered by step, then by env.
    """
    successors = np.concatenate([values[1:], last_values[None]])
    successors[truncated] = final_values
    return successors


def estimate_advantages(
    rewards: FloatArray,
    values: FloatArray,
    next_values: FloatArray,
    terminated: BoolArray,
    truncated: BoolArray,
    *,
    gamma: float,
    gae_lambda: float,
) -> FloatArray:
    """GAE advantages, [steps, envs]; value targets are `advantages + values`.

    A terminated step has no future: nothing is bootstrapped. A truncated step has one that was not
    seen: `next_values` stands for it. Neither lets the next episode's errors leak back.

    Args:
        rewards: reward of each step, [steps, envs].
        values: value of the observation each step started from, [steps, envs].
        next_values: value of the observation each step led to, see `successor_values`.
        terminated: whether the step ended its episode for good, [steps, envs].
        truncated: whether the step was the last one a limit allowed, [steps, envs].
        gamma: discount of one step.
        gae_lambda: 0 trusts the values after one step, 1 trusts only the rewards.
    """
    errors = rewards + gamma * np.where(terminated, 0, next_values) - values
    carry = np.where(terminated | truncated, 0, gamma * gae_lambda)
    advantages: FloatArray = errors.astype(np.float32)
    carry = carry.astype(np.float32)
    for step in range(len(advantages) - 2, -1, -1):
        advantages[step] += carry[step] * advantages[step + 1]
    return advantages
