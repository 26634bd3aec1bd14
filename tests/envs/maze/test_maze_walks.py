"""Walks beside the demonstrations: the same states as by stepping, held, dropped, walked anew."""

from __future__ import annotations

import numpy as np
import pytest
from hand_made_mazes import by_hand
from maze_walks import LIBRARY, MAZES, N, Walks, begin

import backplay as bp
from backplay.envs.maze import Maze, MazeVector, demonstrations
from backplay.records import Start, Walk


def test_walks_and_patience_are_those_of_backplay_env() -> None:
    walks = (Walk(5, Start(1, 20), 9, 0), Walk(6, Start(5, 7), 12, 1))
    starts = [Start(i % 5, 30 - i) for i in range(N - 6)]
    starts += [Start(5 + i % 2, 4 + i) for i in range(6)]
    envs = MazeVector(N, LIBRARY, curriculum=bp.Patience(Walks(walks), 1.7))
    seen, _ = envs.reset(seed=0, options={"starts": starts})
    assert envs.starts == starts
    demos, ends = demonstrations(LIBRARY), np.zeros(N, int)
    waiting = np.zeros(N, np.int64)  # nobody moves: only patience ends an episode
    for t in range(1, 120):
        truncated = envs.step(waiting)[3]
        ends[truncated & (ends == 0)] = t
    cut = bp.Patience(Walks(walks), 1.7)
    env = bp.BackplayEnv(Maze(LIBRARY), demos, cut, initial="demonstration")
    for i, start in enumerate(starts):
        planes, _ = env.reset(seed=0, options={"start": start})
        assert planes[0].argmax() == seen[i, 1]
        assert np.array_equal(planes[3], MAZES.walls[seen[i, 0]])
        steps = 1
        while not env.step(0)[3]:
            steps += 1
        assert ends[i] == steps < 120
    assert env.restored_steps == envs.restored_steps == 21


def plain_walk(maze: int, cell: int, clock: int, walk: Walk) -> tuple[list[int], list[int]]:
    """Cells and clocks of a walk, by stepping the single env; an end leads back to its start."""
    env, cells, clocks = Maze(LIBRARY), [cell], [clock]
    begin(env, maze, cell, clock)
    for action in np.random.default_rng(walk.seed).integers(5, size=walk.steps):
        *_, terminated, truncated, info = env.step(int(action))
        if terminated or truncated:
            begin(env, maze, cell, clock)
        cells.append(cell if terminated or truncated else info["cell"])
        clocks.append(clock if terminated or truncated else clocks[-1] + 1)
    return cells, clocks


def test_walks_are_walked_held_and_dropped() -> None:
    length = int(MAZES.lengths[2])
    first = [Walk(5 + i, Start(2, length - 1), 30, i) for i in range(8)]
    late = Walk(
        13, Start(first[0].demo, 500), 190, 77
    )  # from a walk's last state; its time runs out
    cells, clocks = {}, {}
    for walk in first:
        cells[walk.demo], clocks[walk.demo] = plain_walk(
            2, int(MAZES.paths[2][-2]), length - 1, walk
        )
    assert any(length - 1 in clocks[walk.demo][1:] for walk in first), "some must reach the goal"
    cells[13], clocks[13] = plain_walk(2, cells[5][-1], clocks[5][-1], late)
    assert clocks[5][-1] in clocks[13][1:]
    steps, taken = 8 * 30, 190
    envs = MazeVector(N, LIBRARY, curriculum=Walks((*first, late)))
    assert envs.restored_steps == steps + taken
    for seed in range(5):
        seen, _ = envs.reset(seed=seed)
        for place, start in zip(seen, envs.starts, strict=True):
            states = cells[start.demo]
            assert place.tolist() == [2, states[min(start.step, len(states) - 1)]]
    envs.set_curriculum(Walks((*first[2:], late)))
    assert envs.restored_steps == steps + taken, "nothing is walked twice"
    envs.reset(options={"starts": [Start(7, 0), *[Start(1, 3)] * (N - 1)]})
    envs.set_curriculum(Walks((*first[2:5], *first[6:], late)))
    for dropped in (5, 10, 14, 10**12):
        with pytest.raises(bp.BackplayError, match="walk held"):
            envs.reset(options={"starts": [Start(7, 0), *[Start(dropped, 0)] * (N - 1)]})
    assert envs.reset()[0][:, 0].tolist() == [2] * N


def test_the_clock_goes_on_along_a_walk_unless_it_is_fresh() -> None:
    walk = Walk(9, Start(0, 4), 7, 3)
    cells, clocks = plain_walk(0, int(MAZES.paths[0][4]), 4, walk)
    assert clocks == list(range(4, 12))
    for time_limit, left in (("continue", 200 - 4 - 6), ("fresh", 200)):
        envs = MazeVector(1, LIBRARY, curriculum=Walks((walk,)), time_limit=time_limit)
        assert envs.restored_steps == 7
        seen, _ = envs.reset(seed=0, options={"starts": [Start(9, 6)]})
        assert seen.tolist() == [[0, cells[6]]]
        steps = 1
        while not envs.step(np.array([0]))[3][0]:
            steps += 1
        assert steps == left
    assert envs.take_episodes()[0].start == Start(9, 6)


def test_a_walk_that_ends_an_episode_goes_on_from_where_it_set_out() -> None:
    """By hand, beside the goal of a maze of six cells: up ends an episode, and so does the time."""
    walk, up, left, stay = Walk(1, Start(0, 4), 6, 0), 1, 3, 0
    seeds = {
        tuple(np.random.default_rng(seed).integers(5, size=6).tolist()): seed
        for seed in range(200_000)
    }
    for actions, max_steps, cells, clocks in (
        ((up, left, left, up, up, stay), 200, [5, 5, 4, 3, 0, 0, 0], [4, 4, 5, 6, 7, 8, 9]),
        ((left, stay, up, up, up, left), 200, [5, 4, 4, 4, 4, 4, 3], [4, 5, 6, 7, 8, 9, 10]),
        ((left, left, left, stay, up, left), 7, [5, 4, 3, 5, 5, 5, 4], [4, 5, 6, 4, 5, 4, 5]),
    ):
        mazes = by_hand(max_steps=max_steps)
        curriculum = Walks((walk._replace(seed=seeds[actions]), Walk(2, Start(1, 5), 3, 0)))
        envs = MazeVector(7, mazes, curriculum=curriculum)
        assert envs.restored_steps == 6 + 3
        seen, _ = envs.reset(options={"starts": [Start(1, step) for step in range(7)]})
        assert seen[:, 1].tolist() == cells
        assert envs.get_state()["clocks"].tolist() == clocks
        seen, _ = envs.reset(options={"starts": [Start(2, 0)] * 7})
        assert seen[0, 1] == cells[5]
        assert envs.get_state()["clocks"][0] == clocks[5]


def test_walks_past_the_goal_are_those_of_backplay_env() -> None:
    demos, last = demonstrations(LIBRARY), MAZES.lengths - 1
    walks = tuple(Walk(5 + i, Start(i, int(last[i])), 50, i) for i in range(5))
    starts = [Start(5 + i % 5, int(step)) for i, step in enumerate(np.linspace(0, 50, N))]
    envs = MazeVector(N, LIBRARY, curriculum=Walks(walks))
    seen, _ = envs.reset(seed=0, options={"starts": starts})
    ends = np.zeros(N, int)
    for t in range(1, 201):
        truncated = envs.step(np.zeros(N, np.int64))[3]
        ends[truncated & (ends == 0)] = t
    env = bp.BackplayEnv(Maze(LIBRARY), demos, Walks(walks), initial="demonstration")
    for i, start in enumerate(starts):
        planes, _ = env.reset(seed=0, options={"start": start})
        assert planes[0].argmax() == seen[i, 1]
        steps = 1
        while not env.step(0)[3]:
            steps += 1
        assert ends[i] == steps
    assert env.restored_steps == envs.restored_steps == 5 * 50


def test_a_changed_walk_is_walked_anew_and_new_walks_may_set_out_from_dropped_ones() -> None:
    envs = MazeVector(1, LIBRARY, curriculum=Walks((Walk(9, Start(0, 4), 7, 3),)))
    envs.set_curriculum(Walks((Walk(9, Start(0, 4), 7, 4),)))
    assert envs.restored_steps == 14
    envs.set_curriculum(Walks((Walk(10, Start(9, 7), 2, 5),)))
    assert envs.restored_steps == 16
    for wrong in (Walk(4, Start(0, 4), 7, 3), Walk(12, Start(11, 0), 1, 0)):
        with pytest.raises(bp.BackplayError):
            envs.set_curriculum(Walks((wrong,)))


def test_what_sets_out_from_a_walk_that_changed_is_walked_anew() -> None:
    one, other = Walk(5, Start(0, 4), 20, 3), Walk(5, Start(0, 30), 20, 4)
    child = Walk(6, Start(5, 20), 10, 1)
    envs = MazeVector(1, LIBRARY, curriculum=Walks((one, child)))
    envs.set_curriculum(Walks((other, child)))
    fresh = MazeVector(1, LIBRARY, curriculum=Walks((other, child)))
    starts = {"starts": [Start(6, 9)]}
    assert np.array_equal(envs.reset(options=starts)[0], fresh.reset(options=starts)[0])
    before = MazeVector(1, LIBRARY, curriculum=Walks((one, child)))
    assert not np.array_equal(before.reset(options=starts)[0], fresh.reset(options=starts)[0])
