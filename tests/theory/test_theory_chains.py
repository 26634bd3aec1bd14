"""Chains and projections: against hand arithmetic, plain loops and graphs that are known."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backplay.errors import BackplayError
from backplay.theory import Chain, project
from backplay.theory.projection import stationary, walk


@st.composite
def connected_graphs(draw: st.DrawFn) -> nx.Graph:
    """A random tree with random edges added."""
    size = draw(st.integers(2, 12))
    graph = nx.Graph()
    graph.add_edges_from((draw(st.integers(0, i - 1)), i) for i in range(1, size))
    pair = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    for a, b in draw(st.lists(pair, max_size=12)):
        if a != b:
            graph.add_edge(a, b)
    return graph


def test_what_would_leave_the_farthest_distance_stays() -> None:
    chain = Chain.constant(3, 0.25, 0.5)
    np.testing.assert_allclose(chain.alpha, [0.25] * 3)
    np.testing.assert_allclose(chain.beta, [0.5, 0.5, 0.75])
    np.testing.assert_allclose(chain.gamma, [0.25, 0.25, 0.0])
    expected = [[1, 0, 0, 0], [0.25, 0.5, 0.25, 0], [0, 0.25, 0.5, 0.25], [0, 0, 0.25, 0.75]]
    np.testing.assert_allclose(chain.matrix, expected)
    assert Chain.constant(1, 1.0).length == 1


def test_merging_shortens_the_chain_at_the_goal() -> None:
    chain = Chain.of([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])
    rest = chain.merged(2)
    np.testing.assert_allclose([rest.alpha[0], rest.beta[0], rest.gamma[0]], [0.3, 0.7, 0.0])
    assert chain.merged(0).length == 3
    with pytest.raises(BackplayError):
        chain.merged(3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Chain.of([]),
        lambda: Chain.of([0.0, 0.5]),
        lambda: Chain.of([1.2]),
        lambda: Chain.of([np.nan]),
        lambda: Chain.of(["x"]),
        lambda: Chain.of([0.6], 0.5),
        lambda: Chain.constant(0, 0.5),
        lambda: Chain(np.array([0.5]), np.array([0.0]), np.array([0.5])),
        lambda: Chain(np.array([0.5, 0.5]), np.array([0.2, 0.5]), np.array([0.2, 0.0])),
        lambda: Chain(np.array([0.5, 0.5]), np.array([0.5]), np.array([0.0])),
    ],
)
def test_what_is_no_chain_is_refused(make) -> None:
    with pytest.raises(BackplayError):
        make()


def test_a_chain_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Chain.constant(2, 0.5).alpha[0] = 1.0


def test_a_projection_by_hand() -> None:
    """2 - 0 - 1 - 3 with the goal 0: one distance-1 node is a dead end, the other is not."""
    found = project(nx.Graph([(0, 1), (0, 2), (1, 3)]), 0)
    assert found.nodes == (0, 1, 2, 3)
    assert found.distances.tolist() == [0, 1, 1, 2]
    np.testing.assert_allclose(found.stationary, [2 / 6, 2 / 6, 1 / 6, 1 / 6])
    np.testing.assert_allclose(found.chain.alpha, [2 / 3, 1])
    np.testing.assert_allclose(found.chain.gamma, [1 / 3, 0])
    np.testing.assert_allclose(found.values, [0, 3, 1, 4])
    np.testing.assert_allclose(found.mean_values, [0, 7 / 3, 4])
    np.testing.assert_allclose(found.chain_values, [0, 2, 3])
    np.testing.assert_allclose(found.value_spread, [0, np.sqrt(8 / 9) / (7 / 3), 0], atol=1e-12)
    np.testing.assert_allclose(found.value_range, [0, 6 / 7, 0], atol=1e-12)
    np.testing.assert_allclose(found.step_spread, [0, 2 / 9, 0], atol=1e-12)
    np.testing.assert_allclose(found.step_range, [0, 1 / 3, 0], atol=1e-12)
    np.testing.assert_allclose(found.value_error, [0, -1 / 7, -1 / 4])
    summary = found.summary()
    assert summary["step_spread"] == pytest.approx(3 / 4 * 2 / 9)
    assert summary["value_error"] == pytest.approx(3 / 4 / 7 + 1 / 4 / 4)
    assert summary["value_error_worst"] == pytest.approx(1 / 4)


def test_distance_regular_graphs_meet_both_assumptions() -> None:
    for graph in (nx.hypercube_graph(4), nx.cycle_graph(9), nx.petersen_graph(), nx.path_graph(6)):
        found = project(graph, next(iter(graph)))
        np.testing.assert_allclose(list(found.summary().values()), 0, atol=1e-10)
    cube = project(nx.hypercube_graph(4), (0, 0, 0, 0)).chain
    np.testing.assert_allclose(cube.alpha, [1 / 4, 2 / 4, 3 / 4, 1])


@settings(max_examples=60)
@given(connected_graphs())
def test_projections_agree_with_plain_loops(graph: nx.Graph) -> None:
    found = project(graph, 0)
    far = nx.single_source_shortest_path_length(graph, 0)
    assert dict(zip(found.nodes, found.distances.tolist(), strict=True)) == dict(far)
    for distance in range(1, max(far.values()) + 1):
        moves = np.zeros(3)
        for node in graph:
            if far[node] == distance:  # a node has weight in proportion to its degree
                for other in graph[node]:
                    moves[far[other] - distance + 1] += 1
        at = distance - 1
        chain = found.chain
        rows = [chain.alpha[at], chain.beta[at], chain.gamma[at]]
        np.testing.assert_allclose(rows, moves / moves.sum(), atol=1e-12)


@settings(max_examples=60)
@given(connected_graphs())
def test_the_chain_is_right_next_to_the_goal(graph: nx.Graph) -> None:
    """The mean return time to the goal (Kac) survives the projection, whatever the graph."""
    found = project(graph, 0)
    index = {node: i for i, node in enumerate(found.nodes)}
    mean = np.mean([found.values[index[node]] for node in graph[0]])
    assert found.chain_values[1] == pytest.approx(mean)
    assert found.chain_values[1] == pytest.approx(1 / found.stationary[index[0]] - 1)


def test_a_policy_and_a_matrix_say_the_same() -> None:
    graph = nx.path_graph(4)
    policy = [[0.5, 0.5, 0, 0], [0.25, 0.25, 0.5, 0], [0, 0.25, 0.25, 0.5], [0, 0, 0.25, 0.75]]
    by_graph, by_matrix = project(graph, 0, policy), project(policy, 0)
    np.testing.assert_allclose(by_graph.chain.alpha, [0.25] * 3)
    np.testing.assert_allclose(by_graph.chain.beta, [0.25, 0.25, 0.75])
    np.testing.assert_allclose(by_graph.values, by_matrix.values)
    np.testing.assert_allclose(by_graph.stationary @ np.asarray(policy), by_graph.stationary)


def test_the_stationary_distribution_of_a_one_way_walk() -> None:
    turns = np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(stationary(turns), [0.4, 0.4, 0.2])


@pytest.mark.parametrize(
    ("walker", "goal", "policy"),
    [
        (nx.Graph([(0, 1), (2, 3)]), 0, None),  # not connected
        (nx.path_graph(1), 0, None),
        (nx.path_graph(3), 7, None),
        ([[1.0, 0.0], [0.5, 0.5]], 0, None),  # absorbing at the goal
        ([[0.5, 0.4], [0.5, 0.5]], 0, None),
        ([[1.0]], 0, None),
        ("x", 0, None),
        ([[0.5, 0.5], [0.5, 0.5]], 0, [[0.5, 0.5], [0.5, 0.5]]),
        (nx.path_graph(3), 0, [[0, 0, 1], [1, 0, 0], [0, 1, 0]]),  # no edge 0 - 2
        (nx.path_graph(3), 0, [[0.5, 0.5], [0.5, 0.5]]),
    ],
)
def test_what_cannot_be_projected_is_refused(walker, goal, policy) -> None:
    with pytest.raises(BackplayError):
        project(walker, goal, policy)


def test_the_uniform_walk_goes_to_each_neighbour_alike() -> None:
    nodes, matrix = walk(nx.star_graph(3))
    assert nodes == (0, 1, 2, 3)
    np.testing.assert_allclose(matrix[0], [0, 1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_allclose(matrix[1:, 0], 1)
