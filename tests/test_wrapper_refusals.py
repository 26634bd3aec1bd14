"""BackplayEnv: what is warned of, what is refused, and which wrappers may come and go."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.wrappers import RecordEpisodeStatistics, StickyAction
from stable_baselines3.common.monitor import Monitor

import backplay as bp
import envs_for_tests as envs
from backplay.curricula import GrowingWindow, Waiting
from backplay.errors import DemonstrationError
from backplay.records import Start
from backplay.restore import DeepCopy, Replay
from corridor_demos import CURRICULA, LENGTH, LONG, SHORT, demos, luck, make

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


# Warnings ---------------------------------------------------------------------------------------


def run_long(env: Any, steps: int = 60_000) -> None:
    env.reset()
    env.unwrapped.length = steps
    while not env.step(1)[2]:
        pass
    env.reset()


def test_a_curriculum_that_nobody_moves_is_warned_of_once() -> None:
    env = make(CURRICULA["Backplay"])
    with pytest.warns(UserWarning, match=r"Nobody moves it: call bp.advance\(envs") as caught:
        [run_long(env) for _ in range(2)]
    assert len([x for x in caught if "Nobody" in str(x.message)]) == 1


@pytest.mark.parametrize("curriculum", [bp.Standard(), bp.Uniform()])
def test_one_that_does_not_move_is_not(curriculum: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_long(make(curriculum))


def test_nor_one_that_is_moved() -> None:
    env = make(CURRICULA["Backplay"])
    env.reset()
    env.unwrapped.length = 60_000
    while not env.step(1)[2]:
        pass
    bp.advance(env, CURRICULA["Backplay"], 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.reset()


def test_it_is_said_in_each_of_eight_envs_and_after_no_usual_rollout() -> None:
    env = make(CURRICULA["Backplay"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_long(env, 2_048)
    with pytest.warns(UserWarning, match="Nobody moves it"):
        run_long(env, 100_000 // 8)


def test_only_steps_since_it_was_moved_count() -> None:
    """Episodes may be longer than rollouts."""
    env = make(CURRICULA["Backplay"])
    env.reset()
    env.unwrapped.length = 60_000
    done = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        while not done:
            done = env.step(1)[2]
            if env.unwrapped.place % 128 == 0:
                bp.advance(env, CURRICULA["Backplay"], 10)
        env.reset()


def test_one_that_waits_for_mastery_is_warned_of_too() -> None:
    for curriculum in (
        Waiting(bp.Backplay((bp.Window(0, 1, 4), bp.Window(1000, 3, 6))), 0.5), GrowingWindow(),
    ):  # fmt: skip
        with pytest.warns(UserWarning, match="Nobody moves it"):
            run_long(make(curriculum))


# What is refused, and what is not ---------------------------------------------------------------


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
    with pytest.raises(bp.BackplayError, match=r"Write BackplayEnv\(env, \[demo\]\)"):
        bp.BackplayEnv(envs.Corridor(LENGTH), demos()[0], bp.Standard())


def test_another_envs_demonstration_is_refused() -> None:
    with pytest.raises(DemonstrationError, match="of another observation space"):
        bp.BackplayEnv(gym.make("CartPole-v1"), demos(), bp.Standard())
    car = bp.record(gym.make("MountainCar-v0"), [1, 1])
    with pytest.raises(DemonstrationError, match="of another environment"):
        bp.BackplayEnv(gym.make("CartPole-v1"), [car], bp.Standard())


@pytest.mark.parametrize("restorer", [None, "own", "deepcopy"])
def test_another_stack_of_wrappers_is_refused_at_once(restorer: str | None) -> None:
    kind = envs.StatefulCorridor if restorer == "own" else envs.Corridor
    demo = bp.record(kind(LENGTH), SHORT, seed=1, restorer=restorer)
    sticky = StickyAction(kind(LENGTH), 0.5)
    with pytest.raises(DemonstrationError, match=r"another stack of wrappers: .*StickyAction"):
        bp.BackplayEnv(sticky, [demo], bp.Standard())
    with pytest.raises(DemonstrationError, match="go around BackplayEnv"):
        bp.check(sticky, demo, must_be_exact=False)


@pytest.mark.parametrize("restorer", [None, DeepCopy(), Replay()])
@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("inside", [True, False])
def test_who_counts_may_come_and_go(restorer: Any, recorded: bool, inside: bool) -> None:
    """Stable-Baselines3's make_vec_env puts a Monitor inside of any wrapper_class."""

    def build(counted: bool) -> Any:
        env = envs.Corridor(LENGTH)
        return Monitor(RecordEpisodeStatistics(env)) if counted else env

    demo = bp.record(build(recorded), LONG, seed=1, restorer=restorer)
    assert bp.check(build(inside), demo).exact
    env = bp.BackplayEnv(build(inside), [demo], bp.Uniform())
    for start in (Start(0, 5), Start(0, 0), Start(0, 5)):
        env.reset(options={"start": start})
        luck(env, 1)  # given up
        env.reset(options={"start": start})
        luck(env)
        if inside:
            assert env.get_wrapper_attr("episode_lengths")[-1] == (4 if start.step == 0 else 2)
            assert env.get_wrapper_attr("length_queue")[-1] == (4 if start.step == 0 else 2)


@pytest.mark.parametrize("other", [envs.Corridor(), 7, [envs.Corridor()]])
def test_advance_wants_envs_of_ours(other: Any) -> None:
    with pytest.raises(bp.BackplayError, match="envs: expected a BackplayEnv"):
        bp.advance(other, bp.Standard(), 0)
