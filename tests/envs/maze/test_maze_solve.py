"""Distances, A* and the walker, against networkx and a plain search written for these tests."""

from __future__ import annotations

import heapq

import networkx as nx
import numpy as np
import pytest

from backplay.envs.maze import distances_to_goals, generate_set, shortest_path
from backplay.envs.maze.rules import after, find_exits, offsets
from backplay.envs.maze.solve import (
    Desk,
    cells_off,
    distances_from,
    guess,
    planned_actions,
    spread,
    walk,
)
from backplay.envs.maze.worlds import from_map

STEPS = {0: (0, 0), 1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}


def boards(n: int = 12) -> list[tuple[np.ndarray, int, int]]:
    """Random boards of several shapes and densities, with two free cells each."""
    rng = np.random.default_rng(0)
    made = []
    for i in range(n):
        shape = (2 + i % 9, 11 - i % 9) if i % 2 else (9, 9)
        walls = rng.random(shape) < 0.1 * (i % 5)
        start, goal = rng.choice(walls.size, 2, replace=False)
        walls.flat[[start, goal]] = False
        made.append((walls, int(start), int(goal)))
    return made


def graph(walls: np.ndarray) -> nx.Graph:
    height, width = walls.shape
    grid = nx.grid_2d_graph(height, width)
    grid.remove_nodes_from([(y, x) for y, x in np.argwhere(walls).tolist()])
    return nx.relabel_nodes(grid, {(y, x): y * width + x for y, x in grid})


def plain_step(walls: np.ndarray, cell: int, action: int) -> int:
    height, width = walls.shape
    y, x = cell // width + STEPS[action][0], cell % width + STEPS[action][1]
    inside = 0 <= y < height and 0 <= x < width
    return y * width + x if inside and not walls[y, x] else cell


def plain_a_star(walls: np.ndarray, start: int, goal: int) -> list[int] | None:
    """Textbook A*: frontier of (cost + heuristic, position), neighbours down, up, right, left."""
    width = walls.shape[1]

    def far(cell: int) -> int:
        return abs(cell // width - goal // width) + abs(cell % width - goal % width)

    frontier, cost, came = [(0, divmod(start, width))], {start: 0}, {start: start}
    while frontier:
        _, (y, x) = heapq.heappop(frontier)
        cell = y * width + x
        if cell == goal:
            path = [goal]
            while path[-1] != start:
                path.append(came[path[-1]])
            return path[::-1]
        for action in (2, 1, 4, 3):
            other = plain_step(walls, cell, action)
            if other != cell and cost[cell] + 1 < cost.get(other, 10**9):
                cost[other], came[other] = cost[cell] + 1, cell
                heapq.heappush(frontier, (cost[other] + far(other), divmod(other, width)))
    return None


@pytest.mark.parametrize(("walls", "start", "goal"), boards())
def test_actions_lead_where_the_rules_say(walls: np.ndarray, start: int, goal: int) -> None:
    exits = np.zeros(walls.size, np.uint8)
    find_exits(walls.reshape(-1), *walls.shape, exits)
    for cell in np.flatnonzero(~walls.reshape(-1)):
        for action in range(5):
            moved = after(exits, offsets(walls.shape[1]), int(cell), action)
            assert moved == plain_step(walls, int(cell), action)


@pytest.mark.parametrize(("walls", "start", "goal"), boards())
def test_distances_are_those_of_networkx(walls: np.ndarray, start: int, goal: int) -> None:
    expected = np.full(walls.size, -1)
    for cell, distance in nx.single_source_shortest_path_length(graph(walls), goal).items():
        expected[cell] = distance
    assert np.array_equal(distances_from(walls, goal), expected)


def test_a_search_for_one_cell_ends_there_with_its_distance() -> None:
    for walls, start, goal in boards():
        exits, desk = np.zeros(walls.size, np.uint8), Desk.of(walls.size)
        find_exits(walls.reshape(-1), *walls.shape, exits)
        moves = offsets(walls.shape[1])
        found = spread(exits, moves, goal, start, desk.queue, desk.distances)
        assert found == distances_from(walls, goal)[start]


@pytest.mark.parametrize(("walls", "start", "goal"), boards(24))
def test_a_star_goes_as_the_textbook_does(walls: np.ndarray, start: int, goal: int) -> None:
    path, plain = shortest_path(walls, start, goal), plain_a_star(walls, start, goal)
    assert (path is None) == (plain is None)
    if path is not None:
        assert path.tolist() == plain
        assert len(path) - 1 == nx.shortest_path_length(graph(walls), start, goal)


def test_demonstrations_without_noise_plan_anew_at_every_step() -> None:
    mazes = generate_set(4, 0)
    for i in range(4):
        goal = int(mazes.goals[i])
        for here, then in zip(mazes.paths[i][:-1], mazes.paths[i][1:], strict=True):
            plain = plain_a_star(mazes.walls[i], int(here), goal)
            assert then == plain[1]


def test_distances_to_all_goals() -> None:
    mazes = generate_set(5, 1)
    found = distances_to_goals(mazes)
    assert found.shape == (5, 576)
    assert found.dtype == np.int32
    for i in range(5):
        assert np.array_equal(found[i], distances_from(mazes.walls[i], int(mazes.goals[i])))
        assert found[i, mazes.starts[i]] == mazes.distances[i]


def test_the_walker_errs_as_often_as_asked_and_among_the_other_four_evenly() -> None:
    walls = np.zeros((3, 40), np.bool_)
    start, goal = 40, 79  # along the middle row, with a single shortest path: always right
    exits, desk = np.zeros(120, np.uint8), Desk.of(120)
    find_exits(walls.reshape(-1), 3, 40, exits)
    guess(goal, 3, 40, desk.guesses)
    spread(exits, offsets(40), goal, -1, desk.queue, desk.distances)
    stream, path, actions = np.array([7], np.uint64), np.zeros(901, np.int32), np.zeros(901, "i1")
    counts = np.zeros(5, np.int64)
    for _ in range(400):
        walk(
            exits, offsets(40), desk.guesses, desk.distances, start, goal, 0.6, 800,
            stream, desk.heap, desk.costs, desk.arrivals, path, actions,
        )  # fmt: skip
        counts[actions[0]] += 1
    assert counts[4] == pytest.approx(240, abs=4 * np.sqrt(400 * 0.6 * 0.4))
    assert counts[:4].min() > 20
    assert counts[:4].max() < 65


def test_asked_along_a_demonstration_a_star_says_what_was_done() -> None:
    mazes = generate_set(5, 0)
    for maze, (path, actions) in enumerate(zip(mazes.paths, mazes.actions, strict=True)):
        places = np.stack([np.full(len(actions), maze), path[:-1]], 1)
        assert np.array_equal(planned_actions(mazes, places), actions)
    at_the_goal = np.array([[1, mazes.goals[1]]])
    assert planned_actions(mazes, at_the_goal).tolist() == [0]


def test_cells_off_a_demonstration_are_counted_in_steps_not_as_the_crow_flies() -> None:
    mazes = from_map("""
        S>>G
        ##.#
        ....
    """)
    assert [cells_off(mazes, steps)[1].tolist() for steps in (1, 2, 3, 9)] == [
        [6], [10], [9, 11], [],
    ]  # fmt: skip
    where, cells = cells_off(generate_set(3, 0), 1)
    assert sorted(set(where.tolist())) == [0, 1, 2]
    assert len(cells) == len(where) > 30
