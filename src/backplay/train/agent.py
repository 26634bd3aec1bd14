"""A trained agent: from an observation to an action, as Stable-Baselines3's models have it.

Comes in: a learner after its training. Goes out: actions. Does not know: how it was trained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from backplay.demos.success import SuccessRule
from backplay.errors import BackplayError, ensure
from backplay.learners import PPO
from backplay.train.evaluate import Act, Evaluation, batch_of


def acting(learner: PPO, *, greedy: bool = False, seed: int = 0) -> Act:
    """From a batch of observations to actions, drawn from a stream of their own or the likeliest.

    The stream begins anew with every call of this function.
    """
    generator = torch.Generator().manual_seed(seed)
    return lambda seen: learner.act(seen, greedy=greedy, generator=generator)


class Agent:
    """What was learned, and how good it was at the end of its training."""

    def __init__(
        self,
        learner: PPO,
        observation_space: spaces.Space[Any],
        succeeded: SuccessRule,
        evaluation: Evaluation | None = None,
        *,
        seed: int = 0,
    ) -> None:
        """The policy of `learner` for observations of a space; `seed` of the actions it samples."""
        self.learner = learner
        self.observation_space = observation_space
        self.succeeded = succeeded
        """Which endings counted as success."""
        self.evaluation = evaluation
        """Its last evaluation from the true start, with sampled actions."""
        self._generator = torch.Generator().manual_seed(seed)

    def act(self, observations: Any, *, deterministic: bool = False) -> Any:
        """Actions for a batch of observations, [n, ...]."""
        return self.learner.act(
            self._seen(observations), greedy=deterministic, generator=self._generator
        )

    def predict(
        self,
        observation: Any,
        state: None = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, None]:
        """The action for one observation, or actions for a batch, and None: there is no memory.

        `deterministic` takes the likeliest action; if not, it is drawn.
        """
        seen = self._seen(observation)
        if not _fits(self.observation_space, seen):  # the words only then: this is called often
            raise BackplayError(
                "observation", expected=f"one of {self.observation_space}, or a batch of them",
                got=f"an array of shape {np.shape(observation)}",
                do="Pass what env.reset() and env.step() return first.",
            )  # fmt: skip
        if not _is_single(self.observation_space, seen):
            return self.act(seen, deterministic=deterministic), None
        batch = batch_of(self.observation_space, [seen])
        return self.act(batch, deterministic=deterministic)[0], None

    def _seen(self, observation: Any) -> Any:
        """The parts of an observation that the network reads: no texts."""
        if isinstance(self.observation_space, spaces.Dict):
            parts = set(self.observation_space)
            ensure(
                isinstance(observation, Mapping) and observation.keys() >= parts, "observation",
                "a dict with the parts that the env's has", got=type(observation),
                do="Pass what env.reset() and env.step() return first.",
            )  # fmt: skip
            return {key: observation[key] for key in self.observation_space}
        return observation

    def __repr__(self) -> str:
        measured = "" if self.evaluation is None else f", measured: {self.evaluation}"
        return f"<Agent for observations of {self.observation_space}{measured}>"


def _fits(space: spaces.Space[Any], observation: Any) -> bool:
    """Whether this can be an observation of the space or a batch, as far as shapes say."""
    if isinstance(space, spaces.Dict):
        return all(_fits(space[key], observation[key]) for key in space)
    if isinstance(space, spaces.Tuple) or space.shape is None:
        return True
    shape = np.shape(observation)
    return bool(shape == space.shape or shape[1:] == space.shape)


def _is_single(space: spaces.Space[Any], observation: Any) -> bool:
    """Whether this is one observation of the space, not a batch of them."""
    if isinstance(space, spaces.Dict):
        key = next(iter(space))
        return _is_single(space[key], observation[key])
    if isinstance(space, spaces.Tuple):
        parts: Sequence[Any] = observation
        return _is_single(space[0], parts[0])
    return bool(np.shape(observation) == space.shape)
