"""Sets of mazes with a demonstration each, and the file that keeps them.

    library = generate(extra=5, seed=0)
    library.save("mazes.npz")
    mazes = load_mazes("mazes.npz").training

Comes in: walls, starts, goals and demonstrations. Goes out: the same, checked against the rules.
Does not know: where mazes come from, or who plays in them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from backplay.data import archive
from backplay.envs.maze.rules import are_actions, find_all_exits, follow, offsets
from backplay.envs.maze.solve import distances_to_goals
from backplay.errors import BackplayError, DemonstrationError, refusing, show

_KIND = "backplay mazes"
_FIELDS = {"training", "held_out", "extra", "seed", "follow"}
_SET = {
    "walls", "starts", "goals", "distances", "lengths", "actions",
    "max_steps", "step_reward", "goal_reward",
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class MazeSet:
    """n mazes of one size, with a demonstration of each. A cell is y * width + x."""

    walls: NDArray[np.bool_]
    """[n, height, width]"""
    starts: NDArray[np.int32]
    """[n]"""
    goals: NDArray[np.int32]
    """[n]"""
    distances: NDArray[np.int32]
    """Steps of the shortest path from start to goal, [n]."""
    paths: tuple[NDArray[np.int32], ...]
    """The cells of demonstration i, [T_i + 1]: from the start to the goal."""
    actions: tuple[NDArray[np.int8], ...]
    """Its actions, [T_i]."""
    max_steps: int = 200
    """The step at which an episode is truncated."""
    step_reward: float = -0.03
    """Of every step, the last one too."""
    goal_reward: float = 1.0
    """Added in the step that reaches the goal."""

    def __post_init__(self) -> None:
        self._keep("walls", _as(self.walls, np.bool_, "walls"))
        if self.walls.ndim != 3 or not self.cells:
            raise _wrong("walls", "an array [n, height, width]", self.walls.shape)
        for name in ("starts", "goals", "distances"):
            self._keep(name, _as(getattr(self, name), np.int32, name))
            if getattr(self, name).shape != (self.num_mazes,):
                raise _wrong(name, f"[{self.num_mazes}]", getattr(self, name).shape)
        for name, dtype in (("paths", np.int32), ("actions", np.int8)):
            self._keep(name, tuple(_as(one, dtype, name) for one in getattr(self, name)))
            if len(getattr(self, name)) != self.num_mazes:
                raise _wrong(name, f"one for each of {self.num_mazes}", len(getattr(self, name)))
        if type(self.max_steps) is not int or self.max_steps < 1:
            raise _wrong("max_steps", "a whole number from 1 on", self.max_steps)
        for name in ("step_reward", "goal_reward"):
            if not np.isfinite(getattr(self, name)):
                raise _wrong(name, "a finite number", getattr(self, name))
        for i in range(self.num_mazes):
            self._check_maze(i)

    def _keep(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_maze(self, i: int) -> None:
        """Raises unless maze `i` can be played, and its demonstration is a game in it."""
        start, goal, cells = int(self.starts[i]), int(self.goals[i]), self.cells
        free = 0 <= start < cells and 0 <= goal < cells and not self._flat[i, [start, goal]].any()
        if not free or start == goal:
            raise _wrong(f"maze {i}", "start and goal on two free cells", (start, goal))
        path, actions = self.paths[i], self.actions[i]
        steps = len(actions)
        if path.shape != (steps + 1,) or actions.ndim != 1 or not 1 <= steps <= self.max_steps:
            shapes = f"{path.shape} cells and {actions.shape} actions"
            raise _wrong(
                f"demonstration {i}", f"1 to {self.max_steps} actions, and a cell more", shapes
            )
        if not are_actions(actions):
            raise _wrong(f"actions of demonstration {i}", "0 to 4", actions)
        again = np.empty(steps + 1, np.int32)
        follow(self.exits[i], self._offsets, start, actions, again)
        if (again != path).any():
            at = int((again != path).argmax())
            raise _wrong(f"demonstration {i}, state {at}", f"cell {again[at]}", int(path[at]))
        if path[-1] != goal or (path[:-1] == goal).any():
            raise _wrong(f"demonstration {i}", f"cell {goal} at its end and not before", path)
        if not 1 <= self.distances[i] <= steps:
            raise _wrong(f"distances[{i}]", f"1 to {steps}", int(self.distances[i]))

    @property
    def num_mazes(self) -> int:
        """How many mazes: n."""
        return len(self.walls)

    @property
    def height(self) -> int:
        """Rows of cells."""
        return int(self.walls.shape[1])

    @property
    def width(self) -> int:
        """Columns of cells."""
        return int(self.walls.shape[2])

    @property
    def cells(self) -> int:
        """Cells of one maze, height * width."""
        return self.height * self.width

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Steps of each demonstration, T: [n]."""
        return np.array([len(actions) for actions in self.actions], np.int64)

    @cached_property
    def exits(self) -> NDArray[np.uint8]:
        """Which actions move the agent, as bits: [n, cells]; see `rules`."""
        exits = np.zeros((self.num_mazes, self.cells), np.uint8)
        find_all_exits(self._flat, self.height, self.width, exits)
        return exits

    @property
    def _flat(self) -> NDArray[np.bool_]:
        return self.walls.reshape(self.num_mazes, self.cells)

    @cached_property
    def _offsets(self) -> NDArray[np.int32]:
        return offsets(self.width)

    def select(self, indices: ArrayLike) -> MazeSet:
        """The set of these mazes, in this order."""
        chosen = np.atleast_1d(np.arange(self.num_mazes)[np.asarray(indices, np.int64)])
        return MazeSet(
            self.walls[chosen], self.starts[chosen], self.goals[chosen], self.distances[chosen],
            tuple(self.paths[i] for i in chosen), tuple(self.actions[i] for i in chosen),
            self.max_steps, self.step_reward, self.goal_reward,
        )  # fmt: skip

    def __len__(self) -> int:
        return self.num_mazes

    def __repr__(self) -> str:
        size = f"{self.height}x{self.width}"
        return f"<MazeSet {self.digest}: {self.num_mazes} mazes of {size}>"

    @cached_property
    def digest(self) -> str:
        """The same for the same mazes and demonstrations, so that sets can be told apart."""
        parts = (np.packbits(self.walls), self.starts, self.goals, _joined(self.actions))
        digest = hashlib.sha256(f"{self.max_steps} {self.step_reward} {self.goal_reward}".encode())
        for part in parts:
            digest.update(part.tobytes())
        return digest.hexdigest()[:12]


@dataclass(frozen=True, eq=False)
class MazeLibrary:
    """Mazes to learn from and mazes to be measured on."""

    training: MazeSet
    held_out: MazeSet
    """May be empty."""
    extra: int
    """N of N-Optimal: demonstrations take so many steps more than the shortest path."""
    seed: int
    follow: float
    """With which probability the walker followed A* at each step."""

    def save(self, path: str | Path) -> None:
        """Writes it to one file, atomically."""
        tree: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS}
        tree["training"], tree["held_out"] = _pack(self.training), _pack(self.held_out)
        archive.write(path, _KIND, tree)


def load_mazes(path: str | Path) -> MazeLibrary:
    """Reads a file of mazes; DemonstrationError if it is damaged, or holds no such mazes."""
    tree = archive.read(path, _KIND)
    with refusing(
        f"{path} holds no mazes", "what MazeLibrary.save wrote", do="Make it again with generate.",
        error=DemonstrationError,
    ):  # fmt: skip
        if set(tree) != _FIELDS:
            raise ValueError(f"the fields {sorted(map(str, tree))[:10]}")
        training, held_out = _unpack(tree["training"]), _unpack(tree["held_out"])
        extra, seed, follow = int(tree["extra"]), int(tree["seed"]), float(tree["follow"])
        return MazeLibrary(training, held_out, extra, seed, follow)


def training_mazes(mazes: Any) -> MazeSet:
    """The set itself, or the training part of a library or of its file."""
    if isinstance(mazes, str | Path):
        mazes = load_mazes(mazes)
    if isinstance(mazes, MazeLibrary):
        mazes = mazes.training
    if not isinstance(mazes, MazeSet):
        raise BackplayError(
            "mazes", expected="a MazeSet, a MazeLibrary or the path of its file", got=show(mazes),
            do="Make one with backplay.envs.maze.generate(seed=0).",
        )  # fmt: skip
    return mazes


def _joined(actions: Sequence[NDArray[np.int8]]) -> NDArray[np.int8]:
    return np.concatenate([np.zeros(0, np.int8), *actions])


def _pack(mazes: MazeSet) -> dict[str, Any]:
    tree = {name: getattr(mazes, name) for name in _SET}
    return {**tree, "actions": _joined(mazes.actions)}


def _unpack(tree: dict[str, Any]) -> MazeSet:
    """The set again; the paths follow from the actions, which must lead to the goals."""
    if set(tree) != _SET:
        raise ValueError(f"the fields {sorted(map(str, tree))[:10]}")
    lengths, together = np.asarray(tree["lengths"]), np.asarray(tree["actions"])
    if lengths.ndim != 1 or (lengths < 1).any() or lengths.sum() != len(together):
        raise ValueError("demonstrations of other lengths than it says")
    actions = tuple(np.split(together, np.cumsum(lengths))[:-1])
    walls, starts = tree["walls"], tree["starts"]
    paths = _replayed(np.asarray(walls), np.asarray(starts), actions)
    settings = (tree["max_steps"], tree["step_reward"], tree["goal_reward"])
    mazes = MazeSet(walls, starts, tree["goals"], tree["distances"], paths, actions, *settings)
    exact = distances_to_goals(mazes)[np.arange(mazes.num_mazes), mazes.starts]
    if (exact != mazes.distances).any():
        raise ValueError("distances that are not those of the shortest paths")
    return mazes


def _replayed(
    walls: NDArray[Any], starts: NDArray[Any], actions: tuple[NDArray[Any], ...]
) -> tuple[NDArray[np.int32], ...]:
    """Where the actions lead; nothing is believed that could lead off the board."""
    if walls.ndim != 3 or walls.dtype != np.bool_ or len(walls) != len(actions):
        raise ValueError("walls that are no boards")
    n, height, width = walls.shape
    if starts.shape != (n,) or (starts < 0).any() or (starts >= height * width).any():
        raise ValueError("starts that are no cells")
    exits = np.zeros((n, height * width), np.uint8)
    find_all_exits(np.ascontiguousarray(walls).reshape(exits.shape), height, width, exits)
    paths = []
    for i, taken in enumerate(actions):
        if taken.dtype != np.int8 or not are_actions(taken):
            raise ValueError("actions that are none")
        paths.append(np.empty(len(taken) + 1, np.int32))
        follow(exits[i], offsets(width), int(starts[i]), taken, paths[-1])
    return tuple(paths)


def _as(value: Any, dtype: Any, name: str) -> NDArray[Any]:
    """The array in this dtype, refused where numbers would change."""
    array = np.asarray(value)
    kinds = "b" if dtype is np.bool_ else "iu"
    if array.dtype.kind not in kinds:
        raise _wrong(name, "truth values" if kinds == "b" else "whole numbers", array.dtype)
    fits = np.ascontiguousarray(array, dtype)
    if (fits != array).any():
        raise _wrong(name, f"numbers that fit {np.dtype(dtype)}", value)
    return fits


def _wrong(what: str, expected: str, got: Any) -> BackplayError:
    return BackplayError(what, expected=expected, got=show(got))
