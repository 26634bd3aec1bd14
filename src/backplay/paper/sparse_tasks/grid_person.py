"""Somebody who plays MiniGrid by looking at all of it, and the view that a learner has of it.

Comes in: an env of MiniGrid. Goes out: actions that fetch, open and go to things; observations as
one vector. Does not know: tasks.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from backplay.errors import BackplayError
from backplay.restore.rollout import AnyEnv

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE = range(6)
PARTS = (11, 6, 3)  # kinds, colours and states of a cell
AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))

Fits = Callable[[Any], bool]
"""Whether a thing is the one that is meant."""


class View(gym.ObservationWrapper[Any, Any, Any]):
    """The 7 x 7 cells that the agent sees, each one-hot in kind, colour and state, and its look."""

    def __init__(self, env: AnyEnv) -> None:
        super().__init__(env)
        self.size = 7 * 7 * sum(PARTS) + 4
        self.observation_space = gym.spaces.Box(0.0, 1.0, (self.size,), np.float32)
        self.rows = np.arange(49)[:, None] * sum(PARTS) + np.cumsum((0, *PARTS[:2]))

    def observation(self, observation: dict[str, Any]) -> NDArray[np.float32]:
        """As one vector of zeros and ones."""
        view = np.zeros(self.size, np.float32)
        view[(self.rows + observation["image"].reshape(49, 3)).ravel()] = 1.0
        view[observation["direction"] - 4] = 1.0
        return view


class OneLayout(gym.Wrapper[Any, Any, Any, Any]):
    """Every episode on the layout of one seed, as a level of a game."""

    def __init__(self, env: AnyEnv, layout: int) -> None:
        super().__init__(env)
        self.layout = layout

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The same layout, whatever the seed."""
        return self.env.reset(seed=self.layout, options=options)


def a(kind: str, **state: Any) -> Fits:
    """Whether a thing is of this kind and in this state."""
    return lambda thing: (
        thing.type == kind and all(getattr(thing, name) == state[name] for name in state)
    )


class Person:
    """Walks through a MiniGrid and keeps the actions that did it."""

    def __init__(self, env: AnyEnv) -> None:
        env.reset()
        self.env, self.actions = env, list[int]()
        self.grid: Any = env.unwrapped

    def do(self, action: int) -> None:
        """One action."""
        self.env.step(action)
        self.actions.append(action)

    def at(self, x: int, y: int) -> Any:
        """What lies in a cell; None where nothing does."""
        return self.grid.grid.get(int(x), int(y))

    def in_front(self) -> Any:
        """What lies before the agent."""
        return self.at(*self.grid.front_pos)

    def fetch(self, fits: Fits) -> None:
        """Goes to a thing and takes it."""
        self.go_to(fits)
        self.do(PICK_UP)

    def open(self, fits: Fits) -> None:
        """Opens a door with the key in hand, which is put down then."""
        self.go_to(fits)
        self.do(TOGGLE)
        self.put_down()

    def put_down(self) -> None:
        """Drops what is in hand into the next free cell around."""
        while self.in_front() is not None:
            self.do(RIGHT)
        self.do(DROP)

    def go_to(self, fits: Fits) -> None:
        """Until a thing that fits is in front; closed doors on the way are opened."""
        for action in self._way(fits):
            front = self.in_front()
            closed = front is not None and front.type == "door" and not front.is_open
            if action == FORWARD and closed:
                self.do(TOGGLE)
            self.do(action)

    def _way(self, fits: Fits) -> list[int]:
        """The cheapest turns and steps: a search over cells and directions."""
        x, y = (int(n) for n in self.grid.agent_pos)
        Entry = tuple[int, int, tuple[int, int, int], list[int]]
        ways: list[Entry] = [(0, 0, (x, y, int(self.grid.agent_dir)), [])]
        seen, count = set(), 0
        while ways:
            cost, _, (x, y, look), way = heapq.heappop(ways)
            if (x, y, look) in seen:
                continue
            seen.add((x, y, look))
            ahead = (x + AHEAD[look][0], y + AHEAD[look][1])
            thing = self.at(*ahead)
            if thing is not None and fits(thing):
                return way
            steps = [(LEFT, (x, y, (look - 1) % 4)), (RIGHT, (x, y, (look + 1) % 4))]
            door = thing is not None and thing.type == "door" and not thing.is_locked
            if thing is None or thing.can_overlap() or door:
                steps.append((FORWARD, (*ahead, look)))
            for action, place in steps:
                count += 1
                heapq.heappush(ways, (cost + 1, count, place, [*way, action]))
        raise BackplayError("There is no way to what was asked for")
