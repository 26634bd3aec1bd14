"""A resumed run is the run that was never stopped: in every kind of env, in mid-episode."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ale_py
import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as w
from gymnasium.wrappers import TimeLimit

import backplay as bp
import envs_for_tests as envs
from backplay.curricula import from_json
from backplay.data import trees
from backplay.learners import Teacher, make_network
from backplay.restore import DeepCopy, Replay
from backplay.train import TrainConfig, Training
from resumption import assert_resumes_exactly, config, go, through_files

gym.register_envs(ale_py)
pytest.importorskip("minigrid")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

Make = Callable[[], gym.Env[Any, Any]]


class Wide(envs.ManyStreams):
    """Five streams, and episodes that end."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        observation, reward, _, _, info = super().step(action)
        return observation, reward + float(observation[0]), self.steps >= 13, False, info


def limited(make: Make, steps: int) -> Make:
    return lambda: TimeLimit(make(), steps)


def atari() -> gym.Env[Any, Any]:
    env = gym.make("ALE/Breakout-v5", frameskip=1, repeat_action_probability=0.25)
    small = w.AtariPreprocessing(env, screen_size=42, noop_max=5)
    return TimeLimit(w.FrameStackObservation(small, 2), 40)


ZOO: dict[str, tuple[Make, Any, str]] = {
    "CartPole": (lambda: gym.make("CartPole-v1"), None, "attributes"),
    "MountainCar": (lambda: gym.make("MountainCar-v0", max_episode_steps=25), None, "attributes"),
    "Pendulum": (lambda: gym.make("Pendulum-v1", max_episode_steps=21), None, "attributes"),
    "FrozenLake": (lambda: gym.make("FrozenLake-v1", is_slippery=True), None, "attributes"),
    "own state": (limited(lambda: envs.StatefulCorridor(9, 0.3), 30), None, "own"),
    "many streams": (Wide, None, "attributes"),
    "two players": (limited(envs.TwoPlayers, 13), None, "deepcopy"),
    "trap": (limited(envs.TrapCorridor, 13), None, "replay"),
    "CartPole, replayed": (lambda: gym.make("CartPole-v1"), Replay(), "replay"),
    "CartPole, copied": (lambda: gym.make("CartPole-v1"), DeepCopy(), "deepcopy"),
    "MiniGrid": (
        lambda: gym.make("MiniGrid-Dynamic-Obstacles-6x6-v0", max_steps=20), None, "deepcopy",
    ),
    "LunarLander": (lambda: gym.make("LunarLander-v3", max_episode_steps=45), None, "replay"),
    "Hopper": (lambda: gym.make("Hopper-v5"), None, "mujoco"),
    "Breakout": (atari, None, "atari"),
}  # fmt: skip


@functools.cache
def demo_of(name: str) -> bp.Demonstration:
    make, restorer, _ = ZOO[name]
    env = make()
    env.action_space.seed(2)
    return bp.record(
        env, lambda _: env.action_space.sample(), seed=1, max_steps=24, restorer=restorer
    )


def zoo_training(name: str, curriculum: Any = None, **settings: Any) -> Training:
    return Training(
        ZOO[name][0],
        [demo_of(name)],
        curriculum or bp.Until(bp.Uniform(), at=150),
        config(**settings),
    )


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.slow) if x == "Breakout" else x for x in ZOO]
)
def test_in_every_kind_of_env(name: str) -> None:
    assert demo_of(name).restorer.name == ZOO[name][2]
    states = assert_resumes_exactly(lambda: zoo_training(name), (1, 2, 4))
    recipes = [one["recipe"] for state in states for one in state["envs"]["envs"]]
    assert any(recipe["start"][1] > 0 and len(recipe["actions"]) for recipe in recipes)


@pytest.mark.parametrize("name", ["FrozenLake", "MiniGrid", "LunarLander"])
def test_from_true_starts(name: str) -> None:
    assert_resumes_exactly(lambda: zoo_training(name, bp.Standard()), (1, 3))


def test_the_same_seed_is_the_same_run_and_another_is_not() -> None:
    first, second, other = (go(zoo_training("FrozenLake", seed=seed), 3) for seed in (4, 4, 5))
    assert first == second
    assert first != other


# Settings and curricula -------------------------------------------------------------------------


def slippery() -> gym.Env[Any, Any]:
    return TimeLimit(envs.Corridor(7, slip=0.2), 60)


@functools.cache
def demos(restorer: str | None = None) -> list[bp.Demonstration]:
    chosen = bp.restore.RESTORERS[restorer]() if restorer else None
    return [
        bp.record(slippery(), lambda _: 1, seed=seed, max_steps=30, restorer=chosen)
        for seed in (1, 2)
    ]


def training(curriculum: Any = None, restorer: str | None = None, **settings: Any) -> Training:
    return Training(
        slippery, demos(restorer), curriculum or bp.Uniform(), config(**settings),
    )  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [
        {"curriculum": bp.Patience(bp.Uniform(), 1.0)},
        {"curriculum": bp.Frontier(cut=1.5)},
        {"time_limit": "fresh"},
        {"initial": "demonstration"},
        {"time_limit": "fresh", "initial": "demonstration", "num_envs": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("restorer", ["attributes", "deepcopy", "replay"])
def test_under_every_setting(settings: dict[str, Any], restorer: str) -> None:
    assert_resumes_exactly(lambda: training(restorer=restorer, **settings), (1, 2, 4))


def reverse(round_frames: int = 70) -> bp.ReverseCurriculum:
    return bp.ReverseCurriculum.begin(
        [len(demo) for demo in demos()], seed=3, round_frames=round_frames, new_states=24,
        walk_steps=6, new_starts=8, old_starts=4,
    )  # fmt: skip


@pytest.mark.parametrize("restorer", ["attributes", "deepcopy", "replay"])
def test_on_random_walks(restorer: str) -> None:
    """Steps of walking are counted once, though states of walks are made anew."""
    round_frames = 400 if restorer == "replay" else 70  # replaying counts too
    states = assert_resumes_exactly(
        lambda: training(reverse(round_frames), restorer), (1, 2, 3, 4, 6, 8), updates=9
    )
    assert any(one["walked"] for state in states for one in state["envs"]["envs"])
    assert states[-1]["counted"] > 50


def test_on_a_walk_that_is_listed_no_longer() -> None:
    """A round ends in mid-episode: its walks are dropped, the episode goes on."""

    def dropped(state: Any) -> bool:
        listed = {walk.demo for walk in from_json(state["curriculum"]).walks}
        starts = [one["recipe"]["start"][0] for one in state["envs"]["envs"]]
        return any(demo > 1 and demo not in listed for demo in starts)

    states = assert_resumes_exactly(
        lambda: training(reverse(), num_envs=4), tuple(range(1, 12)), updates=14
    )
    assert any(map(dropped, states))


# What is kept beside the envs -------------------------------------------------------------------


def test_a_run_that_is_left_and_taken_up_again_goes_on() -> None:
    halves = training(frames=200)
    first = go(halves, 2)
    lines = first + go(halves)
    assert lines == go(training(frames=200))
    assert lines[-1]["frames"] >= 200
    assert go(halves) == []  # it is at its end


def test_a_state_that_was_loaded_is_the_state_until_the_run_goes_on() -> None:
    first = training()
    go(first, 2)
    state = through_files(first.state())
    second = training()
    second.load_state(state)
    assert trees.first_difference(through_files(second.state()), state) is None
    assert second.evaluate(1).successes.size == 1  # without envs


def test_before_the_first_update_there_is_nothing_to_go_on_from() -> None:
    fresh = training()
    fresh.load_state(through_files(training().state()))
    assert go(fresh, 2) == go(training(), 2)


def kickstarted(seed: int) -> Training:
    env = slippery()
    teacher = make_network(env.observation_space, env.action_space, seed=seed)
    return Training(
        slippery, demos(), bp.Uniform(), config(), teacher=Teacher(teacher, coefficient=3.0),
    )  # fmt: skip


def test_the_teacher_comes_back_with_the_state() -> None:
    whole, stopped = kickstarted(seed=7), kickstarted(seed=7)
    lines = go(whole, 4)
    go(stopped, 2)
    untrained = kickstarted(seed=8)
    untrained.load_state(through_files(stopped.state()))
    assert go(untrained, 2) == lines[2:]
    assert go(kickstarted(seed=8), 4) != lines


@pytest.mark.parametrize("with_teacher", [False, True])
def test_a_teacher_is_neither_lost_nor_made_up(with_teacher: bool) -> None:
    made: list[Callable[[], Training]] = [training, lambda: kickstarted(7)]
    here, there = made[with_teacher](), made[not with_teacher]()
    with pytest.raises(bp.BackplayError, match="of another run"):
        there.load_state(here.state())


# Envs that do not come back ---------------------------------------------------------------------


def lawless(field: str, **settings: Any) -> Training:
    def make() -> Any:
        return TimeLimit(envs.LawlessCorridor(field), 40)

    demo = bp.record(make(), [1] * 3, seed=1, restorer="attributes")  # it is lawful so far
    return Training(make, [demo], bp.Standard(), config(**settings))


@pytest.mark.parametrize("field", ["observation", "reward"])
def test_an_env_that_does_not_follow_from_its_actions_is_refused(field: str) -> None:
    run = lawless(field)
    go(run, 2)
    again = lawless(field)
    again.load_state(through_files(run.state()))
    with pytest.raises(bp.BackplayError) as error:
        go(again)
    assert "LawlessCorridor did not come back to where it stood" in str(error.value)
    assert "exact_resume=False" in str(error.value)


def test_with_new_episodes_it_goes_on() -> None:
    run = lawless("observation")
    go(run, 2)
    again = lawless("observation", exact_resume=False, frames=200)
    again.load_state(through_files(run.state()))
    lines = go(again)
    assert lines[-1]["frames"] >= 200
    assert again.state()["envs"] is None


def test_envs_that_cannot_say_where_they_stand_are_refused() -> None:
    def make() -> Training:
        made = gym.vector.SyncVectorEnv(
            [lambda: bp.BackplayEnv(slippery(), demos(), bp.Uniform())] * 2,
            autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
        )
        return Training(slippery, demos(), bp.Uniform(), config(), envs=made)

    run = make()
    go(run, 1)
    again = make()
    again.load_state(run.state())
    with pytest.raises(bp.BackplayError, match="cannot be resumed in mid-episode"):
        go(again)


def test_frames_and_weights_are_numbers_not_names() -> None:
    """The comparison itself sees a difference in the last bit."""
    one, two = training(), training()
    go(one, 1), go(two, 1)
    weights = two.learner.network.state_dict()
    name = next(iter(weights))
    weights[name].view(-1)[0] = float(np.nextafter(np.float32(weights[name].view(-1)[0]), 9.0))
    assert trees.first_difference(one.state(), two.state()) is not None


def test_the_default_is_exact() -> None:
    assert TrainConfig().exact_resume


@pytest.mark.parametrize("asked", [{"initial": "demonstration"}, {"time_limit": "fresh"}])
def test_what_envs_of_their_own_do_not_read_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(bp.BackplayError, match="draw their own starts"):
        Training(
            None, (), bp.Uniform(), TrainConfig(**asked), envs=object(), evaluator=object(),
        )  # fmt: skip
