"""Recording: what is kept, which restorer is taken, what is refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium import wrappers as w

import backplay as bp
import envs_for_tests as envs
from backplay.demos.doubts import BackplayWarning
from backplay.errors import DemonstrationError
from backplay.restore import DeepCopy, IllegalActionError, Replay


def test_what_is_kept() -> None:
    demo = bp.record(envs.Corridor(5), lambda _: 1, seed=4)
    assert len(demo) == 5
    assert demo.actions == [1] * 5
    assert [o.tolist() for o in demo.observations] == [[i, i] for i in range(6)]
    assert demo.rewards.tolist() == [0, 0, 0, 0, 1]
    assert demo.terminated
    assert demo.seed == 4
    assert demo.options is None
    assert demo.success is None
    assert len(demo.states) == 6
    assert "gymnasium" in demo.versions
    assert demo.spaces["action"] == "Discrete(2)"


class Right:
    """A model, as Stable-Baselines3 has them."""

    def predict(self, observation: Any, *, deterministic: bool = False) -> tuple[Any, None]:
        return np.array(1), None


def test_a_model_is_a_policy() -> None:
    assert bp.record(envs.Corridor(5), Right()).actions == [1] * 5


@pytest.mark.parametrize("actions", [[1] * 7, np.ones(7, int)])
def test_actions_that_the_episode_left_over_are_said(actions: Any) -> None:
    with pytest.warns(BackplayWarning, match="the episode ended after 5 of 7 actions"):
        assert len(bp.record(envs.Corridor(5), actions)) == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error", BackplayWarning)
        bp.record(envs.Corridor(5), actions[:5])
        bp.record(envs.Corridor(7), actions, max_steps=5, success=True)


def test_the_env_is_described() -> None:
    demo = bp.record(gym.make("FrozenLake-v1", is_slippery=False), [1, 1, 2], seed=0)
    assert demo.env_id == "FrozenLake-v1"
    assert demo.env_kwargs["is_slippery"] is False


@pytest.mark.parametrize(
    ("info", "said", "kept"),
    [
        ({}, None, None),
        ({"is_success": True}, None, True),
        ({"success": np.False_}, None, False),
        ({"is_success": True}, False, False),
        ({}, True, True),
    ],
)
def test_success_is_what_was_said(info: dict[str, Any], said: Any, kept: Any) -> None:
    class Tells(envs.Corridor):
        def step(self, action: Any) -> Any:
            return (*super().step(action)[:4], info)

    assert bp.record(Tells(3), lambda _: 1, success=said).success is kept


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((0.0, True, {}), "(observation, reward, terminated, truncated, info)"),
        ((np.array([1.0]), True, False, {}), "The reward of step"),
        ((float("nan"), True, False, {}), "expected a finite number, got nan"),
    ],
)
def test_a_step_of_another_form_is_one_line(answer: tuple[Any, ...], said: str) -> None:
    """The fault is the env's: that no restorer is exact would say nothing of it."""

    class Odd(envs.Corridor):
        def step(self, action: Any) -> Any:
            return (super().step(action)[0], *answer)

    with pytest.raises(bp.BackplayError) as refusal:
        bp.record(Odd(3), lambda _: 1)
    assert said in str(refusal.value)
    assert "restorer" not in str(refusal.value)


def test_options_are_kept_and_passed_to_every_reset() -> None:
    demo = bp.record(envs.Levels(), lambda _: 1, options={"level": 6}, seed=1)
    assert demo.options == {"level": 6}
    assert len(demo) == 6
    assert bp.check(envs.Levels(), demo).exact


def test_actions_can_be_left_out() -> None:
    demo = bp.record(envs.Corridor(5), lambda _: 1, keep_actions=False)
    assert demo.actions is None
    report = bp.check(envs.Corridor(5), demo)
    assert report.exact
    assert report.replayed == 0
    assert "it has no actions" in report.remarks[-1]


def test_nothing_recorded_is_refused() -> None:
    with pytest.raises(DemonstrationError, match="Nothing was recorded"):
        bp.record(envs.Corridor(), [])


def test_a_restorer_asked_for_is_taken_if_it_is_exact() -> None:
    demo = bp.record(envs.Corridor(9), lambda _: 1, restorer=Replay())
    assert demo.restorer.name == "replay"
    with pytest.raises(bp.BackplayError, match=r"deepcopy: restored at step \d+, it differs"):
        bp.record(envs.TrapCorridor(), [1] * 12, restorer=DeepCopy())


@pytest.mark.parametrize("field", ["observation", "reward", "terminated", "truncated"])
def test_a_lawless_env_is_refused(field: str) -> None:
    with pytest.raises(bp.BackplayError, match=rf"differs at step \d+, {field}: "):
        bp.record(envs.LawlessCorridor(field), [1] * 20, seed=0)


def test_what_random_actions_do_not_show_the_recorded_episode_does() -> None:
    """The probe never sees it: a deep copy goes wrong only far along the corridor."""

    class Late(envs.TrapCorridor):
        def see(self) -> Any:
            late = self.place if self.place < 35 else 1000 * self.worlds[0].turns
            return np.array([self.place, late], np.float32)

    assert bp.find_restorer(Late()).name == "deepcopy"
    demo = bp.record(Late(), lambda _: 1)
    assert demo.restorer.name == "replay"
    assert bp.check(Late(), demo).exact


@pytest.mark.parametrize("trap", [False, True])
def test_an_env_that_refuses_illegal_actions_is_proven_on_the_recordings_own(trap: bool) -> None:
    class Legal(envs.LegalCorridor, envs.TrapCorridor if trap else envs.Corridor):  # type: ignore[misc]
        """With `trap`, a deep copy is a fresh one."""

    with pytest.raises(IllegalActionError, match="got ValueError: illegal: a wall"):
        bp.find_restorer(Legal())
    demo = bp.record(Legal(), lambda _: 1)
    assert demo.restorer.name == ("replay" if trap else "attributes")
    assert bp.check(Legal(), demo).exact
    with pytest.raises(ValueError, match="a wall to the left"):
        bp.record(Legal(), [1, 0, 0])


SPACES = {
    "Dict": (
        spaces.Dict({"a": spaces.Box(0, 1, (2, 2)), "b": spaces.Dict({"c": spaces.Discrete(3)})}),
        spaces.Dict({"x": spaces.Discrete(4), "y": spaces.Box(-1, 1, (2,))}),
    ),
    "Tuple": (
        spaces.Tuple([spaces.Discrete(3), spaces.Box(0, 255, (3,), np.uint8)]),
        spaces.Tuple([spaces.Discrete(2), spaces.MultiBinary(2)]),
    ),
    "MultiDiscrete": (spaces.MultiDiscrete([3, 4]), spaces.MultiDiscrete([2, 2, 5])),
    "MultiBinary": (spaces.MultiBinary([2, 3]), spaces.MultiBinary(4)),
    "Text": (spaces.Text(8), spaces.Text(4)),
    "Box": (spaces.Box(-np.inf, np.inf, (3,), np.float64), spaces.Box(-1, 1, (1,), np.float64)),
    "Discrete": (spaces.Discrete(9, start=-4), spaces.Discrete(3, start=2)),
}


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("restorer", [None, DeepCopy(), Replay()])
def test_every_kind_of_space(name: str, restorer: Any, tmp_path: Path) -> None:
    env = envs.Spaces(*SPACES[name])
    space = env.action_space
    space.seed(0)
    demo = bp.record(env, lambda _: space.sample(), seed=3, restorer=restorer)
    assert len(demo) == 40
    demo.save(tmp_path / "demo.npz")
    fresh = envs.Spaces(*SPACES[name])
    loaded = bp.load(tmp_path / "demo.npz", fresh)
    assert loaded == demo
    assert bp.check(fresh, loaded).exact
    assert all(space.contains(action) for action in loaded.actions)
    train = bp.BackplayEnv(fresh, [loaded], bp.Uniform())
    for _ in range(10):
        assert train.observation_space.contains(train.reset()[0])


@pytest.mark.parametrize(
    "make",
    [
        envs.ForgetfulCorridor, envs.SecretCorridor, envs.TrapCorridor, envs.ManyStreams,
        envs.Moody, envs.TwoPlayers, envs.ReusedArrays,
    ],
)  # fmt: skip
@pytest.mark.parametrize("wrapped", [False, True])
def test_every_awkward_env_restores_exactly(make: Any, wrapped: bool, tmp_path: Path) -> None:
    def build() -> Any:
        if not wrapped:
            return make()
        env = w.FrameStackObservation(w.StickyAction(make(), 0.3), 3)
        return w.RecordEpisodeStatistics(w.TimeLimit(env, 60))

    env = build()
    env.action_space.seed(0)
    demo = bp.record(env, lambda _: env.action_space.sample(), seed=3, max_steps=60)
    demo.save(tmp_path / "demo.npz")
    fresh = build()
    assert bp.check(fresh, bp.load(tmp_path / "demo.npz", fresh)).exact


def test_an_env_that_takes_its_options_apart_leaves_the_users_whole() -> None:
    class Levels(envs.Corridor):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            level = options["of"].pop("level", 0) if options else 0
            seen, info = super().reset(seed=seed)
            return seen, {**info, "level": level}

    options = {"of": {"level": 7}}
    demo = bp.record(Levels(), [1] * 4, options=options)
    assert options == demo.options == {"of": {"level": 7}}
    assert demo.options is not options


@pytest.mark.parametrize("env", [envs.Corridor, "CartPole-v1"])
def test_a_class_or_a_name_is_no_environment(env: Any) -> None:
    demo = bp.record(envs.Corridor(), lambda _: 1)
    for call in (
        lambda: bp.record(env, [1]),
        lambda: bp.check(env, demo),
        lambda: bp.BackplayEnv(env, [demo]),
    ):
        with pytest.raises(
            bp.BackplayError, match=r"Make it first: (Corridor\(\)|gym.make\('Cart)"
        ):
            call()
