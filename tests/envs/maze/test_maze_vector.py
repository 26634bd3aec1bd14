"""Many mazes at once: the same as single envs, starts by a curriculum, exact going on."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hand_made_mazes import by_hand
from maze_walks import LIBRARY, MAZES, N, Walks, begin, chosen, place_of
from scipy import stats

import backplay as bp
from backplay.data import archive, trees
from backplay.envs.maze import Maze, MazeVector
from backplay.records import Episode, Start, Walk


@pytest.mark.parametrize("fresh", [False, True])
def test_every_agent_is_a_single_env(fresh: bool) -> None:
    limit: Any = "fresh" if fresh else "continue"
    envs = MazeVector(N, LIBRARY, curriculum=bp.Uniform(), time_limit=limit)
    seen, infos = envs.reset(seed=3)
    assert (seen.dtype, seen.shape, infos) == (np.int32, (N, 2), {})
    assert envs.observation_space.contains(seen)
    singles, totals, expected = [Maze(LIBRARY) for _ in range(N)], np.zeros((N, 2)), []
    starts = envs.starts
    for i, start in enumerate(starts):
        begin(singles[i], *place_of(start)[:2], 0 if fresh else start.step)
    for taken in chosen(450):
        before = seen.copy()
        seen, rewards, terminated, truncated, infos = envs.step(taken)
        assert envs.observation_space.contains(seen)
        now = envs.starts
        for i, single in enumerate(singles):
            _, reward, done, late, info = single.step(taken[i])
            assert (rewards[i], terminated[i], truncated[i]) == (reward, done, late)
            totals[i] += reward, 1
            if not (done or late):
                assert seen[i].tolist() == [info["maze"], info["cell"]]
                assert now[i] == starts[i]
                continue
            assert infos["final_obs"][i].tolist() == [info["maze"], info["cell"]]
            assert infos["final_info"]["is_success"][i] == info["is_success"]
            back = int(MAZES.lengths[starts[i].demo]) - starts[i].step
            par = MAZES.step_reward * back + MAZES.goal_reward
            end = (totals[i, 0], int(totals[i, 1]), done)
            expected.append(Episode(starts[i], *end, back, par))
            totals[i] = 0
            assert seen[i].tolist() == list(place_of(now[i])[:2])
            begin(single, *place_of(now[i])[:2], 0 if fresh else now[i].step)
        over = terminated | truncated
        assert ("final_obs" in infos) == over.any()
        if over.any():
            for mask in (infos["_final_obs"], infos["_final_info"]):
                assert np.array_equal(mask, over)
            assert np.array_equal(infos["final_info"]["_is_success"], over)
        starts = now
        assert before is not seen
    assert len({episode.success for episode in expected}) == 2
    taken = envs.take_episodes()
    assert taken == expected
    assert {(type(one), type(one.start)) for one in taken} == {(Episode, Start)}
    assert envs.take_episodes() == []
    assert envs.restored_steps == 0


def test_the_goal_in_the_last_step_counts() -> None:
    envs = MazeVector(1, by_hand(max_steps=5))
    envs.reset(seed=0)
    for action in (0, 2, 4, 4, 1):
        _, rewards, terminated, truncated, _ = envs.step(np.array([action]))
    assert (terminated.tolist(), truncated.tolist()) == ([True], [False])
    assert rewards.tolist() == [pytest.approx(0.97)]


def test_starts_follow_the_curriculum() -> None:
    windows = bp.Backplay((bp.Window(0, 3, 7),))
    for curriculum in (windows, bp.Uniform(), None):
        envs = MazeVector(6_000, MAZES, curriculum=curriculum)
        envs.reset(seed=1)
        counts = np.zeros((5, MAZES.lengths.max() + 1))
        for start in envs.starts:
            counts[start.demo, start.step] += 1
        probabilities = np.zeros_like(counts)
        for demo, length in enumerate(MAZES.lengths):
            weights = (curriculum or bp.Standard()).weights(demo, int(length))
            probabilities[demo, : length + 1] = weights / 5
        assert counts[probabilities == 0].sum() == 0
        possible = probabilities > 0
        assert stats.chisquare(counts[possible], 6_000 * probabilities[possible]).pvalue > 1e-3


def test_seeds_fix_everything_and_lists_are_taken() -> None:
    def run(seed: Any) -> list[Any]:
        envs = MazeVector(4, LIBRARY, curriculum=bp.Uniform())
        seen = [envs.reset(seed=seed)[0]]
        seen += [envs.step(taken)[0] for taken in chosen(300, 4)]
        return np.stack(seen).tolist()

    assert run(5) == run(5) != run(6)
    assert run([1, 2, 3, 4]) == run([1, 2, 3, 4]) != run([1, 2, 3, 5])
    for seed in ([1, 2], [1, 2, 3, -4], -1):
        with pytest.raises(bp.BackplayError, match="seed"):
            run(seed)


def test_a_restored_vector_goes_on_exactly(tmp_path: Any) -> None:
    walks = tuple(Walk(5 + i, Start(i, 20), 25, i) for i in range(5))

    def make(curriculum: bp.Curriculum) -> MazeVector:
        return MazeVector(N, LIBRARY, curriculum=bp.Patience(curriculum, 4.0))

    envs, other = make(Walks(walks)), make(bp.Uniform())
    envs.reset(seed=1)
    other.reset(seed=2)
    for taken in chosen(150):
        envs.step(taken)
    archive.write(tmp_path / "state.npz", "a state", envs.get_state())
    other.set_state(archive.read(tmp_path / "state.npz", "a state"))
    assert other.restored_steps == envs.restored_steps > 0
    other.set_curriculum(envs.curriculum)
    assert other.restored_steps == envs.restored_steps, "walks that are held are not walked again"
    assert trees.first_difference(envs.get_state(), other.get_state()) is None
    for taken in chosen(250, seed=2):
        ours, theirs = envs.step(taken), other.step(taken)
        assert trees.first_difference(ours, theirs) is None
        assert envs.starts == other.starts
    assert envs.take_episodes() == other.take_episodes()


def test_states_of_other_vectors_are_refused_and_change_nothing() -> None:
    envs = MazeVector(3, LIBRARY)
    envs.reset(seed=0)
    state = envs.get_state()
    broken_rng = {**state["rng"], "state": {"state": 0, "inc": 0}}
    for change in (
        {"places": state["places"][:2]}, {"places": state["places"] + 10**4}, {"clocks": None},
        {"rng": {}}, {"rng": broken_rng}, {"finished": {}}, {"walks": [{}]}, {"walks": None},
    ):  # fmt: skip
        with pytest.raises(bp.BackplayError, match="another vector"):
            envs.set_state({**state, **change})
        assert trees.first_difference(envs.get_state(), state) is None


def test_only_the_last_hundred_thousand_episodes_are_kept() -> None:
    envs = MazeVector(60_000, by_hand(max_steps=5))
    envs.reset(seed=0)
    for t in range(15):
        envs.step(
            np.zeros(60_000, np.int64) if t < 10 else np.full(60_000, [0, 2, 4, 4, 1][t - 10])
        )
    episodes = envs.take_episodes()
    assert len(episodes) == 100_000
    assert sum(episode.success for episode in episodes) == 60_000
    assert episodes[-1][:4] == (Start(0, 0), pytest.approx(0.85), 5, True)


def test_it_is_made_by_gymnasium_and_advanced_like_any_other(tmp_path: Any) -> None:
    LIBRARY.save(tmp_path / "mazes.npz")
    envs = gym.make_vec(
        "Backplay/Maze-v0", num_envs=3, mazes=tmp_path / "mazes.npz", render_mode="ansi"
    )
    assert isinstance(envs, MazeVector)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert envs.single_observation_space == gym.spaces.MultiDiscrete([5, 576], dtype=np.int32)
    envs.reset(seed=0)
    assert all("@" in text for text in envs.render())
    moved, episodes = bp.advance(envs, bp.Backplay.maze(), 100)
    assert (moved.frames, episodes) == (100, [])
    assert envs.get_attr("curriculum") == (moved,)
    assert envs.get_attr("restored_steps") == (0,)


def test_what_cannot_be_is_refused() -> None:
    for arguments in (
        {"num_envs": 0}, {"mazes": None}, {"mazes": MAZES.select([])},
        {"time_limit": "none"}, {"curriculum": bp.Uniform}, {"curriculum": 3},
    ):  # fmt: skip
        with pytest.raises(bp.BackplayError):
            MazeVector(**{"num_envs": 2, "mazes": LIBRARY, **arguments})
    envs = MazeVector(2, LIBRARY)
    assert envs.starts == [None, None]
    with pytest.raises(bp.BackplayError, match="reset"):
        envs.step(np.zeros(2, np.int64))
    for starts in ([Start(0, 0)], [Start(0, 99)] * 2, [Start(-1, 0)] * 2, 3, [3, 4]):
        with pytest.raises(bp.BackplayError, match="start"):
            envs.reset(options={"starts": starts})
    envs.reset(seed=0)
    before = envs.get_state()
    for actions in ([0], [0, 5], [-1, 0], [0.0, 0.0]):
        with pytest.raises(bp.BackplayError, match="actions"):
            envs.step(np.array(actions))
    assert trees.first_difference(envs.get_state(), before) is None
    assert envs.step(np.array([0, 4], np.uint8))[0].shape == (2, 2)
