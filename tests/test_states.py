"""Demonstrations from states alone, and what a check can say of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import backplay as bp
from backplay.cli import main
from backplay.errors import DemonstrationError
from envs_for_tests import Corridor, StatefulCorridor


def stand(env: gym.Env[Any, Any], place: int) -> None:
    env.unwrapped.place = env.unwrapped.steps = place


def look(env: gym.Env[Any, Any]) -> Any:
    return env.unwrapped.see()


def test_states_are_enough_to_start_from(tmp_path: Path) -> None:
    """The README says so: Backplay needs the demonstration's states, not its actions."""
    demo = bp.Demonstration.from_states(Corridor(), range(11), put=stand, observations=look)
    assert (len(demo), demo.actions, demo.restorer.name) == (10, None, "attributes")
    demo.save(tmp_path / "demo.npz")
    env = bp.BackplayEnv(Corridor(), [bp.load(tmp_path / "demo.npz")], bp.Uniform())
    seen, _ = env.reset(seed=0, options={"start": (0, 7)})
    assert seen.tolist() == [7, 7]
    assert env.unwrapped.place == 7


def test_a_check_restores_them_and_says_what_it_could_not_compare() -> None:
    demo = bp.Demonstration.from_states(Corridor(), range(11), put=stand, observations=look)
    report = bp.check(Corridor(), demo)
    assert report.exact
    assert (report.restored, report.replayed) == (11, 0)
    assert "was not compared" in str(report)
    assert demo.states is not None

    class Shifted(type(demo.restorer)):
        """Loads another place than it was told."""

        def load(self, env: Any, state: Any, rng: Any = None) -> int:
            super().load(env, state, rng)
            env.unwrapped.place += 1
            return 0

    wrong = bp.check(Corridor(), replace(demo, restorer=Shifted()), must_be_exact=False)
    assert not wrong.exact
    assert "state" in str(wrong.divergence)


def test_deep_copies_alone_are_not_called_compared() -> None:
    demo = bp.Demonstration.from_states(
        Corridor(), range(11), put=stand, observations=look, restorer="deepcopy"
    )
    assert "deepcopy states cannot be compared" in str(bp.check(Corridor(), demo))


def test_the_clock_goes_on_where_the_demonstration_stood() -> None:
    def make() -> gym.Env[Any, Any]:
        return gym.wrappers.TimeLimit(Corridor(), 12)

    demo = bp.Demonstration.from_states(make(), range(11), put=stand, observations=look)
    env = bp.BackplayEnv(make(), [demo], bp.Uniform(), time_limit="continue")
    env.reset(seed=0, options={"start": (0, 7)})
    ends = [env.step(0)[3] for _ in range(5)]
    assert ends == [False] * 4 + [True]  # seven steps of twelve were gone


def test_an_env_with_set_state_needs_no_more() -> None:
    env = StatefulCorridor()
    env.reset(seed=0)
    states = [{**env.get_state(), "place": place, "steps": place} for place in range(11)]
    demo = bp.Demonstration.from_states(env, states, observations=look, actions=[1] * 10)
    assert demo.restorer.name == "own"
    rewards = [0.0] * 9 + [1.0]
    with pytest.raises(bp.BackplayError, match="does not restore exactly"):
        bp.check(StatefulCorridor(), demo)  # with actions, rewards are compared: none were given
    demo = bp.Demonstration.from_states(
        env, states, observations=look, actions=[1] * 10, rewards=rewards
    )
    report = bp.check(StatefulCorridor(), demo)
    assert report.exact
    assert report.replayed == 55


def test_what_wrappers_change_is_not_asked_of_the_env_inside() -> None:
    class Seeing(StatefulCorridor):
        def _get_obs(self) -> Any:
            return look(self)

    env = Seeing()
    env.reset(seed=0)
    states = [{**env.get_state(), "place": place, "steps": place} for place in range(11)]
    assert len(bp.Demonstration.from_states(env, states)) == 10
    doubled = gym.wrappers.TransformObservation(env, lambda seen: seen * 2, env.observation_space)
    with pytest.raises(bp.BackplayError, match="TransformObservation changes what the env says"):
        bp.Demonstration.from_states(doubled, states)


def test_poses_of_a_physics_engine() -> None:
    env = gym.make("Hopper-v5")
    env.reset(seed=1)
    data: Any = env.unwrapped.data
    poses = []
    for _ in range(6):
        poses.append((data.qpos.copy(), data.qvel.copy()))
        env.step(env.action_space.sample() * 0)
    demo = bp.Demonstration.from_states(
        env,
        poses,
        put=lambda env, pose: env.unwrapped.set_state(*pose),
        restorer="mujoco",
    )
    assert bp.check(gym.make("Hopper-v5"), demo).exact
    wrapped = bp.BackplayEnv(gym.make("Hopper-v5"), [demo], bp.Uniform())
    wrapped.reset(seed=0, options={"start": (0, 3)})
    np.testing.assert_array_equal(wrapped.unwrapped.data.qpos, poses[3][0])


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"states": [3]}, "at least two"),
        ({"rewards": [1.0]}, "rewards: expected 10"),
        ({"observations": [0]}, "observations: expected 11"),
        ({"observations": None}, "what is seen in each state"),
        ({"put": None}, "cannot be put into state 0"),
        ({"restorer": "replay"}, "cannot be replayed"),
        ({"restorer": "shelf"}, "one of 'own', 'atari'"),
    ],
)
def test_what_is_missing_is_said(parts: dict[str, Any], said: str) -> None:
    given = {"states": range(11), "put": stand, "observations": look, **parts}
    with pytest.raises((DemonstrationError, bp.BackplayError), match=said):
        bp.Demonstration.from_states(Corridor(), given.pop("states"), **given)


def test_a_restorer_goes_by_its_name() -> None:
    assert bp.record(Corridor(), lambda _: 1, restorer="deepcopy").restorer.name == "deepcopy"
    with pytest.raises(bp.BackplayError, match="restorer: expected one of"):
        bp.record(Corridor(), lambda _: 1, restorer="shelf")


def test_the_agent_of_a_run_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    env = gym.make("FrozenLake-v1", is_slippery=False)
    bp.record(env, [2, 2, 1, 1, 1, 2]).save("lake.npz")
    words = ("train FrozenLake-v1 lake.npz --dir run --frames 256 --num-envs 2 --final-episodes 2"
             " --ppo.num-steps 32")  # fmt: skip
    assert main(words.split()) == 0
    agent = bp.load_agent("run")
    action, _ = agent.predict(env.reset(seed=0)[0], deterministic=True)
    assert env.action_space.contains(int(action))
    found = bp.evaluate(lambda: gym.make("FrozenLake-v1", is_slippery=False), agent, episodes=3)
    assert len(found.successes) == 3
    with pytest.raises(bp.BackplayError):
        bp.load_agent("nowhere")
