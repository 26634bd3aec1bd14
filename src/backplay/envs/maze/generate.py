"""Random mazes with demonstrations of a wanted quality: N-Optimal sets, from a seed.

    library = generate(extra=5, seed=0)       # 100 mazes to train on, 10 held out

Start and goal are drawn, then the walls on other cells; a walker goes from start to goal. A maze
is kept if the goal can be reached, the walk has at least `min_length` steps, and these are exactly
`extra` more than needed; otherwise everything is drawn anew. Does not know: who will play.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.envs import chance
from backplay.envs.kernels import kernel
from backplay.envs.maze.rules import find_exits, offsets
from backplay.envs.maze.sets import MazeLibrary, MazeSet
from backplay.envs.maze.solve import UNREACHABLE, Desk, guess, spread, walk
from backplay.errors import BackplayError, show, whole

_LARGEST = 1000  # cells along a side
MIN_DISTANCE = 10  # from start to goal as the crow walks, as the paper's authors did
_TRIES, _MOST_TRIES = 4096, 2_000_000

Progress = Callable[[int, int], None]


@kernel
def draw_board(stream, height, width, count, min_distance, walls):  # type: ignore[no-untyped-def]
    """Fills walls [cells] with `count` walls; start and goal.

    The start is any cell, the goal any at a Manhattan distance of at least `min_distance`.
    """
    cells = height * width
    start = chance.below(stream, 0, cells)
    down, right = start // width, start % width
    goal = start
    while abs(goal // width - down) + abs(goal % width - right) < min_distance:
        goal = chance.below(stream, 0, cells)
    walls[:] = False
    left = count
    while left > 0:
        cell = chance.below(stream, 0, cells)
        if cell != start and cell != goal and not walls[cell]:
            walls[cell] = True
            left -= 1
    return start, goal


@kernel
def search(  # type: ignore[no-untyped-def]
    tries, stream, height, width, count, min_distance, shortest, longest, extra, follow,
    offsets, walls, exits, heap, costs, arrivals, guesses, queue, distances, path, actions, found,
):  # fmt: skip
    """Draws boards until one is fit: its demonstration's steps, or -1 after so many tries.

    found [3] becomes start, goal and distance, which is from `shortest` to `longest`.
    """
    for _ in range(tries):
        start, goal = draw_board(stream, height, width, count, min_distance, walls)
        find_exits(walls, height, width, exits)
        distance = spread(exits, offsets, goal, start, queue, distances)
        if distance < shortest or distance > longest:
            continue
        spread(exits, offsets, goal, UNREACHABLE, queue, distances)
        guess(goal, height, width, guesses)
        steps = walk(
            exits, offsets, guesses, distances, start, goal, follow, extra,
            stream, heap, costs, arrivals, path, actions,
        )  # fmt: skip
        if steps != UNREACHABLE:
            found[0], found[1], found[2] = start, goal, distance
            return steps
    return UNREACHABLE


def default_follow(extra: int) -> float:
    """How often the walker follows A* by default: about where most walks lose `extra` steps."""
    return 1.0 if extra == 0 else max(0.5, 1.0 - 0.02 * extra)


@dataclass(frozen=True, kw_only=True)
class MazePlan:
    """What mazes and demonstrations are wanted."""

    size: int = 24
    """Rows and columns."""
    walls: int = 120
    """Cells that are walls."""
    extra: int = 0
    """Steps of a demonstration beyond the shortest path, exactly."""
    min_length: int = 35
    """Fewest steps of a demonstration."""
    follow: float | None = None
    """Probability of following A* at each step; None for `default_follow`."""
    min_distance: int | None = None
    """Least Manhattan distance of start and goal; None for 10, or 1 on boards too small for it."""
    max_steps: int = 200
    """Of an episode, and so of a demonstration."""

    def __post_init__(self) -> None:
        for name, least in (("size", 2), ("walls", 0), ("extra", 0), ("max_steps", 1)):
            whole(name, getattr(self, name), least)
        whole("min_length", self.min_length, 0)
        if self.size > _LARGEST:
            raise _impossible("size", f"at most {_LARGEST}", self.size)
        if self.walls > self.size**2 - 2:
            raise _impossible("walls", f"at most {self.size**2 - 2}, all but two cells", self.walls)
        shortest = self.min_length - self.extra
        if shortest >= self.size**2 - self.walls or self.min_length > self.max_steps:
            raise _impossible(
                "min_length", "a path that fits the board's free cells and max_steps",
                f"{self.min_length} steps among {self.size**2 - self.walls} free cells"
                f" in {self.max_steps} steps",
            )  # fmt: skip
        if self.extra >= self.max_steps:
            raise _impossible("extra", f"less than max_steps ({self.max_steps})", self.extra)
        if not 0.0 < self.probability <= 1.0 or (self.extra and self.probability == 1.0):
            raise _impossible(
                "follow", "a probability above 0, and below 1 if extra steps are wanted",
                self.follow,
            )  # fmt: skip
        whole("min_distance", self.distance, 1)
        if self.distance > self._farthest:
            raise _impossible(
                "min_distance", f"at most {self._farthest}, so that every start has a goal",
                self.min_distance,
            )  # fmt: skip

    @property
    def probability(self) -> float:
        """Of following A*."""
        return default_follow(self.extra) if self.follow is None else self.follow

    @property
    def distance(self) -> int:
        """Least Manhattan distance of start and goal."""
        if self.min_distance is not None:
            return self.min_distance
        return MIN_DISTANCE if self._farthest >= MIN_DISTANCE else 1

    @property
    def _farthest(self) -> int:
        """How far the farthest cell is from the middle of the board."""
        return 2 * (self.size // 2)


class Generator:
    """Mazes one after another, from one random stream."""

    def __init__(self, recipe: MazePlan, stream: NDArray[np.uint64]) -> None:
        cells = recipe.size**2
        self.recipe, self.stream = recipe, stream
        self.walls, self._exits = np.zeros(cells, np.bool_), np.zeros(cells, np.uint8)
        self._desk, self._offsets = Desk.of(cells), offsets(recipe.size)
        # A walk may take one step too many before it is given up.
        self._path = np.zeros(recipe.max_steps + 2, np.int32)
        self._actions = np.zeros(recipe.max_steps + 2, np.int8)
        self._found = np.zeros(3, np.int32)

    def next(self) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.int32], NDArray[Any]]:
        """The next maze that is fit: walls [cells]; start, goal and distance; path; actions."""
        recipe, desk = self.recipe, self._desk
        shortest = max(1, recipe.min_length - recipe.extra)
        for _ in range(0, _MOST_TRIES, _TRIES):
            steps = search(
                _TRIES, self.stream, recipe.size, recipe.size, recipe.walls, recipe.distance,
                shortest, recipe.max_steps - recipe.extra, recipe.extra, recipe.probability,
                self._offsets, self.walls, self._exits, desk.heap, desk.costs, desk.arrivals,
                desk.guesses, desk.queue, desk.distances, self._path, self._actions, self._found,
            )  # fmt: skip
            if steps != UNREACHABLE:
                path, actions = self._path[: steps + 1], self._actions[:steps]
                return self.walls.copy(), self._found.copy(), path.copy(), actions.copy()
        raise _too_rare(recipe)


def draw_maze(recipe: MazePlan, stream: NDArray[np.uint64]) -> tuple[NDArray[np.bool_], int, int]:
    """Walls [size, size], start and goal of one random maze that can be solved in time."""
    size = recipe.size
    desk, exits = Desk.of(size**2), np.zeros(size**2, np.uint8)
    walls, moves = np.zeros(size**2, np.bool_), offsets(size)
    for _ in range(_MOST_TRIES):
        start, goal = draw_board(stream, size, size, recipe.walls, recipe.distance, walls)
        find_exits(walls, size, size, exits)
        distance = spread(exits, moves, goal, start, desk.queue, desk.distances)
        if distance != UNREACHABLE and distance <= recipe.max_steps:
            return walls.reshape(size, size), start, goal
    raise _too_rare(recipe)


def generate_set(
    n: int,
    seed: int | np.random.Generator,
    *,
    progress: Progress | None = None,
    **recipe: Any,
) -> MazeSet:
    """A set of n mazes: the same for the same seed. `recipe`: the fields of `MazePlan`."""
    return make_set(n, _generator(seed), MazePlan(**recipe), progress)


def make_set(
    n: int, rng: np.random.Generator, recipe: MazePlan, progress: Progress | None = None
) -> MazeSet:
    """A set of n mazes made by a recipe."""
    whole("n", n, 1)
    generator = Generator(recipe, chance.drawn_from(rng))
    made = []
    for i in range(n):
        made.append(generator.next())
        if progress is not None:
            progress(i + 1, n)
    walls, found, paths, actions = zip(*made, strict=True)
    starts, goals, distances = np.stack(found, 1)
    boards = np.stack(walls).reshape(n, recipe.size, recipe.size)
    return MazeSet(boards, starts, goals, distances, paths, actions, recipe.max_steps)


def generate(
    *,
    mazes: int = 100,
    held_out: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
    **plan: Any,
) -> MazeLibrary:
    """A library of `mazes` to train on and `held_out` to measure on: the same for the same seed.

    `progress` is called with the mazes made and the mazes wanted. The others are the fields of
    `MazePlan`: `extra`, `size`, `walls`, `min_length`, `follow`, `min_distance`, `max_steps`.
    """
    whole("mazes", mazes, 1)
    whole("held_out", held_out, 0)
    whole("seed", seed, 0)
    recipe = MazePlan(**plan)
    made = make_set(mazes + held_out, _generator(seed), recipe, progress)
    training, others = (made.select(part) for part in np.split(np.arange(len(made)), [mazes]))
    return MazeLibrary(training, others, recipe.extra, seed, recipe.probability)


def _generator(seed: Any) -> np.random.Generator:
    if isinstance(seed, np.random.Generator):
        return seed
    whole("seed", seed, 0)
    return np.random.default_rng(seed)


def _impossible(what: str, expected: str, got: Any) -> BackplayError:
    return BackplayError(
        what, expected=expected, got=show(got) if not isinstance(got, str) else got
    )


def _too_rare(recipe: MazePlan) -> BackplayError:
    return BackplayError(
        "Such mazes are too rare", expected=f"one among {_MOST_TRIES} random boards",
        got=show(recipe, 300), do="Ask for fewer walls, a lower min_length or another extra.",
    )  # fmt: skip
