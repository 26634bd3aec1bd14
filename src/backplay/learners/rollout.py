"""Rollouts: a policy's steps in a vector environment, their advantages, and minibatches of them.

In come a network, a distribution and a vector env that resets an ended episode in the same step
(its `AutoresetMode.SAME_STEP`); out goes one `Rollout`, [steps, envs]. Of several workers each
steps its own envs; together they draw what one would draw for all of them.

Advantages are generalised advantage estimates (Schulman et al. 2015), with termination and
truncation kept apart. Samples are shuffled and cut into minibatches: from an order of all workers'
samples each knows which rows are its own. Does not know: losses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from torch import Tensor, nn

from backplay.errors import BackplayError, ensure
from backplay.learners.distributions import Distribution
from backplay.learners.finite import require_finite
from backplay.learners.observations import (
    Arrays,
    Tensors,
    allocate,
    as_tensors,
    final_rows,
    join,
    map_tensors,
    numeric,
    row,
    rows_of,
    store,
)
from backplay.learners.workers import EnvRange, Workers, own_range

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


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """`steps` steps in each of a worker's `envs` environments; arrays are [steps, envs, ...]."""

    observations: Tensors
    """What each step saw."""
    actions: Tensor
    """What the policy drew, before any clipping to the environment's bounds."""
    log_probs: Tensor
    """Log-probability of each action when it was drawn."""
    values: FloatArray
    """Value of each observation under the collecting network."""
    next_values: FloatArray
    """Value of the observation each step led to, in its own episode."""
    rewards: FloatArray
    """Reward of each step."""
    terminated: BoolArray
    """Whether the step ended its episode for good."""
    truncated: BoolArray
    """Whether the step was its episode's last because of a limit."""
    final_infos: list[tuple[int, dict[str, Any]]]
    """The vector env's infos at each step where some episode ended, with the step's index."""
    last_observations: Any
    """Where the envs are now: what the next `collect` starts from."""
    own: EnvRange
    """Which of all workers' envs these are."""

    @property
    def ended(self) -> BoolArray:
        """Whether the step was its episode's last, for either reason."""
        return self.terminated | self.truncated

    @property
    def frames(self) -> int:
        """Number of environment steps of all workers."""
        return len(self.rewards) * self.own.total


def collect(
    network: nn.Module,
    distribution: Distribution,
    envs: VectorEnv[Any, Any, Any],
    observations: Any,
    *,
    steps: int,
    bootstrap_truncated: bool,
    generator: torch.Generator,
    workers: Workers,
) -> Rollout:
    """Sample the network's policy for `steps` steps in each env."""
    _require_same_step(envs)
    own = own_range(workers, envs.num_envs)
    first = numeric(observations)
    require_finite("observation", first, 0, own.first)
    seen = allocate(steps, first)
    seen_tensors = as_tensors(seen)
    shape = (steps, envs.num_envs)
    rewards = np.empty(shape, np.float32)
    terminated, truncated = np.empty(shape, np.bool_), np.empty(shape, np.bool_)
    noise = distribution.noise((steps, own.total), generator)[:, own.first : own.last]
    parameters: list[Tensor] = []
    values: list[Tensor] = []
    actions: list[Tensor] = []
    final_infos: list[tuple[int, dict[str, Any]]] = []
    final_observations: list[Arrays] = []

    with torch.inference_mode():
        for step in range(steps):
            store(seen, step, observations)
            step_parameters, step_values = network(row(seen_tensors, step))
            action = distribution.sample(step_parameters, noise[step])
            parameters.append(step_parameters)
            values.append(step_values)
            actions.append(action)
            observations, rewards[step], terminated[step], truncated[step], infos = envs.step(
                distribution.for_env(action.numpy())
            )
            require_finite("reward", rewards[step], step, own.first)
            require_finite("observation", numeric(observations), step, own.first)
            if "final_obs" in infos:
                final_infos.append((step, infos))
            if bootstrap_truncated and truncated[step].any():
                # Copied now: an env may reuse the array its final observation is in.
                cut = np.flatnonzero(truncated[step])
                final_observations.append(final_rows(_final(infos), cut, first))
                require_finite("final observation", final_observations[-1], step, own.first + cut)

        # One pass over all final observations is cheaper than a pass at each ending.
        last_values = network(as_tensors(numeric(observations)))[1].numpy()
        final_values = (
            network(as_tensors(join(final_observations)))[1].numpy()
            if final_observations
            else np.empty(0, np.float32)
        )
        all_values = torch.stack(values).numpy()
        all_actions = torch.stack(actions)
        log_probs = distribution.log_prob(torch.stack(parameters), all_actions)

    cut_short = truncated if bootstrap_truncated else np.zeros_like(truncated)
    return Rollout(
        observations=seen_tensors,
        # Through numpy, because autograd refuses tensors made in inference mode.
        actions=torch.from_numpy(all_actions.numpy()),
        log_probs=torch.from_numpy(log_probs.numpy()),
        values=all_values,
        next_values=successor_values(all_values, last_values, cut_short, final_values),
        rewards=rewards,
        terminated=terminated,
        truncated=truncated,
        final_infos=final_infos,
        last_observations=observations,
        own=own,
    )


def _require_same_step(envs: VectorEnv[Any, Any, Any]) -> None:
    mode = envs.metadata.get("autoreset_mode")
    ensure(
        mode in (AutoresetMode.SAME_STEP, AutoresetMode.SAME_STEP.value), "envs",
        "a vector env that resets in the same step", got=f"autoreset_mode={mode}",
        do="Build it with autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP.",
    )  # fmt: skip


def _final(infos: dict[str, Any]) -> Any:
    try:
        return infos["final_obs"]
    except KeyError:
        raise BackplayError(
            "envs",
            expected='infos["final_obs"] where an episode was truncated, to bootstrap its value',
            got=f"infos with {', '.join(infos) or 'nothing'}",
            do="Give it, or set PPOConfig.bootstrap_truncated=False to do without.",
        ) from None


class Batch(NamedTuple):
    """What the losses need of a rollout's steps, flattened to [steps * envs, ...]."""

    observations: Tensors
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor


def select(batch: Batch, rows: Tensor) -> Batch:
    """The samples of these rows, in their order."""
    return Batch(
        rows_of(batch.observations, rows), *(part.index_select(0, rows) for part in batch[1:])
    )


def cut(batch: Batch, first: int, last: int) -> Batch:
    """The samples from `first` to before `last`, as views."""
    observations = map_tensors(lambda part: part[first:last], batch.observations)
    return Batch(observations, *(part[first:last] for part in batch[1:]))


def own_rows(order: Tensor, bounds: list[int], own: EnvRange) -> tuple[Tensor, list[int]]:
    """Which rows of its own batch a worker takes, in order, and its part of each minibatch.

    Args:
        order: samples of all workers, numbered by step, then by env.
        bounds: where each minibatch begins in it, and where the last one ends.
        own: the worker's envs.
    """
    if own.count == own.total:
        return order, bounds
    steps, envs = order // own.total, order % own.total
    mine = (envs >= own.first) & (envs < own.last)
    rows = (steps * own.count + envs - own.first)[mine]
    before = torch.cat([torch.zeros(1, dtype=torch.int64), mine.cumsum(0)])
    return rows, before[bounds].tolist()


def normalise(advantages: Tensor, among: Tensor) -> Tensor:
    """Advantages shifted and scaled so that `among` has mean 0 and deviation 1."""
    std, mean = torch.std_mean(among, correction=0)
    return (advantages - mean) / (std + 1e-8)
