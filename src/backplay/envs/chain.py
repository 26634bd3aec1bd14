"""`Backplay/Chain-v0`: a chain of places, and below every one of them a trap that pays a little.

    env = gymnasium.make("Backplay/Chain-v0", length=20)

Comes in: a length, and a seed for which action leads on in which place. Goes out: the number of the
place; a reward of 1 at the end of the chain, and a small one in the trap, which ends the episode.
Whoever starts at the beginning meets the trap at once and learns to fall into it the sooner: of
`actions ** length` ways one reaches the end.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from backplay.demos import Demonstration
from backplay.demos.record import record
from backplay.errors import BackplayError, ensure, refusing, whole
from backplay.restore import RESTORERS


class Chain(gym.Env[np.int64, np.int64]):
    """One agent on a chain. In each place one action leads to the next, the others into the trap.

    Args:
        length: steps from the first place to the end.
        actions: how many there are.
        layout: the seed that draws which action leads on.
        lure: what the trap pays; less than the 1 of the end.
        render_mode: `"ansi"`.

    What is seen is the place, 0 to length - 1; then length at the end and length + 1 in the trap.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 8}  # noqa: RUF012

    def __init__(
        self,
        length: int = 20,
        *,
        actions: int = 3,
        layout: int = 0,
        lure: float = 0.1,
        render_mode: str | None = None,
    ) -> None:
        self.length = whole("length", length, 1, 1_000_000)
        count = whole("actions", actions, 2, 1_000)
        ensure(0.0 <= lure < 1.0, "lure", "a number from 0 on, below 1", lure)
        self.lure, self.render_mode = float(lure), render_mode
        drawn = np.random.default_rng(whole("layout", layout, 0)).integers(count, size=self.length)
        self.way = drawn
        """The action that leads on, by place: [length]."""
        self.observation_space = spaces.Discrete(self.length + 2)
        self.action_space = spaces.Discrete(count)
        self.place = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """The first place."""
        super().reset(seed=seed)
        self.place = 0
        return np.int64(self.place), {}

    def step(self, action: Any) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        """On, or into the trap."""
        ensure(self.action_space.contains(action), "action", self.action_space, action)
        ensure(self.place < self.length, "The episode is over", do="Call reset.")
        trapped = int(action) != self.way[self.place]
        self.place = self.length + 1 if trapped else self.place + 1
        arrived = self.place == self.length
        reward = self.lure if trapped else float(arrived)
        over = trapped or arrived
        return np.int64(self.place), reward, over, False, {"is_success": arrived} if over else {}

    def render(self) -> Any:
        """The place, in words."""
        ensure(self.render_mode == "ansi", "render_mode", "'ansi'", self.render_mode)
        return (
            f"{'in the trap' if self.place > self.length else f'{self.place} of {self.length}'}\n"
        )

    def get_state(self) -> dict[str, Any]:
        """The place, as plain data."""
        return {"place": self.place}

    def set_state(self, state: dict[str, Any]) -> None:
        """Puts the agent where `get_state` found it."""
        with refusing(
            "state", f"what get_state of a chain of {self.length} said",
            of=(KeyError, TypeError, BackplayError),
        ):  # fmt: skip
            self.place = whole("place", state["place"], 0, self.length + 1)


def demonstration(env: gym.Env[Any, Any]) -> Demonstration:
    """The way to the end, recorded in `env`, a `Chain`."""
    chain: Any = env.unwrapped
    return record(env, chain.way.tolist(), seed=0, restorer=RESTORERS["own"]())
