"""Projection: a walk on a graph as a chain over distances, and how much that view leaves out.

Comes in: a graph with its goal and a policy, or a transition matrix. Goes out: the chain of mean
transition probabilities (the paper's K-bar) with numbers for the paper's two assumptions: that the
value depends on the distance alone, and that the distance is a Markov chain. Does not know:
curricula, trials or learning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components, shortest_path

from backplay.curricula.curriculum import FloatArray, IntArray
from backplay.errors import BackplayError, ensure, show
from backplay.theory.chains import SLACK, Chain
from backplay.theory.hitting import hitting_times, passage_times


@dataclass(frozen=True, eq=False)
class Projection:
    """A walk on a graph as a chain over distances, and what the chain leaves out.

    Spreads are over the nodes at one distance, weighted by the stationary distribution. They are 0
    where the assumption holds exactly. Entry l of an array belongs to distance l.
    """

    chain: Chain
    """Mean transition probabilities by distance under the stationary distribution."""
    nodes: tuple[Any, ...]
    """The graph's nodes (or indices of the matrix), in the order of the arrays by node, [n]."""
    distances: IntArray
    """Steps from each node to the goal, [n]."""
    stationary: FloatArray
    """Stationary distribution of the walk that goes on through the goal, [n]."""
    values: FloatArray
    """Expected first-passage time from each node to the goal, exact, [n]."""
    mean_values: FloatArray
    """Weighted mean of `values` by distance, [M + 1]."""
    chain_values: FloatArray
    """Expected first-passage times of the projected chain, [M + 1]."""
    value_spread: FloatArray
    """Assumption 1: weighted standard deviation of `values` over their mean, [M + 1]."""
    value_range: FloatArray
    """Assumption 1, worst case: (largest - smallest value) / mean, [M + 1]."""
    step_spread: FloatArray
    """Assumption 2: weighted mean total variation distance between a node's probabilities of
    nearer, same and farther and the chain's, [M + 1]; entry 0 is 0."""
    step_range: FloatArray
    """Assumption 2, worst case: the largest of these distances, [M + 1]."""

    @property
    def value_error(self) -> FloatArray:
        """(chain_values - mean_values) / mean_values by distance, [M + 1]; 0 at the goal."""
        error = np.zeros_like(self.mean_values)
        error[1:] = self.chain_values[1:] / self.mean_values[1:] - 1
        return error

    def summary(self) -> dict[str, float]:
        """The assumptions in six numbers: weighted means over distances, and worst cases."""
        weight = np.bincount(self.distances, self.stationary)[1:]
        weight = weight / weight.sum()
        return {
            "value_spread": float(weight @ self.value_spread[1:]),
            "value_range": float(self.value_range.max()),
            "step_spread": float(weight @ self.step_spread[1:]),
            "step_range": float(self.step_range.max()),
            "value_error": float(weight @ np.abs(self.value_error[1:])),
            "value_error_worst": float(np.abs(self.value_error).max()),
        }


def project(walker: Any, goal: Any, policy: ArrayLike | None = None) -> Projection:
    """The walk as a chain over distances from the goal.

    Args:
        walker: a networkx graph, or a transition matrix [n, n] that goes on through the goal.
        goal: a node of the graph, or an index of the matrix.
        policy: for a graph, probabilities [n, n] along its edges (staying allowed), in the order of
            its nodes; None walks to a neighbour drawn uniformly.
    """
    nodes, transitions = walk(walker, policy)
    at = _index(nodes, goal)
    mu = stationary(transitions)
    distances = _distances(transitions, at)
    farthest = int(distances.max())
    ensure(farthest, "graph", "a node besides the goal", nodes)
    values = hitting_times(transitions, at)
    classes = np.eye(farthest + 1)[distances]  # [n, M + 1]
    weights = classes * mu[:, None]
    weights /= weights.sum(0)
    # By node: probability of coming nearer, of staying at the distance, of going farther, [n, 3].
    moves = transitions @ classes
    before = np.cumsum(moves, 1)[np.arange(len(nodes)), distances]
    same = moves[np.arange(len(nodes)), distances]
    nearer = before - same
    steps = np.stack([nearer, same, np.maximum(0.0, 1 - before)], 1)
    steps[classes[:, farthest] > 0, 2] = 0.0
    mean_steps = weights.T @ steps  # [M + 1, 3]
    mean_steps /= mean_steps.sum(1, keepdims=True)
    chain = Chain(*mean_steps[1:].T)
    off = 0.5 * np.abs(steps - mean_steps[distances]).sum(1)
    off[at] = 0.0
    means = weights.T @ values
    scale = np.where(means > 0, means, 1.0)
    deviation = np.sqrt(weights.T @ (values - means[distances]) ** 2)
    ranges = [np.ptp(values[distances == far]) for far in range(farthest + 1)]
    return Projection(
        chain=chain,
        nodes=nodes,
        distances=distances,
        stationary=mu,
        values=values,
        mean_values=means,
        chain_values=passage_times(chain),
        value_spread=deviation / scale,
        value_range=np.asarray(ranges) / scale,
        step_spread=weights.T @ off,
        step_range=np.asarray([off[distances == far].max() for far in range(farthest + 1)]),
    )


def walk(walker: Any, policy: ArrayLike | None = None) -> tuple[tuple[Any, ...], FloatArray]:
    """Nodes [n] and transition probabilities [n, n] of a graph under a policy, or of a matrix."""
    if not isinstance(walker, nx.Graph):
        ensure(
            policy is None, "policy", "None beside a transition matrix", policy,
            do="Pass the matrix under the policy.",
        )  # fmt: skip
        matrix = _as_transitions("transition matrix", walker)
        return tuple(range(len(matrix))), matrix
    nodes = tuple(walker)
    edges = nx.to_numpy_array(walker, nodelist=nodes, weight=None) > 0
    if policy is None:
        degrees = edges.sum(1)
        ensure(len(nodes) and degrees.all(), "graph", "a neighbour for every node", walker)
        return nodes, edges / degrees[:, None]
    matrix = _as_transitions("policy", policy)
    if matrix.shape != edges.shape or (matrix[~(edges | np.eye(len(nodes), dtype=bool))] > 0).any():
        raise BackplayError(
            "policy", expected=f"probabilities [{len(nodes)}, {len(nodes)}] along the edges",
            got=show(policy), do="Order its rows and columns as the graph's nodes.",
        )  # fmt: skip
    return nodes, matrix


def stationary(transitions: FloatArray) -> FloatArray:
    """The stationary distribution of an irreducible walk, [n]."""
    count, _ = connected_components(transitions > 0, connection="strong")
    ensure(
        count == 1, "walk", "every state reachable from every other", got=f"{count} classes",
        do="Let the walk go on through the goal; leave out what cannot be reached.",
    )  # fmt: skip
    system = transitions.T - np.eye(len(transitions))
    system[-1] = 1.0  # one balance equation follows from the others: here comes the sum instead
    mu: FloatArray = np.linalg.solve(system, np.eye(len(transitions))[-1])
    mu /= mu.sum()
    return mu


def _distances(transitions: FloatArray, goal: int) -> IntArray:
    """Fewest steps from each state to the goal, [n]."""
    reverse = (transitions.T > 0).astype(np.float64)
    steps = shortest_path(reverse, unweighted=True, indices=goal)
    distances: IntArray = steps.astype(np.int64)
    return distances


def _index(nodes: tuple[Any, ...], goal: Any) -> int:
    ensure(goal in nodes, "goal", "a node of the graph", goal)
    return nodes.index(goal)


def _as_transitions(name: str, given: Any) -> FloatArray:
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.full(1, np.nan)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and len(matrix) > 0
    if not square or not (matrix >= 0).all() or np.abs(matrix.sum(1) - 1).max() > SLACK:
        raise BackplayError(
            name, expected="a square matrix whose rows are probabilities", got=show(given)
        )
    return matrix
