"""Tasks on graphs: a graph, where episodes start, the goal, and one demonstration.

Comes in: sizes, and a generator where something is drawn. Goes out: a `GraphTask` around a networkx
graph. Does not know: policies, chains or curricula.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from backplay.curricula.curriculum import whole_number
from backplay.errors import BackplayError, ensure


@dataclass(frozen=True, eq=False)
class GraphTask:
    """Get from a start to the goal along the edges of a connected graph."""

    graph: Any
    """An undirected networkx graph."""
    goal: Hashable
    """The node that ends an episode."""
    demonstration: Sequence[Hashable]
    """Nodes from one of the starts to the goal, each next to the one before or the same."""
    starts: Sequence[Hashable] = ()
    """Where an episode of the task itself starts, each equally likely; by default where the
    demonstration does."""

    def __post_init__(self) -> None:
        path = tuple(self.demonstration)
        object.__setattr__(self, "demonstration", path)
        object.__setattr__(self, "starts", tuple(self.starts) or path[:1])
        known = all(node in self.graph for node in (*path, *self.starts, self.goal))
        ensure(
            known and len(path) >= 2 and path[-1] == self.goal and self.goal not in path[:-1],
            "demonstration", "nodes of the graph that end, and only end, at the goal", path,
        )  # fmt: skip
        for a, b in pairwise(path):
            if a != b and not self.graph.has_edge(a, b):
                raise BackplayError("demonstration", expected="edges", got=f"{a!r} to {b!r}")
        ensure(
            path[0] in self.starts and self.goal not in self.starts, "starts",
            "the demonstration's first node, not the goal", self.starts,
        )  # fmt: skip
        ensure(nx.is_connected(self.graph), "graph", "connected", self.graph)

    @property
    def length(self) -> int:
        """Steps of the demonstration."""
        return len(self.demonstration) - 1


def line(length: int) -> GraphTask:
    """A path of `length` edges: start at one end, goal at the other."""
    length = whole_number("length", length, at_least=1)
    return GraphTask(nx.path_graph(length + 1), 0, range(length, -1, -1))


def grid(width: int, height: int) -> GraphTask:
    """A rectangle of cells: from one corner to the opposite one, round the outside."""
    width = whole_number("width", width, at_least=2)
    height = whole_number("height", height, at_least=2)
    side = [(x, height - 1) for x in range(width - 1, -1, -1)]
    return GraphTask(
        nx.grid_2d_graph(width, height),
        (0, 0),
        [*side, *((0, y) for y in range(height - 2, -1, -1))],
    )


def maze(size: int, walls: int, rng: np.random.Generator) -> GraphTask:
    """A square with walls on random cells; start and goal are as far apart as it allows.

    What cannot be reached from the largest open region is left out.
    """
    size = whole_number("size", size, at_least=2)
    walls = whole_number("walls", walls)
    ensure(walls <= size * size - 2, "walls", f"at most {size * size - 2}", walls)
    while True:
        graph = nx.grid_2d_graph(size, size)
        cells = sorted(graph)
        graph.remove_nodes_from([cells[i] for i in rng.permutation(len(cells))[:walls]])
        region = max(nx.connected_components(graph), key=lambda part: (len(part), min(part)))
        if len(region) > 1:
            return _farthest_apart(graph.subgraph(region).copy(), min(region))


def regular(nodes: int, degree: int, rng: np.random.Generator) -> GraphTask:
    """A connected random graph in which every node has `degree` neighbours (3 or more)."""
    nodes = whole_number("nodes", nodes, at_least=4)
    degree = whole_number("degree", degree, at_least=3)
    ensure(
        degree < nodes and not nodes * degree % 2, "degree",
        "below the number of nodes, with an even product", got=f"{nodes} nodes of degree {degree}",
    )  # fmt: skip
    while True:
        graph = nx.random_regular_graph(degree, nodes, seed=int(rng.integers(2**31)))
        if nx.is_connected(graph):
            return _from_farthest(graph, int(rng.integers(nodes)))


def tree(depth: int, rng: np.random.Generator) -> GraphTask:
    """A binary tree: every episode starts in a random leaf, the goal is the root (paper, 3.2).

    The demonstration comes from one leaf, so it never enters the half of the tree on the root's
    other side, and the walk cannot pass the root.
    """
    depth = whole_number("depth", depth, at_least=1)
    graph = nx.balanced_tree(2, depth)
    leaves = range(2**depth - 1, 2 ** (depth + 1) - 1)
    leaf = int(rng.choice(leaves))
    return GraphTask(graph, 0, nx.shortest_path(graph, leaf, 0), leaves)


def _farthest_apart(graph: Any, node: Any) -> GraphTask:
    """Twice to the farthest node: the second stretch is about the graph's diameter."""
    away = nx.single_source_shortest_path_length(graph, node)
    return _from_farthest(graph, max(sorted(away), key=away.__getitem__))


def _from_farthest(graph: Any, goal: Any) -> GraphTask:
    """The shortest way from a node farthest from the goal."""
    away = nx.single_source_shortest_path_length(graph, goal)
    start = max(sorted(away), key=away.__getitem__)
    return GraphTask(graph, goal, nx.shortest_path(graph, start, goal))
