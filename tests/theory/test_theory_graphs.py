"""Tasks on graphs: their shape, their demonstrations, and what is refused."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from backplay.errors import BackplayError
from backplay.theory import GraphTask, grid, line, maze, project, regular, tree


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def tasks() -> list[GraphTask]:
    drawn = [maze(9, 25, rng(s)) for s in range(5)] + [regular(30, 3, rng(s)) for s in range(3)]
    return [line(7), grid(4, 5), tree(4, rng()), *drawn]


def test_every_demonstration_is_a_shortest_way_to_the_goal() -> None:
    for task in tasks():
        path = task.demonstration
        assert path[-1] == task.goal
        assert all(task.graph.has_edge(a, b) for a, b in pairwise(path))
        assert task.length == nx.shortest_path_length(task.graph, path[0], task.goal)
        assert path[0] in task.starts
        assert nx.is_connected(task.graph)


def test_starts_are_as_far_from_the_goal_as_they_can_be() -> None:
    for task in tasks():
        assert task.length == nx.eccentricity(task.graph, task.goal)


def test_shapes() -> None:
    assert line(7).length == 7
    assert grid(4, 5).length == 3 + 4
    assert len(grid(4, 5).graph) == 20
    assert set(dict(regular(30, 4, rng()).graph.degree()).values()) == {4}
    empty = maze(5, 0, rng())
    assert len(empty.graph) == 25
    assert empty.length == 8


def test_mazes_have_their_walls_and_depend_on_the_generator_alone() -> None:
    one, same, other = maze(8, 12, rng(1)), maze(8, 12, rng(1)), maze(8, 12, rng(2))
    assert len(one.graph) <= 64 - 12
    assert len(one.graph) > 20
    assert set(one.graph) == set(same.graph)
    assert one.demonstration == same.demonstration
    assert set(one.graph) != set(other.graph)
    for a, b in one.graph.edges:
        assert abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1
    assert len(maze(3, 7, rng()).graph) == 2


def test_the_tree_starts_in_any_leaf_and_shows_one() -> None:
    task = tree(4, rng(5))
    leaves = [node for node, degree in task.graph.degree() if degree == 1]
    assert sorted(task.starts) == sorted(leaves)
    assert len(leaves) == 16
    assert task.length == 4
    shown = {tree(3, rng(seed)).demonstration[0] for seed in range(100)}
    assert shown == set(range(7, 15))
    # All nodes at one depth look alike, so the projection is exact: 1/3 nearer, 2/3 away.
    found = project(task.graph, task.goal)
    np.testing.assert_allclose(found.chain.alpha, [1 / 3, 1 / 3, 1 / 3, 1])
    np.testing.assert_allclose(list(found.summary().values()), 0, atol=1e-9)


def test_a_demonstration_may_waste_steps() -> None:
    assert GraphTask(nx.path_graph(3), 0, [2, 2, 1, 2, 1, 0]).length == 5


@pytest.mark.parametrize(
    "make",
    [
        lambda: GraphTask(nx.path_graph(3), 0, [2, 0]),
        lambda: GraphTask(nx.path_graph(3), 0, [2, 1]),
        lambda: GraphTask(nx.path_graph(3), 0, [0]),
        lambda: GraphTask(nx.path_graph(3), 0, [1, 0, 1, 0]),
        lambda: GraphTask(nx.path_graph(3), 0, [9, 0]),
        lambda: GraphTask(nx.path_graph(3), 0, [2, 1, 0], starts=[1]),
        lambda: GraphTask(nx.path_graph(3), 0, [2, 1, 0], starts=[2, 0]),
        lambda: GraphTask(nx.Graph([(0, 1), (2, 3)]), 0, [1, 0]),
        lambda: line(0),
        lambda: grid(1, 5),
        lambda: maze(3, 8, rng()),
        lambda: regular(5, 3, rng()),
        lambda: regular(4, 4, rng()),
        lambda: tree(0, rng()),
    ],
)
def test_what_is_no_task_is_refused(make) -> None:
    with pytest.raises(BackplayError):
        make()
