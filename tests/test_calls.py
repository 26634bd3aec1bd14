"""`bp.train`, `bp.evaluate` and what an agent predicts."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import backplay as bp
from backplay.demos.doubts import BackplayWarning
from backplay.learners import PPOConfig
from backplay.train import Progress, TrainConfig, evaluate
from backplay.train.agent import Agent
from envs_for_tests import Corridor

CONFIG = TrainConfig(
    frames=4096, num_envs=4, evaluate_every=0, final_episodes=10,
    ppo=PPOConfig(num_steps=64, minibatch_size=64, learning_rate=3e-3),
)  # fmt: skip


def short() -> gym.Env[Any, Any]:
    return gym.wrappers.TimeLimit(Corridor(), 30)


class Words(gym.ObservationWrapper[Any, Any, Any]):
    """The corridor seen as a Dict with a text in it."""

    def __init__(self) -> None:
        super().__init__(short())
        self.observation_space = spaces.Dict(
            place=self.env.observation_space, mission=spaces.Text(20)
        )

    def observation(self, observation: Any) -> Any:
        return {"place": observation, "mission": "go right"}


@pytest.fixture(scope="module")
def demo() -> bp.Demonstration:
    return bp.record(Corridor(), lambda _: 1, seed=0)


@pytest.fixture(scope="module")
def agent(demo: bp.Demonstration) -> Agent:
    return bp.train(Corridor, demo, config=CONFIG)


def test_five_lines_train_an_agent_that_reaches_the_goal(agent: Agent) -> None:
    assert agent.evaluation.success >= 0.9
    found = bp.evaluate(Corridor, agent, episodes=10, deterministic=True)
    assert found.success == 1.0


def test_an_agent_predicts_as_models_of_stable_baselines3_do(agent: Agent) -> None:
    env = Corridor()
    seen, _ = env.reset(seed=0)
    action, state = agent.predict(seen, deterministic=True)
    assert state is None
    assert env.action_space.contains(int(action))
    many, _ = agent.predict(np.stack([seen] * 3), deterministic=True)
    assert many.tolist() == [int(action)] * 3


def test_frames_seed_and_progress_reach_the_training(demo: bp.Demonstration) -> None:
    told: list[Progress] = []
    bp.train(Corridor, [demo], frames=512, seed=3, config=CONFIG, show_progress=told.append)
    assert [progress.total_frames for progress in told] == [512] * len(told)
    assert told[-1].finished


def test_texts_in_observations_are_no_hindrance() -> None:
    shown = bp.record(Words(), lambda _: 1, seed=0)
    agent = bp.train(Words, shown, frames=512, config=CONFIG)
    action, _ = agent.predict(Words().reset(seed=0)[0])
    assert int(action) in (0, 1)
    assert len(bp.evaluate(Words, agent, episodes=3).lengths) == 3


def test_any_policy_is_measured(demo: bp.Demonstration) -> None:
    def right(observation: Any) -> int:
        assert observation.shape == Corridor().observation_space.shape
        return 1

    assert bp.evaluate(Corridor, right, demos=[demo], episodes=5).success == 1.0
    assert bp.evaluate(short, lambda _: 0, demos=demo, episodes=5).success == 0.0
    assert bp.evaluate(Corridor, right, success=lambda end: False, episodes=5).success == 0.0


def test_a_function_is_shown_observations_as_the_env_gives_them() -> None:
    def right(observation: Any) -> int:
        assert observation["mission"] == "go right"
        assert observation["place"].shape == Corridor().observation_space.shape
        return 1

    assert bp.evaluate(Words, right, success="terminated", episodes=3).success == 1.0


class WithMemory:
    """A model that remembers, as recurrent policies do."""

    def predict(self, observations: Any, deterministic: bool = False) -> tuple[Any, Any]:
        return np.ones(len(observations), int), (np.zeros(3),)


class ActionsAlone:
    """A model of another library, which returns no pair."""

    def predict(self, observations: Any, deterministic: bool = False) -> Any:
        return np.ones(len(observations), int)


def test_what_cannot_be_measured_is_said(demo: bp.Demonstration) -> None:
    with pytest.raises(bp.BackplayError, match="Pass success= or demos="):
        bp.evaluate(Corridor, lambda _: 1)
    with pytest.raises(bp.BackplayError, match="an object with predict"):
        bp.evaluate(Corridor, 3, demos=[demo])
    with pytest.raises(bp.BackplayError, match="a policy without a memory, got WithMemory"):
        bp.evaluate(Corridor, WithMemory(), demos=[demo])
    with pytest.raises(bp.BackplayError, match=r"predict of ActionsAlone.*Pass a function from"):
        bp.evaluate(Corridor, ActionsAlone(), demos=[demo])
    with pytest.raises(bp.BackplayError, match="episodes: expected at least 1, got 0"):
        bp.evaluate(Corridor, lambda _: 1, demos=[demo], episodes=0)


def test_an_episode_that_never_ends_is_left_and_said(
    demo: bp.Demonstration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate, "LONGEST", 50)
    with pytest.warns(BackplayWarning, match="TimeLimit"):
        measured = bp.evaluate(TimeLimitless, lambda _: 0, success="terminated", episodes=3)
    assert measured.success == 0
    assert list(measured.lengths) == [50, 50, 50]


class TimeLimitless(Corridor):
    """Nothing ends it but the goal."""

    def step(self, action: Any) -> Any:
        seen, reward, terminated, _, info = super().step(action)
        return seen, reward, terminated, False, info


def test_mistakes_in_python_are_one_clear_line(agent: Agent, demo: bp.Demonstration) -> None:
    made, named = Corridor(), "MountainCar-v0"
    for call, words in (
        (lambda: bp.train(made, demo), r"function that makes the environment.*bp\.train\(lambda"),
        (lambda: bp.train(named, demo), r"lambda: gym\.make\('MountainCar-v0'\)"),
        (lambda: bp.train(Corridor, "demo.npz"), r"bp\.load\(path\)"),
        (lambda: bp.train(Corridor, []), "demonstrations"),
        (lambda: bp.evaluate(made, agent), r"bp\.evaluate\(lambda"),
        (lambda: agent.predict(np.zeros(5)), r"observation: expected one of Box.*shape \(5,\)"),
        (lambda: bp.evaluate(Corridor, agent, demos="demo.npz"), r"bp\.load\(path\)"),
        (lambda: bp.check(demo, made), r"check\(env, demo\)"),
        (lambda: bp.record([1, 1], made), r"record\(env, policy\)"),
    ):
        with pytest.raises(bp.BackplayError, match=words):
            call()


def test_an_env_whose_episodes_start_elsewhere_is_refused(demo: bp.Demonstration) -> None:
    def make() -> gym.Env[Any, Any]:
        return gym.wrappers.RecordEpisodeStatistics(bp.BackplayEnv(short(), [demo]))

    with pytest.raises(bp.BackplayError, match=r"the plain environment.*got a BackplayEnv"):
        bp.evaluate(make, lambda _: 1, demos=demo)
    with pytest.raises(bp.BackplayError, match="Make it without BackplayEnv"):
        bp.train(make, demo, config=CONFIG)


def test_a_maker_of_one_env_only_is_refused(demo: bp.Demonstration) -> None:
    """Episodes that are played at once would be one episode."""
    env = Corridor()
    for make in (lambda: env, lambda: gym.wrappers.TimeLimit(env, 30)):
        with pytest.raises(bp.BackplayError, match=r"another environment at each call.*lambda: "):
            bp.evaluate(make, lambda _: 1, demos=demo)
        with pytest.raises(bp.BackplayError, match="got the same one twice"):
            bp.train(make, demo, config=CONFIG)


def test_an_agent_says_what_it_is(agent: Agent) -> None:
    assert "Box" in repr(agent)
    assert "success" in repr(agent)


def test_of_several_demonstrations_the_one_that_does_not_fit_is_named(
    demo: bp.Demonstration,
) -> None:
    other = bp.record(gym.make("FrozenLake-v1"), [0])
    with pytest.raises(bp.BackplayError, match=r"Demonstration 2 of 2: .*of another"):
        bp.BackplayEnv(Corridor(), [demo, other])
