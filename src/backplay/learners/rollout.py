"""Rollouts: a policy's steps in a vector environment, stored by step and env.

In come a network, a distribution and a vector env that resets an ended episode in the same step
(its `AutoresetMode.SAME_STEP`); out goes one `Rollout`. Of several workers each steps its own envs;
together they draw what one would draw for all of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from torch import Tensor, nn

from backplay.errors import BackplayError, ensure
from backplay.learners.advantages import BoolArray, FloatArray, successor_values
from backplay.learners.distributions import Distribution
from backplay.learners.finite import require_finite
from backplay.learners.observations import (
    Arrays,
    Tensors,
    allocate,
    as_tensors,
    final_rows,
    join,
    numeric,
    row,
    store,
)
from backplay.learners.workers import EnvRange, Workers, own_range


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
