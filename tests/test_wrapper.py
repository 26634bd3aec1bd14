"""BackplayEnv: where an episode starts, what counts as success, when patience ends."""

from __future__ import annotations

from typing import Any

import ale_py
import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

import backplay as bp
import envs_for_tests as envs
from backplay.demos.success import Ending
from backplay.records import Start
from backplay.restore import DeepCopy, Replay
from corridor_demos import LENGTH, demos, luck, make

gym.register_envs(ale_py)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


# Where an episode starts ------------------------------------------------------------------------


def test_a_start_can_be_asked_for() -> None:
    env = make(bp.Standard())
    observation, _ = env.reset(options={"start": Start(1, 5)})
    assert env.start == Start(1, 5)
    np.testing.assert_array_equal(observation, demos()[1].observations[5])
    assert env.reset(options={"start": (0, 2)})[0].tolist() == [2, 2]
    for _ in range(2):
        *_, terminated, _, _ = env.step(1)
    assert terminated


@pytest.mark.parametrize("start", [(0, 4), (2, 0), (-1, 0), (0, -1), "ab", 7, (0,)])
def test_a_start_that_does_not_exist_is_refused(start: Any) -> None:
    with pytest.raises(bp.BackplayError, match=r'options\["start"\]: expected \(demo, step\)'):
        make(bp.Standard()).reset(options={"start": start})


def test_other_options_reach_the_env() -> None:
    demo = bp.record(envs.Levels(), lambda _: 1, options={"level": 4})
    env = bp.BackplayEnv(envs.Levels(), [demo], bp.Standard())
    env.reset(options={"level": 9, "start": Start(0, 0)})
    assert env.unwrapped.length == 9


@pytest.mark.parametrize("restorer", [None, DeepCopy(), Replay()])
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


@pytest.mark.parametrize("restorer", [None, DeepCopy(), Replay()])
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
        env.reset(options={"start": Start(0, 3)})
        env.step(1)
        drawn.append(env.reset(options={"start": Start(0, 0)})[0][0])
    assert len({*drawn}) == 10


def test_nor_where_the_stream_is_out_of_reach() -> None:
    """After a replay the env's streams are seeded as recorded, and not all of them can be moved."""

    class Sealed:
        __slots__ = ("rng",)

    class Drawn(envs.Corridor):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            if seed is not None or not hasattr(self, "sealed"):
                self.sealed = Sealed()
                self.sealed.rng = np.random.default_rng(seed)
            super().reset(seed=seed)
            self.place = int(self.sealed.rng.integers(10**6))
            return self.see(), {}

    demo = bp.record(Drawn(10**7), [1] * 6, seed=1, restorer=Replay())
    env = bp.BackplayEnv(Drawn(10**7), [demo], bp.Standard())
    drawn = []
    for _ in range(10):
        env.reset(options={"start": Start(0, 3)})
        drawn.append(env.reset(options={"start": Start(0, 0)})[0][0])
    assert len({*drawn}) == 10


# Success ----------------------------------------------------------------------------------------


def test_success_is_by_the_users_rule() -> None:
    seen: list[Ending] = []

    def rule(end: Ending) -> bool:
        seen.append(end)
        return end.length < 3

    env = make(bp.Standard(), success=rule)
    for step in (0, 3):
        env.reset(options={"start": Start(0, step)})
        luck(env)
    assert [episode.success for episode in env.take_episodes()] == [False, True]
    assert seen[1] == Ending(Start(0, 3), 1.0, 1, 1.0, True, False, {})


def test_only_finished_episodes_come_back() -> None:
    env = make(bp.Standard())
    env.reset()
    env.step(1)
    assert env.take_episodes() == []
    env.reset()  # the first one was given up
    luck(env)
    assert [e[:4] for e in env.take_episodes()] == [(env.start, 1.0, LENGTH, True)]
    assert env.take_episodes() == []


def test_an_episode_that_is_cut_outside_is_a_failure_that_was_cut() -> None:
    """A TimeLimit around it ends an episode in silence: the curriculum would hear of wins alone."""
    inside = make(bp.Standard())
    env = TimeLimit(inside, 5)
    for start in (Start(0, 0), Start(0, 2)):
        assert stand_still(env, start) == (5, False, True)
        env.reset()
        told = inside.take_episodes()
        assert [(e.start, e.length, e.success) for e in told] == [(start, 5, False)]
    env.reset()
    assert inside.take_episodes() == []


def test_what_is_cut_outside_is_judged_as_any_other_that_was_truncated() -> None:
    seen: list[Ending] = []
    env = make(bp.Standard(), success=lambda end: seen.append(end) or True)
    env.reset(options={"start": Start(0, 3)})
    env.step(0)
    env.reset()
    assert seen == [Ending(Start(0, 3), 0.0, 1, 0.0, False, True, {})]
    assert [episode.success for episode in env.take_episodes()] == [True]


def test_what_is_given_up_before_the_demonstration_would_be_there_says_nothing() -> None:
    env = make(bp.Standard())
    for steps in (0, 1, 3):
        env.reset(options={"start": Start(0, 0)})
        for _ in range(steps):
            env.step(0)
    env.reset()
    assert env.take_episodes() == []


def test_restoring_by_replay_is_counted() -> None:
    demo = bp.record(envs.Corridor(8), lambda _: 1, restorer=Replay())
    env = bp.BackplayEnv(envs.Corridor(8), [demo], bp.Uniform())
    for step in (3, 5, 0):
        env.reset(options={"start": (0, step)})
    assert env.restored_steps == 8
    assert make(bp.Uniform()).restored_steps == 0


# Patience ---------------------------------------------------------------------------------------


def stand_still(env: Any, start: Start) -> tuple[int, bool, bool]:
    """How many steps an episode lasts that gets nowhere, and how it ends."""
    env.reset(options={"start": start})
    for step in range(1, 200):
        _, _, terminated, truncated, _ = env.step(0)
        if terminated or truncated:
            return step, terminated, truncated
    return 200, False, False


def test_patience_is_a_multiple_of_what_the_demonstration_took() -> None:
    env = make(bp.Patience(bp.Standard(), 2))
    assert stand_still(env, Start(0, 0)) == (16 + 2 * 4, False, True)
    assert stand_still(env, Start(1, 5)) == (16 + 2 * 2, False, True)
    assert [(e.length, e.success) for e in env.take_episodes()] == [(24, False), (20, False)]
    assert stand_still(make(bp.Standard()), Start(0, 0)) == (200, False, False)


def test_an_episode_says_how_far_it_began_and_what_the_demonstration_earned() -> None:
    env = make(bp.Patience(bp.Standard(), 1))
    for start in (Start(0, 0), Start(1, 5)):
        stand_still(env, start)
    assert [(e.back, e.par) for e in env.take_episodes()] == [(4, 1.0), (2, 1.0)]


def test_without_a_curriculum_it_has_the_default() -> None:
    env = bp.BackplayEnv(envs.Corridor(LENGTH), demos())
    assert env.curriculum == bp.Frontier()


def test_reaching_the_goal_in_the_last_patient_step_is_no_truncation() -> None:
    env = make(bp.Patience(bp.Standard(), 1))
    env.reset(options={"start": Start(0, 3)})
    answers = [env.step(action) for action in (*(0, 1) * 8, 1)]
    assert answers[-1][2:4] == (True, False)
    assert env.take_episodes()[0].success
