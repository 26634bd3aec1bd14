"""Where episodes can start: the states of demonstrations, and of random walks from them.

Comes in: a set of mazes, starts as a curriculum draws them, and the walks it asks for. Goes out:
for each start the maze, the cell and the clock. Does not know: who draws, or what is played.

A start whose demo is a maze's index is a state of its demonstration. Any other demo is the id of a
walk that is held; a step beyond its last state means that state. A walk goes on from where it set
out, clock and all, when it has come to the goal or to the end of its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from backplay.data.arrays import checked_array
from backplay.envs.maze.rules import ACTIONS, offsets, wander
from backplay.envs.maze.sets import MazeSet
from backplay.errors import BackplayError, ensure
from backplay.records import Start, Walk

Ints = NDArray[np.int64]


class Walked(NamedTuple):
    """A walk that was walked."""

    walk: Walk
    maze: int
    left: int
    """Steps that the demonstration takes from where it was left, and those walked since."""
    cells: NDArray[np.int32]
    """Its states, [steps + 1]; none is an end."""
    clocks: NDArray[np.int32]
    """The clock in each of them."""


class Places(NamedTuple):
    """What k starts mean."""

    mazes: Ints
    cells: NDArray[np.int32]
    clocks: Ints
    left: Ints
    """Steps that the demonstration takes from there; for a state of a walk, from where the
    demonstration was left, and the steps walked since: as `BackplayEnv` counts them."""


class _Table:
    """The states of paths in mazes that are no ends, one row for each path."""

    def __init__(
        self,
        mazes: ArrayLike,
        paths: Sequence[NDArray[np.int32]],
        clocks: Sequence[NDArray[np.int32]],
    ) -> None:
        lengths = np.array([len(path) for path in paths], np.int64)
        self.mazes = np.asarray(mazes, np.int64)
        self.cells = np.concatenate([np.zeros(0, np.int32), *paths])
        self.clocks = np.concatenate([np.zeros(0, np.int32), *clocks])
        self.first, self.last = np.cumsum(lengths) - lengths, lengths - 1

    def look_up(self, row: Ints, step: Ints) -> tuple[Ints, NDArray[np.int32], Ints]:
        """Maze, cell and clock of these states; a step beyond the last state is that one."""
        at = self.first[row] + np.minimum(step, self.last[row])
        return self.mazes[row], self.cells[at], self.clocks[at].astype(np.int64)


class States:
    """All states in which an episode can start now."""

    def __init__(self, mazes: MazeSet, fresh: bool) -> None:
        """The states of the demonstrations; with `fresh`, the clock is 0 in all of them."""
        self.mazes, self._fresh = mazes, fresh
        paths = [path[:-1] for path in mazes.paths]
        clocks = [np.arange(len(path), dtype=np.int32) for path in paths]
        self._demos = _Table(np.arange(mazes.num_mazes), paths, clocks)
        self._keep({})

    @property
    def walks(self) -> list[Walked]:
        """The walks that are held."""
        return list(self._walks.values())

    def _keep(self, walks: dict[int, Walked]) -> None:
        self._walks = walks
        held = [walks[demo] for demo in sorted(walks)]
        self._ids = np.array(sorted(walks), np.int64)
        self._left = np.array([one.left for one in held], np.int64)
        self._steps = np.array([one.walk.steps for one in held], np.int64)
        self._walked = _Table(
            [one.maze for one in held], [one.cells for one in held], [one.clocks for one in held]
        )

    def look_up(self, demo: Ints, step: Ints) -> Places:
        """Where the starts demo [k], step [k] are."""
        n = self.mazes.num_mazes
        on_walk = demo >= n
        row = np.where(on_walk | (demo < 0), 0, demo)
        known = (demo >= 0) & (step >= 0) & (on_walk | (step <= self._demos.last[row]))
        walked = np.searchsorted(self._ids, demo[on_walk])
        if len(walked):
            held = self._ids.take(walked, mode="clip") if len(self._ids) else -1
            known[on_walk] &= held == demo[on_walk]
        if not known.all():
            wrong = int(known.argmin())
            raise _no_state(n, int(demo[wrong]), int(step[wrong]))
        mazes, cells, clocks = self._demos.look_up(row, step)
        left = self.mazes.lengths[row] - step
        if len(walked):
            step = step[on_walk]
            mazes[on_walk], cells[on_walk], clocks[on_walk] = self._walked.look_up(walked, step)
            left[on_walk] = self._left[walked] + np.minimum(step, self._steps[walked])
        return Places(mazes, cells, np.zeros_like(clocks) if self._fresh else clocks, left)

    def hold(self, walks: Iterable[Walk]) -> int:
        """Holds exactly these walks: walks the new ones in order, drops others; the steps taken."""
        wanted = {walk.demo: walk for walk in map(self._checked, walks)}
        held, taken, anew = dict(self._walks), 0, set()
        for walk in wanted.values():
            known = held.get(walk.demo)
            # What sets out from a walk that is walked anew is walked anew, too.
            if known is None or known.walk != walk or walk.start.demo in anew:
                held[walk.demo], steps = self._take(walk, held)
                taken += steps
                anew.add(walk.demo)
        self._keep({demo: held[demo] for demo in wanted})
        return taken

    def _take(self, walk: Walk, held: dict[int, Walked]) -> tuple[Walked, int]:
        """Random actions; where they would end an episode, it goes on from where it set out."""
        maze, cell, clock, left = self._state(walk.start, held)
        mazes = self.mazes
        actions = np.random.default_rng(walk.seed).integers(ACTIONS, size=walk.steps)
        cells, since = np.empty((2, walk.steps + 1), np.int32)
        wander(
            mazes.exits[maze], offsets(mazes.width), cell, mazes.goals[maze],
            mazes.max_steps - clock, actions.astype(np.int8), cells, since,
        )  # fmt: skip
        return Walked(walk, maze, left, cells.copy(), since + np.int32(clock)), walk.steps

    def _state(self, start: Start, held: dict[int, Walked]) -> tuple[int, int, int, int]:
        """Maze, cell, clock and steps left of one start."""
        demo, step = start
        if demo in held and step >= 0:
            walked = held[demo]
            at = min(step, len(walked.cells) - 1)
            maze, cell, clock = walked.maze, int(walked.cells[at]), int(walked.clocks[at])
            left = walked.left + min(step, walked.walk.steps)
        elif 0 <= demo < self.mazes.num_mazes and 0 <= step < self.mazes.lengths[demo]:
            maze, cell, clock = demo, int(self.mazes.paths[demo][step]), step
            left = int(self.mazes.lengths[demo]) - step
        else:
            raise _no_state(self.mazes.num_mazes, demo, step)
        return maze, cell, 0 if self._fresh else clock, left

    def _checked(self, walk: Any) -> Walk:
        demo, start, steps, seed = walk
        ensure(
            demo >= self.mazes.num_mazes and steps >= 0 and seed >= 0, "walks",
            "a number beyond the demonstrations, steps and a seed from 0 on", walk,
        )  # fmt: skip
        return Walk(int(demo), Start(*map(int, start)), int(steps), int(seed))

    def get_state(self) -> list[dict[str, Any]]:
        """The walks as plain data."""
        return [
            {
                "demo": held.walk.demo, "start": list(held.walk.start), "steps": held.walk.steps,
                "seed": held.walk.seed, "maze": held.maze,
                "left": held.left, "cells": held.cells.copy(), "clocks": held.clocks.copy(),
            }
            for held in self.walks
        ]  # fmt: skip

    def set_state(self, state: list[dict[str, Any]]) -> None:
        """Holds the walks of `get_state` again, without walking."""
        walks = {}
        for one in state:
            walk = self._checked(Walk(one["demo"], Start(*one["start"]), one["steps"], one["seed"]))
            cells, clocks = (
                checked_array(
                    name, one[name], np.int32, (walk.steps + 1,), low=0, high=highest - 1
                ).copy()
                for name, highest in (
                    ("cells", self.mazes.cells),
                    ("clocks", self.mazes.max_steps),
                )
            )
            maze = int(one["maze"])
            if not 0 <= maze < self.mazes.num_mazes:
                raise ValueError("a walk in another set of mazes")
            walks[walk.demo] = Walked(walk, maze, int(one["left"]), cells, clocks)
        self._keep(walks)


def _no_state(n: int, demo: int, step: int) -> BackplayError:
    return BackplayError(
        "start", expected=f"a state before the end of one of {n} demonstrations, or of a walk held",
        got=f"Start(demo={demo}, step={step})",
        do="Set a curriculum that lists the walk, or draw other starts.",
    )  # fmt: skip
