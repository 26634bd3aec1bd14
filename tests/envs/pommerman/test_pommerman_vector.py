"""Many games at once: the same as one by one, starts by a curriculum, and PPO on top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from played_games import ENV, demonstrations, library, perspectives, walks

import backplay as bp
from backplay.envs.pommerman.layout import STEP
from backplay.envs.pommerman.learner import picks_up
from backplay.envs.pommerman.vector import PommermanVector
from backplay.records import Start
from backplay.wrapper import take_episodes

N = 4


@dataclass(frozen=True)
class Mixed(bp.Curriculum):
    """Half of the episodes start in the initial state, the others near the end."""

    def weights(self, demo: int, length: int) -> np.ndarray:
        weights = np.zeros(length + 1)
        weights[0] = weights[length - 5] = 0.5
        return weights

    def update(self, episodes: Any, frames: int) -> Mixed:
        return self


def one_by_one(make: Any) -> SyncVectorEnv:
    return SyncVectorEnv([make] * N, autoreset_mode=AutoresetMode.SAME_STEP)


def assert_same_games(batched: Any, single: Any, steps: int, seed: int = 5) -> int:
    """Plays both under the same seeds and actions; how many episodes ended."""
    assert np.array_equal(batched.reset(seed=seed)[0], single.reset(seed=seed)[0])
    ended = 0
    for taken in walks(steps, N):
        ours, theirs = batched.step(taken), single.step(taken)
        for a, b in zip(ours[:4], theirs[:4], strict=True):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)
        over = ours[2]
        ended += int(over.sum())
        assert ("final_obs" in ours[4]) == ("final_obs" in theirs[4]) == over.any()
        if over.any():
            assert_same_ends(ours[4], theirs[4], over)
    return ended


def assert_same_ends(ours: dict[str, Any], theirs: dict[str, Any], over: np.ndarray) -> None:
    assert np.array_equal(ours["_final_obs"], over)
    for i in np.flatnonzero(over):
        assert np.array_equal(ours["final_obs"][i], theirs["final_obs"][i])
        for name, values in theirs["final_info"].items():
            assert np.array_equal(ours["final_info"][name][i], values[i]), name


def test_it_plays_the_games_of_single_envs() -> None:
    kwargs: dict[str, Any] = {"opponents": ["fsmts", "simple", "random"], "item_reward": 0.1}
    batched = gym.make_vec(ENV, num_envs=N, **kwargs)
    assert isinstance(batched, PommermanVector)
    assert batched.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert assert_same_games(batched, one_by_one(lambda: gym.make(ENV, **kwargs)), 250) > 5


@pytest.mark.parametrize("initial", ["reset", "demonstration"])
@pytest.mark.parametrize("curriculum", [bp.Uniform(), bp.Standard(), Mixed()], ids=repr)
def test_with_demonstrations_it_plays_the_games_of_backplay_env(
    initial: Any, curriculum: Any
) -> None:
    batched = PommermanVector(
        N, demos=perspectives(), curriculum=curriculum, initial=initial, frames="recorded"
    )
    single = one_by_one(
        lambda: bp.BackplayEnv(gym.make(ENV), demonstrations(), curriculum, initial=initial)
    )
    assert assert_same_games(batched, single, 250) > 5
    ours, theirs = take_episodes(batched), take_episodes(single)
    assert sorted(ours) == sorted(theirs)
    assert take_episodes(batched) == []


def test_threads_do_not_matter() -> None:
    answers = []
    for jobs in (1, 2):
        envs = PommermanVector(9, jobs=jobs, demos=perspectives(), curriculum=bp.Uniform())
        seen = [envs.reset(seed=0)[0].tobytes()]
        for taken in walks(60, 9):
            observations, rewards, *_ = envs.step(taken)
            seen.append(observations.tobytes() + rewards.tobytes())
        answers.append(seen)
        envs.close()
    assert answers[0] == answers[1]


def test_both_frames_are_the_restored_one_unless_asked_otherwise() -> None:
    starts = [Start(i, 40 + i) for i in range(N)]
    for frames in ("doubled", "recorded"):
        envs = PommermanVector(N, demos=perspectives(), frames=frames)
        seen, infos = envs.reset(seed=0, options={"starts": starts})
        assert envs.starts == starts
        assert infos["seat"].tolist() == [demo.seat for demo in perspectives()]
        for i, start in enumerate(starts):
            recorded = demonstrations()[i].observations[start.step]
            assert np.array_equal(seen[i, 19:], recorded[19:])
            older = seen[i, 19:] if frames == "doubled" else recorded[:19]
            assert np.array_equal(seen[i, :19], older)


def test_restored_streams_repeat_the_demonstration_and_reseeded_ones_do_not() -> None:
    demo = perspectives()[0]
    for rng in ("restore", "reseed"):
        envs = PommermanVector(1, demos=[demo], rng=rng)
        envs.reset(seed=3, options={"starts": [Start(0, 60)]})
        same = []
        for t in range(60, 200):
            over = envs.step(demo.game.actions[t, demo.seat][None])[2][0]
            if over:
                break
            same.append(np.array_equal(envs._games.rows[0], demo.game.rows[t + 1]))
        assert all(same) == (rng == "restore")
        assert len(same) == 140 or rng == "reseed"


def test_items_pay_in_the_dense_variant_only() -> None:
    """From the steps of a recorded game in which its winner picks up an item, and from others."""
    demo = perspectives()[0]
    rows, seat = demo.game.rows, demo.seat
    taken = np.array([picks_up(rows[t], rows[t + 1], seat) for t in range(len(demo) - 1)])
    steps = [*np.flatnonzero(taken)[:4].tolist(), 0, 50]
    assert len(steps) > 3
    for item_reward in (0.0, 0.1):
        envs = PommermanVector(
            len(steps),
            demos=[demo],
            rng="restore",
            initial="demonstration",
            item_reward=item_reward,
        )
        envs.reset(seed=0, options={"starts": [Start(0, step) for step in steps]})
        _, rewards, *_ = envs.step(demo.game.actions[steps, seat])
        assert rewards.tolist() == [item_reward if taken[step] else 0.0 for step in steps]


def test_seats_rotate_and_start_only_from_their_own_demonstrations() -> None:
    envs = PommermanVector(
        8, demos=perspectives(), curriculum=bp.Uniform(), initial="demonstration", seat="rotate"
    )
    _, infos = envs.reset(seed=0)
    assert infos["seat"].tolist() == [0, 1, 2, 3] * 2
    for taken in walks(100, 8):
        envs.step(taken)
    episodes = envs.take_episodes()
    assert len(episodes) > 8
    by_seat = {demo.seat: k for k, demo in enumerate(perspectives())}
    assert sorted(by_seat) == [0, 1, 2, 3]  # a set of four has a map for each
    assert all(
        start is not None and perspectives()[start.demo].seat == seat
        for start, seat in zip(envs.starts, envs.seats, strict=True)
    )
    with pytest.raises(bp.BackplayError, match="No demonstration is of seat 1"):
        PommermanVector(2, demos=[perspectives()[by_seat[0]]], seat="rotate")


def test_a_win_is_a_success_and_every_episode_comes_back() -> None:
    """From just before the end of the runner-up's game, standing still: some win, some lose."""
    demos = perspectives("runner-up")
    envs = PommermanVector(16, demos=demos, curriculum=bp.Uniform(), initial="demonstration")
    envs.reset(seed=0)
    ended = wins = total = 0.0
    for taken in walks(200, 16):
        _, rewards, over, _, infos = envs.step(taken)
        ended += over.sum()
        total += rewards.sum()
        if over.any():
            wins += infos["final_info"]["is_success"].sum()
    episodes = envs.take_episodes()
    assert len(episodes) == ended > 16
    assert sum(episode.success for episode in episodes) == wins
    assert sum(episode.total_reward for episode in episodes) == total
    assert all((episode.total_reward == 1.0) == episode.success for episode in episodes)


def test_curricula_move_it() -> None:
    envs = PommermanVector(2, demos=perspectives(), curriculum=bp.Standard())
    envs.reset(seed=0)
    moved, episodes = bp.advance(envs, bp.Backplay((bp.Window(0, 1, 3), bp.Window(50, 9, 12))), 60)
    assert episodes == []
    assert envs.curriculum == moved
    envs.reset(seed=1)
    lengths = [len(demo) for demo in perspectives()]
    assert all(9 <= lengths[start.demo] - start.step < 12 for start in envs.starts if start)
    assert envs.get_attr("restored_steps") == (0,)
    with pytest.raises(bp.BackplayError, match="curriculum"):
        envs.set_curriculum(bp.Uniform)


def test_it_reads_a_file_of_games(tmp_path: Any) -> None:
    library().save(tmp_path / "games.npz")
    envs = gym.make_vec(
        ENV,
        num_envs=3,
        demos=str(tmp_path / "games.npz"),
        curriculum=bp.Uniform(),
        opponents="simple",
    )
    envs.reset(seed=0)
    assert isinstance(envs, PommermanVector)
    assert all(start is not None for start in envs.starts)
    assert (envs._games.rows[:, STEP] > 0).any()
    assert not envs._games.memories.any()  # what others remembered is not theirs


def test_ppo_collects_from_it() -> None:
    from backplay.learners import PPO, PPOConfig, make_network

    envs = PommermanVector(4, opponents="simple", copy=False)
    observations, _ = envs.reset(seed=0)
    network = make_network(envs.single_observation_space, envs.single_action_space, seed=0)
    config = PPOConfig(num_steps=40, passes=1)
    learner = PPO(network, envs.single_action_space, config, seed=0)
    rollout = learner.collect(envs, observations)
    assert rollout.terminated.any()
    assert not rollout.truncated.any()
    first = np.asarray(rollout.observations[0])
    fresh = PommermanVector(4, opponents="simple")
    assert np.array_equal(first, fresh.reset(seed=0)[0])  # the array was not overwritten
    assert np.isfinite(learner.update(rollout)["policy_loss"])


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({"demos": []}, "demos"),
        ({"demos": [3]}, "demos"),
        ({"demos": "nowhere.npz"}, "no file nowhere.npz"),
        ({"num_envs": 0}, "num_envs"),
        ({"seat": "first"}, "seat"),
        ({"seat": 5}, "seat"),
        ({"initial": "start"}, "initial"),
        ({"frames": "single"}, "frames"),
        ({"rng": "random"}, "rng"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(kwargs: dict[str, Any], said: str) -> None:
    with pytest.raises(bp.BackplayError, match=said):
        PommermanVector(**{"num_envs": 2, "demos": perspectives(), **kwargs})


def test_wrong_actions_seeds_and_starts_are_refused() -> None:
    envs = PommermanVector(2, opponents="random")
    with pytest.raises(bp.BackplayError, match="reset"):
        envs.step(np.zeros(2, np.int64))
    with pytest.raises(bp.BackplayError, match="seed"):
        envs.reset(seed=[1, 2, 3])
    envs.reset(seed=[1, 2])
    for actions in ([0, 6], [0, -1], [0], [0.5, 1.0]):
        with pytest.raises(bp.BackplayError, match="actions"):
            envs.step(np.array(actions))
    with pytest.raises(bp.BackplayError, match="starts"):
        envs.reset(options={"starts": [Start(0, 0)] * 2})
    envs = PommermanVector(2, demos=perspectives())
    for starts in ([Start(0, 0)], [Start(9, 0)] * 2, [Start(0, 10_000)] * 2, ["x", "y"]):
        with pytest.raises(bp.BackplayError, match="starts"):
            envs.reset(options={"starts": starts})


def test_it_is_drawn() -> None:
    envs = PommermanVector(2, opponents="random", render_mode="rgb_array")
    envs.reset(seed=0)
    assert [frame.shape for frame in envs.render()] == [(404, 352, 3)] * 2
