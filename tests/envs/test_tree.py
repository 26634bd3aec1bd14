"""`Backplay/Tree-v0`: its rules against networkx, Gymnasium's checks, states that restore."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import backplay as bp
from backplay.envs.tree import UP, Tree, demonstration


def test_gymnasium_finds_nothing_wrong() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make("Backplay/Tree-v0", depth=3, render_mode="ansi").unwrapped)


def test_an_episode_by_hand() -> None:
    env = Tree(2, leaf=1)
    assert env.reset() == (4, {})
    assert env.step(1) == (4, -0.03, False, False, {})  # a leaf has no way down
    assert env.step(UP) == (1, -0.03, False, False, {})
    assert env.step(1)[0] == 3
    assert env.step(UP)[0] == 1
    assert env.step(2)[0] == 4
    assert env.step(UP)[0] == 1
    node, reward, terminated, truncated, info = env.step(UP)
    assert (node, terminated, truncated, info) == (0, True, False, {"is_success": True})
    assert reward == pytest.approx(0.97)
    with pytest.raises(bp.BackplayError, match="over"):
        env.step(UP)


def test_moves_are_the_edges_of_a_binary_tree() -> None:
    env, tree = Tree(4), nx.balanced_tree(2, 4)
    depth = nx.single_source_shortest_path_length(tree, 0)
    for node in range(1, 31):
        reached = []
        for action in range(3):
            env.reset(options={"node": node})
            reached.append(int(env.step(action)[0]))
        below = sorted(other for other in tree[node] if depth[other] > depth[node])
        (above,) = [other for other in tree[node] if depth[other] < depth[node]]
        assert reached == [above, *(below or [node, node])]


def test_every_leaf_is_a_start_and_nothing_else() -> None:
    env = Tree(3)
    starts = [int(env.reset(seed=seed)[0]) for seed in range(400)]
    counts = np.bincount(starts, minlength=15)
    assert (counts[:7] == 0).all()
    assert counts[7:].min() > 25  # 50 expected, deviation 6.6
    assert env.reset(seed=5)[0] == env.reset(seed=5)[0]


def test_time_runs_out() -> None:
    env = Tree(3, leaf=0, max_steps=3)
    env.reset()
    answers = [env.step(1) for _ in range(3)]
    assert [answer[2:4] for answer in answers] == [(False, False)] * 2 + [(False, True)]
    assert answers[-1][4] == {"is_success": False}
    env.reset()
    assert [env.step(UP)[2:4] for _ in range(3)][-1] == (True, False)


def test_a_demonstration_restores_exactly_and_stays_in_its_half() -> None:
    env = gym.make("Backplay/Tree-v0", depth=4)
    demo = demonstration(env, leaf=11)
    assert [int(node) for node in demo.observations] == [26, 12, 5, 2, 0]
    assert bp.check(env, demo).exact
    assert demo.success
    tree = nx.balanced_tree(2, 4)
    tree.remove_node(0)  # where an episode ends
    half = nx.node_connected_component(tree, 26)
    assert len(half) == 15
    assert {int(node) for node in demo.observations[:-1]} <= half
    wrapped = bp.BackplayEnv(env, [demo], bp.Backplay((bp.Window(0, 0, 4),)))
    rng, seen = np.random.default_rng(0), set()
    for seed in range(100):
        node, _ = wrapped.reset(seed=seed)
        ended = False
        while not ended:
            seen.add(int(node))
            node, _, terminated, truncated, _ = wrapped.step(rng.integers(3))
            ended = terminated or truncated
    assert seen == half


def test_a_state_goes_on_as_it_was() -> None:
    env, other = Tree(5), Tree(5)
    env.reset(seed=0)
    env.step(UP)
    other.reset(seed=9)
    other.set_state(env.get_state())
    for action in (0, 1, 2, 2, 0, 0, 0, 0, 0):
        answer = env.step(action)
        assert other.step(action) == answer
    assert answer[2]
    other.set_state(env.get_state())
    with pytest.raises(bp.BackplayError, match="over"):
        other.step(UP)


@pytest.mark.parametrize(
    "state",
    [
        {}, None, {"node": 3}, {"node": 63, "step_count": 0}, {"node": -1, "step_count": 0},
        {"node": 3, "step_count": 101}, {"node": 3.0, "step_count": 0},
    ],
)  # fmt: skip
def test_states_of_another_tree_are_refused_and_change_nothing(state: Any) -> None:
    env = Tree(5)
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(bp.BackplayError, match="depth 5"):
        env.set_state(state)
    assert env.get_state() == before


@pytest.mark.parametrize(
    "arguments",
    [{"depth": 0}, {"depth": 21}, {"depth": 2.0}, {"leaf": 256}, {"leaf": -1}, {"max_steps": 0}],
)
def test_trees_that_are_none_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(bp.BackplayError, match=next(iter(arguments))):
        Tree(**arguments)


def test_nodes_and_actions_that_are_none_are_refused() -> None:
    env = Tree(3)
    for node in (0, 15, "3", True):
        with pytest.raises(bp.BackplayError, match="node"):
            env.reset(options={"node": node})
    env.reset()
    for action in (3, -1, None):
        with pytest.raises(bp.BackplayError, match="action"):
            env.step(action)


def test_the_picture_is_the_way_from_the_root() -> None:
    env = Tree(3, leaf=2, render_mode="ansi")
    env.reset()
    assert env.render() == "root left right left, step 0\n"
