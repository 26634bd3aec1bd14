"""`Backplay/Maze-v0`: its rules by hand, Gymnasium's checks, states that restore exactly."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hand_made_mazes import by_hand

import backplay as bp
from backplay.envs.maze import Maze, demonstrations, generate, play
from backplay.records import Start

LIBRARY = generate(mazes=4, held_out=1, extra=5, seed=0)


def test_an_episode_by_hand() -> None:
    env = Maze(by_hand())
    planes, info = env.reset(seed=0)
    assert planes.dtype == np.uint8
    assert info == {"maze": 0, "cell": 0}
    assert planes.tolist() == [
        [[1, 0, 0], [0, 0, 0]],
        [[0, 0, 1], [0, 0, 0]],
        [[0, 0, 0], [1, 1, 1]],
        [[0, 1, 0], [0, 0, 0]],
    ]
    cells = []
    for action in (4, 1, 3, 0, 2, 4, 4):
        planes, reward, terminated, truncated, info = env.step(action)
        cells.append(info["cell"])
        assert (reward, terminated, truncated) == (-0.03, False, False)
        assert "is_success" not in info
    assert cells == [0, 0, 0, 0, 3, 4, 5]  # right, up and left are blocked, pass stays
    assert planes[2].tolist() == [[1, 0, 0], [1, 1, 0]]
    planes, reward, terminated, truncated, info = env.step(1)
    assert (reward, terminated, truncated) == (pytest.approx(0.97), True, False)
    assert info == {"maze": 0, "cell": 2, "is_success": True}
    assert planes[:2].tolist() == [[[0, 0, 1], [0, 0, 0]]] * 2
    with pytest.raises(bp.BackplayError, match="over"):
        env.step(0)


def test_time_runs_out_and_the_goal_in_the_last_step_counts() -> None:
    env = Maze(by_hand(max_steps=5))
    env.reset(seed=0)
    answers = [env.step(0) for _ in range(5)]
    assert [answer[3] for answer in answers] == [False] * 4 + [True]
    assert answers[-1][2] is False
    assert answers[-1][4]["is_success"] is False
    env.reset()
    answers = [env.step(action) for action in (0, 2, 4, 4, 1)]
    assert answers[-1][2:4] == (True, False)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"mazes": LIBRARY}, {"mazes": LIBRARY, "maze": 2}, {"size": 7, "walls": 9}],
    ids=["random", "set", "one", "small"],
)
def test_gymnasiums_own_check_and_ours(arguments: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mode in ("ansi", "rgb_array"):
            check_env(Maze(**arguments, render_mode=mode), skip_render_check=True)
    env = Maze(**arguments)
    assert bp.find_restorer(env).name == "own"
    demo = bp.record(env, np.random.default_rng(0).integers(5, size=30).tolist(), seed=3)
    assert bp.check(Maze(**arguments), demo).exact


def test_recorded_demonstrations_reach_the_goal_and_restore() -> None:
    env = gym.make("Backplay/Maze-v0", mazes=LIBRARY, maze=1)
    demo = bp.record(env, LIBRARY.training.actions[1].tolist(), seed=0)
    assert demo.success
    assert demo.restorer.name == "own"
    assert bp.check(env, demo).exact
    recorded = demonstrations(LIBRARY, [3, 0])
    assert [len(one) for one in recorded] == LIBRARY.training.lengths[[3, 0]].tolist()
    for one, i in zip(recorded, (3, 0), strict=True):
        assert bp.check(Maze(LIBRARY), one).exact
        seen = [int(np.asarray(planes)[0].argmax()) for planes in one.observations]
        assert seen == LIBRARY.training.paths[i].tolist()
    assert len(demonstrations(LIBRARY)) == 4


def test_demonstrations_go_through_files(tmp_path: Any) -> None:
    (demo,) = demonstrations(LIBRARY, [2])
    demo.save(tmp_path / "demo.npz")
    assert bp.check(Maze(LIBRARY), bp.load(tmp_path / "demo.npz")).exact


@pytest.mark.parametrize(("time_limit", "left"), [("continue", 190), ("fresh", 200)])
def test_backplay_starts_on_the_way_with_either_clock(time_limit: Any, left: int) -> None:
    env = bp.BackplayEnv(
        Maze(LIBRARY), demonstrations(LIBRARY), bp.Uniform(), time_limit=time_limit
    )
    planes, _ = env.reset(seed=0, options={"start": Start(2, 10)})
    assert planes[0].argmax() == LIBRARY.training.paths[2][10]
    steps, truncated = 0, False
    while not truncated:
        truncated = env.step(0)[3]
        steps += 1
    assert steps == left


def test_which_maze_is_played() -> None:
    env = Maze(LIBRARY)
    drawn = [env.reset(seed=0)[1]["maze"], *(env.reset()[1]["maze"] for _ in range(30))]
    assert set(drawn) == {0, 1, 2, 3}
    again = [env.reset(seed=0)[1]["maze"], *(env.reset()[1]["maze"] for _ in range(30))]
    assert drawn == again
    assert env.reset(options={"maze": 3})[1]["maze"] == 3
    assert Maze(LIBRARY, maze=1).reset()[1] == {"maze": 1, "cell": LIBRARY.training.starts[1]}
    fresh = Maze()
    boards = [fresh.reset(seed=s)[0] for s in (1, 2, 1)]
    assert not np.array_equal(boards[0], boards[1])
    assert np.array_equal(boards[0], boards[2])
    assert not np.array_equal(fresh.reset()[0][3], boards[2][3])
    assert boards[0][3].sum() == 120
    assert fresh.reset(seed=1)[1]["maze"] == -1


def test_what_cannot_be_is_refused() -> None:
    for arguments in ({"maze": 0}, {"mazes": LIBRARY, "maze": 4}, {"mazes": 3}, {"walls": 576}):
        with pytest.raises(bp.BackplayError):
            Maze(**arguments)
    env = Maze(LIBRARY)
    with pytest.raises(bp.BackplayError, match="over"):
        env.step(0)
    env.reset(seed=0)
    for action in (5, -1, 0.5):
        with pytest.raises(bp.BackplayError, match="action"):
            env.step(action)
    with pytest.raises(bp.BackplayError, match="maze"):
        env.reset(options={"maze": 4})
    state = env.get_state()
    wall = int(np.flatnonzero(state["walls"])[0])
    for change in ({"cell": wall}, {"cell": 576}, {"step_count": 201}, {"walls": np.zeros((2, 2))}):
        with pytest.raises(bp.BackplayError, match="state"):
            env.set_state({**state, **change})
    with pytest.raises(bp.BackplayError, match="state"):
        env.set_state({})


def test_a_perfect_player_in_the_single_env_does_as_in_play() -> None:
    mazes, env = LIBRARY.training, Maze(LIBRARY)
    played = play(mazes, lambda seen: [follow(maze, cell) for maze, cell in seen.tolist()])
    for i in range(4):
        env.reset(options={"maze": i})
        steps, over = 0, False
        while not over:
            *_, over, _, _ = env.step(follow(i, env.cell))
            steps += 1
        assert played.lengths[i] == steps
        assert played.successes[i]


def follow(maze: int, cell: int) -> int:
    """What the demonstration did when it was last in this cell."""
    mazes = LIBRARY.training
    last = np.flatnonzero(mazes.paths[maze] == cell)[-1]
    return int(mazes.actions[maze][last])
