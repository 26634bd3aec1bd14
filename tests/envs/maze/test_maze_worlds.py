"""The grid worlds: what the paper says of each, checked with networkx on the maps themselves."""

from __future__ import annotations

from itertools import pairwise

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest

import backplay as bp
from backplay.envs.maze import MazeVector, play
from backplay.envs.maze.fast_network import FastMazeNetwork
from backplay.envs.maze.worlds import WORLDS, beside, drawing, from_map, world

Cell = tuple[int, int]


def drawn(name: str) -> list[str]:
    return drawing(name).split()


def find(name: str, sign: str) -> Cell:
    return next((y, row.index(sign)) for y, row in enumerate(drawn(name)) if sign in row)


def graph(name: str) -> nx.Graph:
    """The free cells of a map, by row and column."""
    rows = drawn(name)
    whole = nx.grid_2d_graph(len(rows), len(rows[0]))
    whole.remove_nodes_from([(y, x) for y, x in list(whole) if rows[y][x] == "#"])
    return whole


def path(name: str) -> list[Cell]:
    """The demonstration's cells, as the library has them."""
    mazes = world(name)
    return [divmod(int(cell), mazes.width) for cell in mazes.paths[0]]


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_is_its_map(name: str) -> None:
    mazes, rows, cells = world(name), drawn(name), path(name)
    assert mazes.num_mazes == 1
    assert mazes.walls[0].tolist() == [[sign == "#" for sign in row] for row in rows]
    assert (cells[0], cells[-1]) == (find(name, "S"), find(name, "G"))
    assert mazes.distances[0] == nx.shortest_path_length(graph(name), cells[0], cells[-1])
    arrow = {(-1, 0): "^", (1, 0): "v", (0, -1): "<", (0, 1): ">"}
    for (y, x), (below, right) in pairwise(cells[1:]):
        assert rows[y][x] == arrow[below - y, right - x]
    assert sum(sign in "^v<>" for row in rows for sign in row) == len(cells) - 2
    assert 15 <= mazes.height <= 24
    assert 15 <= mazes.width <= 24
    assert nx.is_connected(graph(name))


def test_the_open_world_has_no_walls_and_a_demonstration_with_detours() -> None:
    mazes = world("open")
    assert not mazes.walls.any()
    assert mazes.lengths[0] > 2 * mazes.distances[0]


def test_the_bottlenecks_are_cells_that_every_way_passes() -> None:
    cells, start, goal = graph("bottlenecks"), find("bottlenecks", "S"), find("bottlenecks", "G")
    assert world("bottlenecks").lengths[0] == world("bottlenecks").distances[0]
    cuts = [
        cell
        for cell in path("bottlenecks")[1:-1]
        if not nx.has_path(nx.restricted_view(cells, [cell], []), start, goal)
    ]
    # Two doors with the cells before and behind them, and no other: the chambers are wide.
    assert cuts == [(16, 6), (15, 6), (14, 6), (8, 1), (7, 1), (6, 1)]


def test_the_right_chamber_is_a_large_dead_end() -> None:
    cells, start = graph("bottlenecks"), find("bottlenecks", "S")
    door = (11, 7)
    assert door in set(nx.articulation_points(cells))
    parts = list(nx.connected_components(nx.restricted_view(cells, [door], [])))
    (errant,) = [part for part in parts if start not in part]
    assert find("bottlenecks", "G") not in errant
    assert len(errant) > len(cells) / 2
    assert not errant & set(path("bottlenecks"))
    assert min(x for _, x in errant) > max(x for _, x in path("bottlenecks"))
    # The fork: the door opens into the chamber that lies between the two others on the way.
    fork = (11, 6)
    assert nx.shortest_path_length(cells, fork, (7, 1)) < nx.shortest_path_length(
        cells, fork, start
    )


def test_the_basin_has_two_ways_round_it() -> None:
    cells, start, goal = graph("basin"), find("basin", "S"), find("basin", "G")
    right_edge = max(x for _, x in cells)
    edge = {cell for cell in cells if cell[0] in (0, right_edge) or cell[1] in (0, right_edge)}
    basin = set(cells) - edge

    def length(without: set[Cell]) -> int:
        rest = nx.restricted_view(cells, without, [])
        return int(nx.shortest_path_length(rest, start, goal))

    left = {cell for cell in edge if cell[1] == 0}
    right = {cell for cell in edge if cell[1] == right_edge}
    assert length(basin | left) == world("basin").distances[0] == 35
    assert length(basin | right) == 37
    assert length(left | right) == 53  # even the best way through the basin is far longer
    assert world("basin").lengths[0] == 63
    inside = [cell for cell in path("basin") if cell in basin]
    assert len(inside) > 0.9 * len(path("basin"))
    assert path("basin")[1] in basin  # straight in


@pytest.mark.parametrize("name", WORLDS)
def test_worlds_are_played_like_any_mazes(name: str) -> None:
    mazes = world(name)
    env = gym.make("Backplay/Maze-v0", mazes=mazes)
    demo = bp.record(env, mazes.actions[0].tolist())
    assert demo.success
    assert bp.check(env, demo).exact
    envs = MazeVector(4, mazes, curriculum=bp.Uniform())
    seen, _ = envs.reset(seed=0)
    assert set(seen[:, 1].tolist()) <= set(mazes.paths[0].tolist())


def test_the_network_of_the_paper_takes_a_world() -> None:
    import torch

    mazes = world("basin")
    network = FastMazeNetwork(mazes.walls, mazes.goals, seed=0)
    seen = torch.tensor([[0, int(mazes.starts[0])], [0, int(mazes.goals[0]) + 1]])
    logits, values = network(seen)
    assert (logits.shape, values.shape) == ((2, 5), (2,))


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("name", WORLDS)
def test_beside_is_near_the_demonstration_and_off_it(name: str, steps: int) -> None:
    mazes, cells = world(name), graph(name)
    away = nx.multi_source_dijkstra_path_length(cells, set(path(name)))
    wanted = {cell for cell, far in away.items() if 1 <= far <= steps}
    found = beside(mazes, steps)
    assert {divmod(int(cell), mazes.width) for cell in found.starts} == wanted
    assert len(found) == len(wanted)
    to_goal = nx.single_source_shortest_path_length(cells, find(name, "G"))
    for start, distance in zip(found.starts, found.distances, strict=True):
        assert distance == to_goal[divmod(int(start), mazes.width)]


def test_beside_plays_from_there() -> None:
    found = beside(world("bottlenecks"))
    taken = np.zeros(len(found), np.int64)

    def act(places: np.ndarray) -> list[int]:
        actions = [int(found.actions[i][taken[i]]) for i in places[:, 0]]
        taken[places[:, 0]] += 1
        return actions

    played = play(found, act)
    assert played.successes.all()
    assert not played.extra.any()


@pytest.mark.parametrize(
    ("drawing", "words"),
    [
        ("S>G\n..", "rows of one length"),
        ("", "rows of one length"),
        ("S>x", "one S and one G"),
        ("S>S>G", "one S and one G"),
        ("S..G", "on one way"),
        ("S.>G", "on one way"),
        ("S>#G", "on one way"),
        ("S>G>", "on one way"),
        ("S>>G\n.><.", "on one way"),
        ("S>.G", "on one way"),
        ("SvG\n.>.", "on one way"),
    ],
)
def test_maps_that_are_none_are_refused(drawing: str, words: str) -> None:
    with pytest.raises(bp.BackplayError, match=words):
        from_map(drawing)


def test_a_map_by_hand() -> None:
    mazes = from_map("S#G\n>>^", max_steps=9)
    assert mazes.paths[0].tolist() == [0, 3, 4, 5, 2]
    assert mazes.actions[0].tolist() == [2, 4, 4, 1]
    assert (mazes.max_steps, int(mazes.distances[0])) == (9, 4)


def test_an_arrow_over_the_edge_of_the_map_is_refused() -> None:
    with pytest.raises(bp.BackplayError):
        from_map("S>>\nG..")


def test_an_unknown_world_names_those_there_are() -> None:
    with pytest.raises(bp.BackplayError, match="open, bottlenecks, basin"):
        world("swamp")
