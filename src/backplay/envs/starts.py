"""What vector envs that draw their own starts share: who draws them, and that all are one worker.

Comes in: a curriculum, which an env knows only as someone who draws starts, or nobody; actions.
Goes out: starts; the actions, checked. Does not know: what is played.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from backplay.errors import BackplayError, show
from backplay.records import DrawsStarts


class InitialStates:
    """Every episode in the initial state of some demonstration, as long as the env allows."""

    patience: float | None = None

    def sample(
        self, lengths: Any, n: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`n` starts: demo [n], step [n]."""
        return rng.integers(len(lengths), size=n), np.zeros(n, np.int64)


class OneWorker(VectorEnv[NDArray[Any], NDArray[np.int64], NDArray[Any]]):
    """A vector env whose envs are one worker to `bp.advance`.

    What is seen of one env is in `seen`, and it takes one of so many `actions`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": 8,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self, num_envs: int, seen: spaces.Space[Any], actions: int, render_mode: str | None
    ) -> None:
        self.num_envs, self.render_mode = num_envs, render_mode
        self.single_observation_space: spaces.Space[Any] = seen
        self.single_action_space = spaces.Discrete(actions)
        self.observation_space = batch_space(seen, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.restored_steps = 0
        """Steps spent on making states to start from: those of random walks."""

    def checked_actions(self, actions: Any) -> NDArray[np.int64]:
        """Actions from outside as kernels take them, [num_envs]; refused unless all are some."""
        given, most = np.asarray(actions), int(self.single_action_space.n) - 1  # type: ignore[attr-defined]
        if given.shape == (self.num_envs,) and given.dtype.kind in "iu":
            taken: NDArray[np.int64] = np.ascontiguousarray(given, np.int64)
            if ((taken >= 0) & (taken <= most)).all():
                return taken
        expected = f"{self.num_envs} of 0 to {most}"
        raise BackplayError("actions", expected=expected, got=show(actions))

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """One attribute, or what one method returns."""
        found = getattr(self, name)
        return (found(*args, **kwargs) if callable(found) else found,)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """As `call`."""
        return self.call(name)


def require_curriculum(curriculum: DrawsStarts) -> None:
    """Refuses what draws no starts."""
    if isinstance(curriculum, type) or not isinstance(curriculum, DrawsStarts):
        raise BackplayError(
            "curriculum", expected="a curriculum such as bp.Uniform()", got=show(curriculum)
        )
