"""BackplayEnv: where episodes start under every vector env, and what comes back of them."""

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
from minigrid.wrappers import ImgObsWrapper
from scipy.stats import chisquare
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize

import backplay as bp
import envs_for_tests as envs
from backplay import trees

gym.register_envs(ale_py)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

LENGTH = 4
SHORT, LONG = [1] * 4, [0, 1, 0, 1, 1, 1, 1]
WORKERS = 2
EPISODES = 250
CURRICULA = {
    "Backplay": bp.Backplay((bp.Window(0, 1, 4), bp.Window(1000, 3, 6)), start_share=0.25),
    "Uniform": bp.Uniform(until=1000),
    "Standard": bp.Standard(),
}


@functools.cache
def demos() -> list[bp.Demonstration]:
    """Two of different lengths; what is seen tells which one it is, and which step."""
    return [bp.record(envs.Corridor(LENGTH), actions, seed=1) for actions in (SHORT, LONG)]


def make(curriculum: Any, **kwargs: Any) -> bp.BackplayEnv:
    return bp.BackplayEnv(envs.Corridor(LENGTH), demos(), curriculum, **kwargs)


# The same starts everywhere ---------------------------------------------------------------------

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


def first_starts(workers: Any, step: Callable[[], None]) -> list[bp.Start]:
    """The starts of the next EPISODES episodes of each worker: none is preferred for its length."""
    for _ in range((EPISODES + 1) * (LENGTH + 1)):
        step()
    found = call(workers, "take_episodes")
    assert all(len(episodes) > EPISODES for episodes in found)
    # The first may have been under way, drawn from an earlier curriculum.
    return [episode.start for episodes in found for episode in episodes[1 : EPISODES + 1]]


def p_value(starts: list[bp.Start], curriculum: Any) -> float:
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
        assert episode.start is not None
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
            bp.Start(int(d), int(s))
            for d, s in zip(*drawn.sample(lengths, WORKERS * EPISODES, rng), strict=True)
        ]
        for other in moments:
            assert (p_value(starts, other) > 1e-3) == (other is drawn)


@pytest.mark.parametrize("initial", ["reset", "demonstration"])
def test_what_is_seen_is_what_was_seen_there(initial: Any) -> None:
    env = make(bp.Uniform(), initial=initial)
    for _ in range(50):
        observation, info = env.reset()
        assert env.start is not None
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
    assert list(vector.unwrapped.call("curriculum")) == [bp.Uniform()] * 2  # type: ignore[attr-defined]
    normalised = VecNormalize(make_vec_env(functools.partial(make, bp.Standard()), 2))
    normalised.reset()
    bp.advance(normalised, bp.Uniform(), 0)
    assert normalised.get_attr("curriculum") == [bp.Uniform()] * 2
    bp.advance([single, make(bp.Standard())], bp.Standard(), 0)
    assert single.get_wrapper_attr("curriculum") == bp.Standard()


# Where an episode starts ------------------------------------------------------------------------


def test_a_start_can_be_asked_for() -> None:
    env = make(bp.Standard())
    observation, _ = env.reset(options={"start": bp.Start(1, 5)})
    assert env.start == bp.Start(1, 5)
    np.testing.assert_array_equal(observation, demos()[1].observations[5])
    assert env.reset(options={"start": (0, 2)})[0].tolist() == [2, 2]
    for _ in range(2):
        *_, terminated, _, _ = env.step(1)
    assert terminated


@pytest.mark.parametrize("start", [(0, 4), (2, 0), (-1, 0), (0, -1), "ab", 7, (0,)])
def test_a_start_that_does_not_exist_is_refused(start: Any) -> None:
    with pytest.raises(bp.BackplayError, match=r'options\["start"\]: expected a Start'):
        make(bp.Standard()).reset(options={"start": start})


def test_other_options_reach_the_env() -> None:
    demo = bp.record(envs.Levels(), lambda _: 1, options={"level": 4})
    env = bp.BackplayEnv(envs.Levels(), [demo], bp.Standard())
    env.reset(options={"level": 9, "start": bp.Start(0, 0)})
    assert env.unwrapped.length == 9  # type: ignore[attr-defined]


def luck(env: Any, n: int = 12) -> list[float]:
    """Where an always-right walk goes: on a slippery env, a matter of luck."""
    places = []
    for _ in range(n):
        observation, _, terminated, truncated, _ = env.step(1)
        places.append(float(np.asarray(observation).ravel()[0]))
        if terminated or truncated:
            break
    return places


@pytest.mark.parametrize("restorer", [None, bp.DeepCopy(), bp.Replay()])
def test_initial_is_the_envs_own_reset_or_the_demonstrations(restorer: Any) -> None:
    """A level is drawn at every reset; with "demonstration" it is always the recorded one."""

    class Drawn(envs.Corridor):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            self.length = int(self.np_random.integers(5, 10**6))
            return self.see(), {}

        def see(self) -> Any:
            return np.array([self.place, self.length], np.float32)

    demo = bp.record(Drawn(), [1] * 4, seed=1, restorer=restorer)
    own = bp.BackplayEnv(Drawn(), [demo], bp.Standard())
    levels = [own.reset(seed=3 if i == 0 else None)[0][1] for i in range(20)]
    assert len({*levels}) == 20
    plain = Drawn()
    assert levels == [plain.reset(seed=3 if i == 0 else None)[0][1] for i in range(20)]
    recorded = bp.BackplayEnv(Drawn(), [demo], bp.Standard(), initial="demonstration")
    assert {recorded.reset()[0][1] for _ in range(20)} == {demo.observations[0][1]}


@pytest.mark.parametrize("restorer", [None, bp.DeepCopy(), bp.Replay()])
@pytest.mark.parametrize("rng", ["reseed", "restore"])
def test_a_reset_after_a_restore_does_not_draw_what_was_drawn_before(
    restorer: Any, rng: Any
) -> None:
    """The demonstration's stream must not decide which levels the env's own resets draw."""

    class Drawn(envs.Corridor):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            self.place = int(self.np_random.integers(10**6))
            return self.see(), {}

    demo = bp.record(Drawn(10**7), [1] * 6, seed=1, restorer=restorer)
    env = bp.BackplayEnv(Drawn(10**7), [demo], bp.Standard(), rng=rng)
    env.reset(seed=5)
    drawn = []
    for _ in range(10):
        env.reset(options={"start": bp.Start(0, 3)})
        env.step(1)
        drawn.append(env.reset(options={"start": bp.Start(0, 0)})[0][0])
    assert len({*drawn}) == 10


def test_nor_where_the_stream_is_out_of_reach() -> None:
    """After a replay the env's streams are seeded as recorded, and not all of them can be moved."""

    class Sealed:
        __slots__ = ("rng",)

    class Drawn(envs.Corridor):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            if seed is not None:
                self.sealed = Sealed()
                self.sealed.rng = np.random.default_rng(seed)
            super().reset(seed=seed)
            self.place = int(self.sealed.rng.integers(10**6))
            return self.see(), {}

    demo = bp.record(Drawn(10**7), [1] * 6, seed=1, restorer=bp.Replay())
    env = bp.BackplayEnv(Drawn(10**7), [demo], bp.Standard())
    drawn = []
    for _ in range(10):
        env.reset(options={"start": bp.Start(0, 3)})
        drawn.append(env.reset(options={"start": bp.Start(0, 0)})[0][0])
    assert len({*drawn}) == 10


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
        assert env.start is not None
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
            env.reset(options={"start": bp.Start(0, 5)})
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
    start, actions = {"start": bp.Start(0, 12)}, [2, 3] * 4

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


# Time limits and what wrappers hold -------------------------------------------------------------


@pytest.mark.parametrize("restorer", [None, bp.DeepCopy(), bp.Replay()])
@pytest.mark.parametrize(("time_limit", "left"), [("continue", 20 - 6), ("fresh", 20)])
def test_the_time_limit_goes_on_or_starts_afresh(restorer: Any, time_limit: Any, left: int) -> None:
    def build() -> Any:
        return w.TimeLimit(envs.Corridor(1000), 20)

    demo = bp.record(build(), [1] * 10, restorer=restorer)
    env = bp.BackplayEnv(build(), [demo], bp.Uniform(), time_limit=time_limit)
    for _ in range(3):  # also after an episode that was cut short by the limit
        env.reset(options={"start": bp.Start(0, 6)})
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
        train.reset(options={"start": bp.Start(0, 6)})
        assert [train.step(0)[3] for _ in range(left)] == [False] * (left - 1) + [True]


def test_a_fresh_clock_needs_a_clock() -> None:
    with pytest.raises(bp.BackplayError, match="no clock to start afresh"):
        make(bp.Uniform(), time_limit="fresh")


def stack(env: gym.Env[Any, Any]) -> Any:
    return w.RecordEpisodeStatistics(w.FrameStackObservation(w.OrderEnforcing(env), 3))


@pytest.mark.parametrize("restorer", [None, bp.DeepCopy(), bp.Replay()])
def test_nothing_is_left_over_in_wrappers(restorer: Any) -> None:
    """After any other episode, the stacked frames and the statistics are the demonstration's."""
    demo = bp.record(stack(envs.Corridor(8)), [1] * 8, restorer=restorer)
    env = bp.BackplayEnv(stack(envs.Corridor(8)), [demo], bp.Uniform())
    env.reset(seed=0)
    for episode in range(6):
        luck(env, 3 + episode)
        observation, _ = env.reset(options={"start": bp.Start(0, 5)})
        np.testing.assert_array_equal(observation[:, 0], [3, 4, 5])
        assert env.step(1)[0][:, 0].tolist() == [4, 5, 6]
        env.step(1)
        *_, terminated, _, info = env.step(1)
        assert terminated
        assert info["episode"]["l"] == 8  # from the demonstration's own beginning
        assert info["episode"]["t"] < 5


def test_statistics_over_episodes_go_on_through_restores() -> None:
    demo = bp.record(w.NormalizeObservation(stack(envs.Corridor(8))), [1] * 8)
    env = bp.BackplayEnv(w.NormalizeObservation(stack(envs.Corridor(8))), [demo], bp.Uniform())
    counts = []
    for i in range(5):
        env.reset(seed=0 if i == 0 else None)
        luck(env)
        counts.append(env.get_wrapper_attr("obs_rms").count)
    assert counts == sorted({*counts})
    assert env.get_wrapper_attr("episode_count") == 5
    assert len(env.get_wrapper_attr("return_queue")) == 5


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


# Success ----------------------------------------------------------------------------------------


def test_success_is_by_the_users_rule() -> None:
    seen: list[bp.Ending] = []

    def rule(end: bp.Ending) -> bool:
        seen.append(end)
        return end.length < 3

    env = make(bp.Standard(), success=rule)
    for step in (0, 3):
        env.reset(options={"start": bp.Start(0, step)})
        luck(env)
    assert [episode.success for episode in env.take_episodes()] == [False, True]
    assert seen[1] == bp.Ending(bp.Start(0, 3), 1.0, 1, 1.0, True, False, {})


def test_only_finished_episodes_come_back() -> None:
    env = make(bp.Standard())
    env.reset()
    env.step(1)
    assert env.take_episodes() == []
    env.reset()  # the first one was given up
    luck(env)
    assert env.take_episodes() == [bp.Episode(env.start, 1.0, LENGTH, True)]
    assert env.take_episodes() == []


def test_restoring_by_replay_is_counted() -> None:
    demo = bp.record(envs.Corridor(8), lambda _: 1, restorer=bp.Replay())
    env = bp.BackplayEnv(envs.Corridor(8), [demo], bp.Uniform())
    for step in (3, 5, 0):
        env.reset(options={"start": (0, step)})
    assert env.restored_steps == 8
    assert make(bp.Uniform()).restored_steps == 0


# Warnings and errors ----------------------------------------------------------------------------


def run_long(env: Any) -> None:
    env.reset()
    env.unwrapped.length = 60_000
    while not env.step(1)[2]:
        pass
    env.reset()


def test_a_curriculum_that_nobody_moves_is_warned_of_once() -> None:
    env = make(CURRICULA["Backplay"])
    with pytest.warns(UserWarning, match=r"Nobody moves it: call bp.advance\(envs") as caught:
        [run_long(env) for _ in range(2)]
    assert len([x for x in caught if "Nobody" in str(x.message)]) == 1


@pytest.mark.parametrize("curriculum", [bp.Standard(), bp.Uniform()])
@pytest.mark.filterwarnings("error")
def test_one_that_does_not_move_is_not(curriculum: Any) -> None:
    run_long(make(curriculum))


@pytest.mark.filterwarnings("error")
def test_nor_one_that_is_moved() -> None:
    env = make(CURRICULA["Backplay"])
    env.reset()
    env.unwrapped.length = 60_000  # type: ignore[attr-defined]
    while not env.step(1)[2]:
        pass
    bp.advance(env, CURRICULA["Backplay"], 10)
    env.reset()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"initial": "start"}, "initial: expected 'reset' or 'demonstration', got 'start'"),
        ({"rng": "keep"}, "rng: expected 'reseed' or 'restore', got 'keep'"),
        ({"time_limit": 7}, "time_limit: expected 'continue' or 'fresh', got 7"),
        ({"curriculum": "backplay"}, "curriculum: expected a curriculum"),
        ({"curriculum": bp.Uniform}, "curriculum: expected a curriculum"),
        ({"demos": []}, "demos: expected a list of at least one demonstration"),
        ({"demos": ["demo.npz"]}, "demos: expected a list of at least one demonstration"),
        ({"demos": "demo.npz"}, "demos: expected a list of at least one demonstration"),
    ],
)
def test_arguments_are_checked(kwargs: dict[str, Any], message: str) -> None:
    arguments = {"demos": demos(), "curriculum": bp.Standard(), **kwargs}
    with pytest.raises(bp.BackplayError) as error:
        bp.BackplayEnv(envs.Corridor(LENGTH), **arguments)
    assert str(error.value).startswith(message)


def test_a_demonstration_is_not_a_list_of_them() -> None:
    with pytest.raises(bp.BackplayError, match=r"Write BackplayEnv\(env, \[demo\], curriculum\)"):
        bp.BackplayEnv(envs.Corridor(LENGTH), demos()[0], bp.Standard())  # type: ignore[arg-type]


def test_another_envs_demonstration_is_refused() -> None:
    with pytest.raises(bp.DemonstrationError, match="of another observation space"):
        bp.BackplayEnv(gym.make("CartPole-v1"), demos(), bp.Standard())
    car = bp.record(gym.make("MountainCar-v0"), [1, 1])
    with pytest.raises(bp.DemonstrationError, match="of another environment"):
        bp.BackplayEnv(gym.make("CartPole-v1"), [car], bp.Standard())


def test_another_stack_of_wrappers_is_refused_when_it_is_restored() -> None:
    env = bp.BackplayEnv(Monitor(envs.Corridor(LENGTH)), demos(), bp.Standard())
    with pytest.raises(bp.BackplayError, match="of another stack of wrappers"):
        env.reset(options={"start": bp.Start(0, 2)})


@pytest.mark.parametrize("other", [envs.Corridor(), 7, [envs.Corridor()]])
def test_advance_wants_envs_of_ours(other: Any) -> None:
    with pytest.raises(bp.BackplayError, match="envs: expected a BackplayEnv"):
        bp.advance(other, bp.Standard(), 0)
