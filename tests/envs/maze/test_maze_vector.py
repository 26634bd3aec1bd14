"""Many mazes at once: the same as single envs, starts by a curriculum, walks, exact going on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hand_made_mazes import by_hand
from scipy import stats

import backplay as bp
from backplay.data import archive, trees
from backplay.envs.maze import Maze, MazeVector, demonstrations, generate
from backplay.records import Episode, Start, Walk

LIBRARY = generate(mazes=5, held_out=1, extra=5, seed=0)
MAZES = LIBRARY.training
N = 24


@dataclass(frozen=True)
class Walks(bp.Curriculum):
    """Starts anywhere in walks; a step may lie beyond a walk's last state."""

    walks: tuple[Walk, ...] = ()

    def weights(self, demo: int, length: int) -> np.ndarray:
        raise AssertionError("starts are drawn by sample")

    def update(self, episodes: Any, frames: int) -> Walks:
        return self

    def sample(self, lengths: Any, n: int, rng: Any) -> tuple[np.ndarray, np.ndarray]:
        chosen = rng.integers(len(self.walks), size=n)
        ids = np.array([walk.demo for walk in self.walks])
        return ids[chosen], rng.integers(60, size=n)


def chosen(steps: int, n: int = N, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(5, size=(steps, n))


def place_of(start: Start) -> tuple[int, int, int]:
    return start.demo, int(MAZES.paths[start.demo][start.step]), start.step


def begin(env: Maze, maze: int, cell: int, clock: int) -> None:
    env.reset(options={"maze": maze})
    env.set_state({**env.get_state(), "cell": cell, "step_count": clock})


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
    assert envs.take_episodes() == expected
    assert envs.take_episodes() == []
    assert envs.restored_steps == 0


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
    with pytest.raises(bp.BackplayError, match="walk held"):
        envs.reset(options={"starts": [Start(5, 0)] * N})
    envs.reset(options={"starts": [Start(7, 0), *[Start(1, 3)] * (N - 1)]})
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
