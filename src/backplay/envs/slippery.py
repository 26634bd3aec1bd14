"""`Backplay/Slippery-v0`: a narrow bridge over water, on which every step may slip.

    env = gymnasium.make("Backplay/Slippery-v0", length=10, slip=0.08)

Comes in: the length of the bridge and how often a step slips. Goes out: the number of the cell; a
reward of 1 at the far end and none anywhere else. From a room of 3 x 3 cells, where slipping is
harmless, the bridge leads right and then up; a step to its side is into the water, which ends the
episode. So even the best policy succeeds only as often as `best` says: success is rare by nature.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from backplay.demos import Demonstration
from backplay.demos.record import record
from backplay.errors import BackplayError, ensure, refusing, whole
from backplay.restore import RESTORERS

UP, RIGHT, DOWN, LEFT = range(4)
NAMES = ("up", "right", "down", "left")
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))
ROOM = 3  # cells along each side
Cell = tuple[int, int]


def best(length: int, slip: float) -> float:
    """Success of the best policy: no step slips on the bridge."""
    return float((1.0 - slip) ** length)


class Slippery(gym.Env[np.int64, np.int64]):
    """One agent on a bridge. Actions: 0 up, 1 right, 2 down, 3 left.

    Args:
        length: cells of the bridge; half of them lead right, the others up.
        slip: the chance that a step goes to the side of where it should, left or right alike.
        max_steps: the step at which an episode is truncated.
        render_mode: `"ansi"`.

    What is seen is the number of the cell: the room's, the bridge's, the far end, the water.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 8}  # noqa: RUF012

    def __init__(
        self,
        length: int = 10,
        *,
        slip: float = 0.08,
        max_steps: int = 100,
        render_mode: str | None = None,
    ) -> None:
        self.length = whole("length", length, 2, 10_000)
        self.max_steps = whole("max_steps", max_steps, 1)
        ensure(0.0 <= slip < 1.0, "slip", "a number from 0 on, below 1", slip)
        self.slip, self.render_mode = float(slip), render_mode
        room = [(x, y) for x in range(ROOM) for y in range(ROOM)]
        right, up = self.length // 2, self.length - self.length // 2
        bridge = [(ROOM + i, 1) for i in range(right)]
        bridge += [(ROOM + right - 1, 2 + i) for i in range(up)]
        self.cells: list[Cell] = [*room, *bridge, (bridge[-1][0], bridge[-1][1] + 1)]
        """By number; the last is the far end."""
        self.numbers = {cell: number for number, cell in enumerate(self.cells)}
        self.water = len(self.cells)
        self.observation_space = spaces.Discrete(len(self.cells) + 1)
        self.action_space = spaces.Discrete(len(NAMES))
        self.cell, self.step_count, self._over = 0, 0, True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """A corner of the room."""
        super().reset(seed=seed)
        self.cell, self.step_count, self._over = 0, 0, False
        return np.int64(self.cell), {}

    def step(self, action: Any) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        """A step where the action says, or to its side."""
        ensure(self.action_space.contains(action), "action", self.action_space, action)
        ensure(not self._over, "The episode is over", do="Call reset.")
        drawn = float(self.np_random.random())
        aside = 0 if drawn >= self.slip else 1 if drawn < self.slip / 2 else -1
        self.cell = self._after((int(action) + aside) % 4)
        self.step_count += 1
        arrived, drowned = self.cell == self.water - 1, self.cell == self.water
        terminated = arrived or drowned
        truncated = not terminated and self.step_count >= self.max_steps
        self._over = terminated or truncated
        info = {"is_success": arrived} if self._over else {}
        return np.int64(self.cell), float(arrived), terminated, truncated, info

    def _after(self, move: int) -> int:
        """The cell a step leads to; the room has walls, the bridge has none."""
        x, y = self.cells[self.cell]
        there = (x + MOVES[move][0], y + MOVES[move][1])
        stays = self.cell if self.cell < ROOM * ROOM else self.water
        return self.numbers.get(there, stays)

    def get_action_meanings(self) -> tuple[str, ...]:
        """The names of the actions 0 to 3."""
        return NAMES

    def render(self) -> Any:
        """The map from above: @ the agent, * the far end."""
        ensure(self.render_mode == "ansi", "render_mode", "'ansi'", self.render_mode)
        width, height = (max(cell[i] for cell in self.cells) + 1 for i in (0, 1))
        rows = [["~"] * width for _ in range(height)]
        for number, (x, y) in enumerate(self.cells):
            rows[y][x] = "@" if number == self.cell else "*" if number == self.water - 1 else "."
        return "\n".join("".join(row) for row in rows[::-1]) + "\n"

    def get_state(self) -> dict[str, Any]:
        """Cell and clock, as plain data; the stream of draws is kept beside it."""
        return {"cell": self.cell, "step_count": self.step_count}

    def set_state(self, state: dict[str, Any]) -> None:
        """Puts the agent where `get_state` found it."""
        with refusing(
            "state", f"what get_state of a bridge of {self.length} said",
            of=(KeyError, TypeError, BackplayError),
        ):  # fmt: skip
            cell = whole("cell", state["cell"], 0, self.water)
            steps = whole("step_count", state["step_count"], 0, self.max_steps)
        self.cell, self.step_count = cell, steps
        self._over = cell >= self.water - 1 or steps >= self.max_steps

    def towards(self, cell: int) -> int:
        """The action that leads on from a cell to the far end, if nothing slips."""
        x, y = self.cells[cell]
        if cell < ROOM * ROOM and y != 1:
            return UP if y < 1 else DOWN
        return RIGHT if (x + 1, y) in self.numbers else UP


def demonstration(env: gym.Env[Any, Any]) -> Demonstration:
    """The first crossing that comes off, recorded in `env`, a `Slippery`."""
    bridge: Any = env.unwrapped
    own = RESTORERS["own"]()
    tries = (record(env, lambda at: bridge.towards(int(at)), seed=i, restorer=own) for i in count())
    return next(demo for demo in tries if demo.rewards[-1] == 1.0)
