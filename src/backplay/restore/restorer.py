"""What a restorer is."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from backplay.restore.rollout import AnyEnv

State = Any


class Restorer(Protocol):
    """Saves the state an env is in and puts an env back into it."""

    @property
    def name(self) -> str:
        """A short name, as it stands in demonstration files."""

    @property
    def storable(self) -> bool:
        """Whether its states are plain data and can be written to a file."""

    def save(self, env: AnyEnv) -> State:
        """The state of `env` and of all its wrappers."""

    def load(self, env: AnyEnv, state: State, rng: np.random.Generator | None = None) -> int:
        """Puts `env` back into `state`; the number of env steps that took.

        Without `rng` everything is as it was, random streams included: this is what a check needs.
        With `rng`, as in training, the streams take new places drawn from it, and what wrappers
        gather over many episodes (a running mean, a queue of returns) stays as it is.
        """
