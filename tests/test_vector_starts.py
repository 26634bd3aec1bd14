"""The same distribution of starts under every vector env, and what comes back of episodes."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ale_py
import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as w
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from scipy.stats import chisquare
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize

import backplay as bp
from backplay.records import Start
from corridor_demos import CURRICULA, EPISODES, LENGTH, WORKERS, demos, make

gym.register_envs(ale_py)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


Loop = Iterator[tuple[Any, Callable[[], None]]]
"""Workers, and a function that takes one step in each of them."""


@contextmanager
def bare(factories: list[Callable[[], Any]]) -> Loop:
    workers = [factory() for factory in factories]
    for i, env in enumerate(workers):
        env.reset(seed=i)

    def step() -> None:
        for env in workers:
            _, _, terminated, truncated, _ = env.step(1)
            if terminated or truncated:
                env.reset()

    yield workers, step


@contextmanager
def gymnasium(vector: Any, mode: Any, factories: list[Callable[[], Any]]) -> Loop:
    workers = vector(factories, autoreset_mode=mode)
    workers.reset(seed=0)

    def step() -> None:
        _, _, terminated, truncated, _ = workers.step(np.ones(WORKERS, int))
        ended = terminated | truncated
        if mode is AutoresetMode.DISABLED and ended.any():
            workers.reset(options={"reset_mask": ended})

    yield workers, step
    workers.close()


@contextmanager
def sb3(vector: Any, factories: list[Callable[[], Any]]) -> Loop:
    workers = vector(factories)
    workers.seed(0)
    workers.reset()
    yield workers, lambda: workers.step(np.ones(WORKERS, int))
    workers.close()


LOOPS = {
    "bare loop": bare,
    "DummyVecEnv": functools.partial(sb3, DummyVecEnv),
    "SubprocVecEnv": functools.partial(sb3, SubprocVecEnv),
    **{
        f"{vector.__name__} {mode.name}": functools.partial(gymnasium, vector, mode)
        for vector in (SyncVectorEnv, AsyncVectorEnv)
        for mode in AutoresetMode
    },
}
each_loop = pytest.mark.parametrize(
    "loop",
    [
        pytest.param(loop, id=name, marks=[pytest.mark.slow] if name == "SubprocVecEnv" else [])
        for name, loop in LOOPS.items()
    ],
)


def call(workers: Any, name: str) -> list[Any]:
    """What a method returns in each worker."""
    if isinstance(workers, list):
        return [getattr(env, name)() for env in workers]
    return list(getattr(workers, "env_method" if hasattr(workers, "env_method") else "call")(name))


def held(workers: Any) -> list[Any]:
    """The curriculum in each worker."""
    if isinstance(workers, list):
        return [env.curriculum for env in workers]
    if hasattr(workers, "env_method"):
        return list(workers.get_attr("curriculum"))
    return list(workers.call("curriculum"))


def first_starts(workers: Any, step: Callable[[], None]) -> list[Start]:
    """The starts of the next EPISODES episodes of each worker: none is preferred for its length."""
    for _ in range((EPISODES + 1) * (LENGTH + 1)):
        step()
    found = call(workers, "take_episodes")
    assert all(len(episodes) > EPISODES for episodes in found)
    # The first may have been under way, drawn from an earlier curriculum.
    return [episode.start for episodes in found for episode in episodes[1 : EPISODES + 1]]


def p_value(starts: list[Start], curriculum: Any) -> float:
    """How well these starts fit the curriculum's weights; 0 if one of them has no weight."""
    lengths = [len(demo) for demo in demos()]
    expected = {
        (demo, step): share * weight * len(starts)
        for demo, share in enumerate(curriculum.demo_weights(lengths))
        for step, weight in enumerate(curriculum.weights(demo, lengths[demo]))
        if weight > 0
    }
    counts = Counter(tuple(start) for start in starts)
    if not counts.keys() <= expected.keys():
        return 0.0
    return float(chisquare([counts[cell] for cell in expected], [*expected.values()]).pvalue)


@each_loop
def test_starts_are_drawn_from_the_curriculum_everywhere(loop: Any) -> None:
    """Each curriculum, before and after `advance` moved it in all workers; and what comes back."""
    with loop([functools.partial(make, bp.Standard())] * WORKERS) as (workers, step):
        for name, curriculum in CURRICULA.items():
            for frames in (0, 1000):
                now, _ = bp.advance(workers, curriculum, frames)
                assert now == curriculum.update((), frames)
                assert held(workers) == [now] * WORKERS
                p = p_value(first_starts(workers, step), now)
                assert p > 1e-3, f"{name} at {frames} frames: p = {p}"
        bp.advance(workers, bp.Uniform(), 0)
        _episodes_come_back_once_and_are_right(workers, step)


def _episodes_come_back_once_and_are_right(workers: Any, step: Callable[[], None]) -> None:
    episodes = []
    for i in range(40):
        step()
        if i % 7 == 0:
            episodes += bp.advance(workers, bp.Uniform(), i)[1]
    episodes += bp.advance(workers, bp.Uniform(), 40)[1]
    assert bp.advance(workers, bp.Uniform(), 40)[1] == []
    assert 40 * WORKERS / (LENGTH + 1) - WORKERS <= len(episodes) <= 40 * WORKERS
    for episode in episodes:
        place = demos()[episode.start.demo].observations[episode.start.step][0]
        assert episode.length == LENGTH - place
        assert episode.total_reward == 1.0
        assert episode.success is True


def test_the_curricula_above_are_told_apart() -> None:
    """The test above would fail if the wrong one were in force."""
    lengths, rng = [len(demo) for demo in demos()], np.random.default_rng(0)
    moments = [c.update((), f) for c in CURRICULA.values() for f in (0, 1000)][:4]
    for drawn in moments:
        starts = [
            Start(int(d), int(s))
            for d, s in zip(*drawn.sample(lengths, WORKERS * EPISODES, rng), strict=True)
        ]
        for other in moments:
            assert (p_value(starts, other) > 1e-3) == (other is drawn)


@pytest.mark.parametrize("initial", ["reset", "demonstration"])
def test_what_is_seen_is_what_was_seen_there(initial: Any) -> None:
    env = make(bp.Uniform(), initial=initial)
    for _ in range(50):
        observation, info = env.reset()
        recorded = demos()[env.start.demo].observations[env.start.step]
        np.testing.assert_array_equal(observation, recorded)
        assert info == {}
        observation[:] = 99  # is not the demonstration's own


def test_wrappers_around_are_fine() -> None:
    single = w.RecordEpisodeStatistics(w.TimeLimit(make(bp.Standard()), 30))
    single.reset()
    assert bp.advance(single, bp.Uniform(), 0) == (bp.Uniform(), [])
    assert single.get_wrapper_attr("curriculum") == bp.Uniform()
    vector = gym.wrappers.vector.RecordEpisodeStatistics(
        SyncVectorEnv([functools.partial(make, bp.Standard())] * 2)
    )
    vector.reset()
    assert bp.advance(vector, bp.Uniform(), 0)[0] == bp.Uniform()
    assert list(vector.unwrapped.call("curriculum")) == [bp.Uniform()] * 2
    normalised = VecNormalize(make_vec_env(functools.partial(make, bp.Standard()), 2))
    normalised.reset()
    bp.advance(normalised, bp.Uniform(), 0)
    assert normalised.get_attr("curriculum") == [bp.Uniform()] * 2
    bp.advance([single, make(bp.Standard())], bp.Standard(), 0)
    assert single.get_wrapper_attr("curriculum") == bp.Standard()
