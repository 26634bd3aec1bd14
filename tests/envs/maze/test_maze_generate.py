"""Random mazes: what is drawn, what is accepted, and requests that cannot be met."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from scipy import stats

from backplay import BackplayError
from backplay.envs.maze import distances_to_goals, generate, generate_set
from backplay.envs.maze.generate import MazePlan, default_follow, draw_maze


@pytest.mark.parametrize("extra", [0, 1, 5, 10])
def test_demonstrations_are_long_enough_and_waste_exactly_so_many_steps(extra: int) -> None:
    library = generate(mazes=20, held_out=5, extra=extra, seed=extra)
    assert library.training.num_mazes == 20
    assert library.held_out.num_mazes == 5
    assert (library.extra, library.seed) == (extra, extra)
    assert library.follow == default_follow(extra)
    for mazes in (library.training, library.held_out):
        shortest = distances_to_goals(mazes)[np.arange(len(mazes)), mazes.starts]
        assert np.array_equal(mazes.distances, shortest)
        assert np.array_equal(mazes.lengths, shortest + extra)
        assert mazes.lengths.min() >= 35
        assert (mazes.walls.sum((1, 2)) == 120).all()
        y, x = np.divmod(mazes.starts, 24)
        v, u = np.divmod(mazes.goals, 24)
        assert (abs(y - v) + abs(x - u)).min() >= 10


def test_the_same_seed_makes_the_same_library_and_another_another() -> None:
    one, same, other = (generate(mazes=6, held_out=2, extra=5, seed=s) for s in (4, 4, 5))
    for a, b in ((one.training, same.training), (one.held_out, same.held_out)):
        assert np.array_equal(a.walls, b.walls)
        assert all(map(np.array_equal, a.actions, b.actions))
        assert repr(a) == repr(b)
    assert not np.array_equal(one.training.walls, other.training.walls)
    more = generate(mazes=7, held_out=0, extra=5, seed=4)
    assert np.array_equal(more.training.walls[:6], one.training.walls)
    assert more.held_out.num_mazes == 0


def test_a_set_takes_a_seed_or_a_generator() -> None:
    one = generate_set(3, 9, min_length=1)
    two = generate_set(3, np.random.default_rng(9), min_length=1)
    assert np.array_equal(one.walls, two.walls)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    generate(mazes=3, held_out=1, seed=0, progress=lambda made, wanted: told.append((made, wanted)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_start_goal_and_walls_are_uniform_where_nothing_is_rejected() -> None:
    recipe, stream = MazePlan(size=3, walls=0, min_length=1), np.array([1], np.uint64)
    pairs = np.zeros((9, 9))
    for _ in range(7_200):
        _, start, goal = draw_maze(recipe, stream)
        pairs[start, goal] += 1
    assert np.trace(pairs) == 0
    assert stats.chisquare(pairs[~np.eye(9, dtype=bool)]).pvalue > 1e-3
    one_wall = MazePlan(size=12, walls=1, min_length=1)  # never in the way
    walls = sum(draw_maze(one_wall, stream)[0].astype(int) for _ in range(7_200))
    assert stats.chisquare(np.ravel(walls)).pvalue > 1e-3


def test_random_boards_keep_the_distance_and_can_be_solved() -> None:
    stream = np.array([5], np.uint64)
    for min_distance, least in ((None, 10), (1, 1), (20, 20)):
        recipe = MazePlan(walls=200, min_distance=min_distance)
        seen = []
        for _ in range(60):
            walls, start, goal = draw_maze(recipe, stream)
            assert walls.sum() == 200
            assert not walls.flat[[start, goal]].any()
            seen.append(abs(start // 24 - goal // 24) + abs(start % 24 - goal % 24))
        assert min(seen) >= least
        assert min(seen) < least + 10
    assert MazePlan(size=9, walls=5, min_length=3).distance == 1  # the middle has no cell 10 away
    assert MazePlan(size=10, walls=5, min_length=3).distance == 10


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"walls": 575}, "walls"),
        ({"walls": -1}, "walls"),
        ({"size": 1}, "size"),
        ({"size": 5, "walls": 3}, "min_length"),
        ({"min_length": 201}, "min_length"),
        ({"min_length": 457, "max_steps": 1000}, "min_length"),
        ({"extra": -1}, "extra"),
        ({"extra": 200}, "extra"),
        ({"extra": 3, "follow": 1.0}, "follow"),
        ({"follow": 0.0}, "follow"),
        ({"follow": float("nan")}, "follow"),
        ({"min_distance": 25}, "min_distance"),
        ({"min_distance": 0}, "min_distance"),
        ({"mazes": 0}, "mazes"),
        ({"held_out": -1}, "held_out"),
        ({"seed": -1}, "seed"),
        ({"seed": "x"}, "seed"),
    ],
)
def test_impossible_requests_are_refused_by_name(asked: dict[str, Any], named: str) -> None:
    with pytest.raises(BackplayError) as caught:
        generate(**{"seed": 0, **asked})
    assert caught.value.what == named


def test_what_no_random_board_offers_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[MazePlan.__module__]  # the package's `generate` is the function
    monkeypatch.setattr(module, "_MOST_TRIES", 20_000)
    with pytest.raises(BackplayError, match="too rare"):
        generate(seed=0, min_length=150)
    with pytest.raises(BackplayError, match="too rare"):
        draw_maze(MazePlan(walls=574, min_length=1), np.array([0], np.uint64))
