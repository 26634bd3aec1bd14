"""After a restore by BackplayEnv: luck, time limits, and what wrappers and workers hold."""

from __future__ import annotations

import functools
from typing import Any

import ale_py
import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as w
from gymnasium.vector import AsyncVectorEnv
from minigrid.wrappers import ImgObsWrapper
from stable_baselines3.common.monitor import Monitor

import backplay as bp
import envs_for_tests as envs
from backplay.data import trees
from backplay.errors import DemonstrationError
from backplay.records import Start
from backplay.restore import DeepCopy, Replay
from corridor_demos import luck, make

gym.register_envs(ale_py)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


# Luck after a restore ---------------------------------------------------------------------------

HARD_LAKE = {"map_name": "8x8", "is_slippery": True}


@functools.cache
def slippery() -> bp.Demonstration:
    return bp.record(gym.make("FrozenLake-v1", **HARD_LAKE), lambda _: 0, seed=2, max_steps=40)


def test_restored_luck_is_the_demonstrations() -> None:
    env = bp.BackplayEnv(
        gym.make("FrozenLake-v1", **HARD_LAKE), [slippery()], bp.Uniform(), rng="restore"
    )
    env.reset(seed=0)
    for _ in range(20):
        env.reset()
        if env.start.step == 0:
            continue  # the env's own reset
        for t in range(env.start.step, len(slippery())):
            assert env.step(0)[0] == slippery().observations[t + 1]


def test_reseeded_luck_differs_and_is_reproducible() -> None:
    def outcomes(seed: int) -> list[Any]:
        env = bp.BackplayEnv(gym.make("FrozenLake-v1", **HARD_LAKE), [slippery()], bp.Uniform())
        env.reset(seed=seed)
        found = []
        for _ in range(30):
            env.reset(options={"start": Start(0, 5)})
            found.append(tuple(env.step(0)[0] for _ in range(10)))
        return found

    assert outcomes(1) == outcomes(1)
    assert outcomes(1) != outcomes(2)
    assert len({*outcomes(1)}) > 20
    assert tuple(slippery().observations[6:16]) not in outcomes(1)


def test_starts_are_reproducible_from_the_seed() -> None:
    def starts(seed: int) -> list[Any]:
        env = make(bp.Uniform())
        env.reset(seed=seed)
        return [env.start] + [(env.reset(), env.start)[1] for _ in range(30)]

    assert starts(4) == starts(4)
    assert starts(4) != starts(5)


def test_sticky_actions_are_reseeded_or_restored() -> None:
    env: Any = gym.make("ALE/Breakout-v5", repeat_action_probability=0.5)
    demo = bp.record(env, [1, *[2, 3] * 15], seed=2)  # the paddle is amid at step 12
    assert demo.restorer.name == "atari"
    start, actions = {"start": Start(0, 12)}, [2, 3] * 4

    def outcomes(rng: Any) -> set[bytes]:
        train = bp.BackplayEnv(env, [demo], bp.Uniform(), rng=rng)
        train.reset(seed=1)
        found = set()
        for _ in range(8):
            train.reset(options=start)
            found.add(b"".join(train.step(a)[0].tobytes() for a in actions))
        return found

    assert len(outcomes("restore")) == 1
    assert len(outcomes("reseed")) > 4


@pytest.mark.parametrize("restorer", ["attributes", "deepcopy", "replay"])
@pytest.mark.parametrize("first", [0, 1])
def test_an_illegal_step_is_not_blamed_on_the_state(restorer: str, first: int) -> None:
    """Nor does the env move: whoever catches the error may choose another action."""
    demo = bp.record(envs.LegalCorridor(), lambda _: 1, restorer=restorer)
    env = bp.BackplayEnv(envs.LegalCorridor(), [demo], bp.Uniform())
    for start in (Start(0, 1), Start(0, first)):
        env.reset(options={"start": start})
    for _ in range(first):
        env.step(0)
    with pytest.raises(ValueError, match="illegal: a wall to the left"):
        env.step(0)
    assert env.step(1)[0].tolist() == [1, 2 * first + 1]


# Time limits and what wrappers hold -------------------------------------------------------------


@pytest.mark.parametrize("restorer", [None, DeepCopy(), Replay()])
@pytest.mark.parametrize(("time_limit", "left"), [("continue", 20 - 6), ("fresh", 20)])
def test_the_time_limit_goes_on_or_starts_afresh(restorer: Any, time_limit: Any, left: int) -> None:
    def build() -> Any:
        return w.TimeLimit(envs.Corridor(1000), 20)

    demo = bp.record(build(), [1] * 10, restorer=restorer)
    env = bp.BackplayEnv(build(), [demo], bp.Uniform(), time_limit=time_limit)
    for _ in range(3):  # also after an episode that was cut short by the limit
        env.reset(options={"start": Start(0, 6)})
        steps, truncated = 0, False
        while not truncated:
            truncated = env.step(1)[3]
            steps += 1
        assert steps == left
    assert [episode.length for episode in env.take_episodes()] == [left] * 3


def test_minigrids_own_clock_starts_afresh() -> None:
    env = gym.make("MiniGrid-Empty-5x5-v0", max_steps=20)
    demo = bp.record(env, [0] * 10, seed=1)
    for time_limit, left in (("continue", 14), ("fresh", 20)):
        train: Any = bp.BackplayEnv(env, [demo], bp.Uniform(), time_limit=time_limit)
        train.reset(options={"start": Start(0, 6)})
        assert [train.step(0)[3] for _ in range(left)] == [False] * (left - 1) + [True]


@pytest.mark.parametrize("grid", [False, True])
def test_a_limit_within_the_demonstration_is_refused(grid: bool) -> None:
    """Episodes that start beyond it would all be cut after one step."""

    def build(limit: int) -> Any:
        if grid:
            return gym.make("MiniGrid-Empty-5x5-v0", max_steps=limit)
        return w.TimeLimit(envs.Corridor(1000), limit)

    demo = bp.record(build(30), [1] * 20)
    with pytest.raises(DemonstrationError, match=r"at least 20 steps, got one of 19.*\"fresh\""):
        bp.BackplayEnv(build(19), [demo], settings="mine")
    env = bp.BackplayEnv(build(19), [demo], time_limit="fresh", settings="mine")
    env.reset(options={"start": Start(0, 19)})
    assert not env.step(1)[3]
    bp.BackplayEnv(build(20), [demo], settings="mine")  # as long as what it shows


def test_a_fresh_clock_needs_a_clock() -> None:
    with pytest.raises(bp.BackplayError, match="no clock to start afresh"):
        make(bp.Uniform(), time_limit="fresh")


def stack(env: gym.Env[Any, Any]) -> Any:
    return w.RecordEpisodeStatistics(w.FrameStackObservation(w.OrderEnforcing(env), 3))


@pytest.mark.parametrize("restorer", [None, DeepCopy(), Replay()])
def test_nothing_is_left_over_in_wrappers(restorer: Any) -> None:
    """After any other episode, the stacked frames are the demonstration's, and counts are 0."""
    demo = bp.record(stack(envs.Corridor(8)), [1] * 8, restorer=restorer)
    env = bp.BackplayEnv(stack(envs.Corridor(8)), [demo], bp.Uniform())
    env.reset(seed=0)
    for episode in range(6):
        luck(env, 3 + episode)
        observation, _ = env.reset(options={"start": Start(0, 5)})
        np.testing.assert_array_equal(observation[:, 0], [3, 4, 5])
        assert env.step(1)[0][:, 0].tolist() == [4, 5, 6]
        env.step(1)
        *_, terminated, _, info = env.step(1)
        assert terminated
        assert info["episode"]["l"] == 3  # from the start on
        assert info["episode"]["t"] < 5


def test_statistics_over_episodes_go_on_through_restores() -> None:
    demo = bp.record(w.NormalizeReward(stack(envs.Corridor(8))), [1] * 8)
    env = bp.BackplayEnv(w.NormalizeReward(stack(envs.Corridor(8))), [demo], bp.Uniform())
    counts = []
    for i in range(5):
        env.reset(seed=0 if i == 0 else None)
        luck(env)
        counts.append(env.get_wrapper_attr("return_rms").count)
    assert counts == sorted({*counts})
    assert env.get_wrapper_attr("episode_count") == 5
    assert len(env.get_wrapper_attr("return_queue")) == 5


def test_observations_on_a_scale_that_moves_are_refused_inside() -> None:
    """The same state would look otherwise after a restore than after a step."""

    def build() -> Any:
        return w.NormalizeObservation(envs.Corridor(8))

    demo = bp.record(build(), [1] * 8)
    with pytest.raises(bp.BackplayError, match="Put NormalizeObservation around BackplayEnv"):
        bp.BackplayEnv(w.TimeLimit(build(), 20), [demo], bp.Uniform())
    plain = bp.record(envs.Corridor(8), [1] * 8)
    w.NormalizeObservation(bp.BackplayEnv(envs.Corridor(8), [plain])).reset(seed=0)
    fixed = build()
    fixed.update_running_mean = False
    bp.BackplayEnv(fixed, [bp.record(fixed, [1] * 8)], bp.Uniform()).reset(seed=0)


def test_monitor_inside_keeps_its_log() -> None:
    demo = bp.record(Monitor(envs.Corridor(8)), [1] * 8)
    env = bp.BackplayEnv(Monitor(envs.Corridor(8)), [demo], bp.Uniform())
    for _ in range(5):
        env.reset()
        luck(env)
    assert len(env.get_wrapper_attr("episode_lengths")) == 5


@pytest.mark.parametrize(
    "make_env",
    [
        lambda: ImgObsWrapper(gym.make("MiniGrid-DoorKey-5x5-v0")),
        lambda: gym.make("Hopper-v5"),
        pytest.param(
            lambda: w.FrameStackObservation(
                w.AtariPreprocessing(gym.make("ALE/Breakout-v5", frameskip=1)), 4
            ),
            marks=pytest.mark.slow,
        ),
        lambda: gym.make("LunarLander-v3"),
    ],
    ids=["MiniGrid", "MuJoCo", "Atari", "LunarLander"],
)
def test_states_cross_into_other_processes(make_env: Any) -> None:
    """Recorded here, restored there: the episodes go on as recorded."""
    env = make_env()
    env.action_space.seed(0)
    demo = bp.record(env, lambda _: env.action_space.sample(), seed=1, max_steps=25)
    assert demo.actions is not None
    start = min(12, len(demo) - 4)
    curriculum = bp.Backplay((bp.Window(0, len(demo) - start, len(demo) - start),))
    factory = functools.partial(_restoring, make_env, demo, curriculum)
    workers = AsyncVectorEnv([factory] * 2)
    try:
        observation, _ = workers.reset(seed=0)
        for t in range(start, len(demo)):
            for seen in observation:
                assert trees.first_difference(seen, demo.observations[t]) is None, t
            observation, reward, *_ = workers.step(np.stack([demo.actions[t]] * 2))
            np.testing.assert_array_equal(reward, [demo.rewards[t]] * 2)
    finally:
        workers.close()


def _restoring(make_env: Any, demo: bp.Demonstration, curriculum: Any) -> bp.BackplayEnv:
    return bp.BackplayEnv(make_env(), [demo], curriculum, rng="restore")
