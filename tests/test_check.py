"""check: what it finds wrong, what it remarks on, how much it replays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import backplay as bp
import envs_for_tests as envs
from backplay.errors import DemonstrationError
from backplay.restore import AttributeState, OwnState


def recorded(length: int = 8, **kwargs: Any) -> bp.Demonstration:
    return bp.record(envs.Corridor(length), lambda _: 1, seed=1, **kwargs)


def test_an_exact_report() -> None:
    report = bp.check(envs.Corridor(8), recorded())
    assert report.exact
    assert report.divergence is None
    assert (report.restorer, report.restored, report.replayed) == ("attributes", 8, 36)
    assert report.remarks == ()
    first, second = str(report).splitlines()
    assert first == "exact: 8 states restored by attributes, 36 steps replayed, no difference"
    assert second.startswith("success: ")
    assert "terminates with a last reward above 0, as the demonstration does" in second


def test_the_whole_way_is_not_gone_to_every_state() -> None:
    """120 states 60 steps away on average would take 14,400 steps: minutes where steps are slow."""
    demo, steps = recorded(120, restorer="replay"), 0

    class Counting(envs.Corridor):
        def step(self, action: Any) -> Any:
            nonlocal steps
            steps += 1
            return super().step(action)

    report = bp.check(Counting(120), demo)
    assert report.exact
    assert (report.restorer, report.restored) == ("replay", 16)
    assert steps < 16 * 120 + 240
    assert any("16 of 120 states" in remark for remark in report.remarks)


@pytest.mark.parametrize(
    ("max_steps", "replayed"), [(36, 36), (35, 8 + 4 * 4 + 3 + 2 + 1), (1, 15)]
)
def test_the_budget_bounds_each_replay_but_the_first(max_steps: int, replayed: int) -> None:
    report = bp.check(envs.Corridor(8), recorded(), max_steps=max_steps)
    assert report.restored == 8
    assert report.replayed == replayed


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("rewards", "reward"),
        ("observations", "observation"),
        ("terminations", "terminated"),
    ],
)
def test_the_first_divergence_by_step_and_field(field: str, name: str) -> None:
    demo = recorded()
    values = getattr(demo, field)
    changed = values.copy()
    at, step = {"rewards": (5, 6), "observations": (6, 6), "terminations": (7, 8)}[field]
    changed[at] = ~values[at] if values[at].dtype == bool else values[at] + 1
    bad = replace(demo, **{field: changed})
    report = bp.check(envs.Corridor(8), bad, must_be_exact=False)
    assert not report.exact
    assert (report.divergence.step, report.divergence.field) == (step, name)
    assert report.restored_at == 0
    assert str(report).startswith(
        f"not exact: restored at step 0, differs at step {step}, {name}: "
    )
    with pytest.raises(bp.BackplayError, match=f"differs at step {step}, {name}: "):
        bp.check(envs.Corridor(8), bad)


def test_a_state_that_is_wrong_is_found_wherever_it_is() -> None:
    demo = recorded(20)
    for wrong in range(20):
        states = list(demo.states)
        states[wrong] = demo.states[(wrong + 3) % 20]
        report = bp.check(envs.Corridor(20), replace(demo, states=states), must_be_exact=False)
        assert report.restored_at == wrong
        assert report.divergence.step == wrong + 1
        assert report.exact_restorer == "deepcopy"


def test_another_env_is_named_and_no_restorer_helps() -> None:
    """The corridor is shorter here: at step 5 it ends."""
    demo = bp.record(envs.StatefulCorridor(8), lambda _: 1, seed=1)
    report = bp.check(envs.StatefulCorridor(5), demo, must_be_exact=False)
    assert str(report.divergence).startswith("step 5, reward: now and as recorded: 1.0 and 0.0")
    assert report.restored_at == 0
    assert report.exact_restorer is None
    assert "no other restorer is exact either" in str(report)


def test_the_restorer_that_would_be_exact_is_named() -> None:
    env = envs.ForgetfulCorridor()
    demo = bp.record(env, lambda _: 1, seed=1, max_steps=30)
    states = [[[o[0], o[1]], None, []] for o in np.array(demo.observations).astype(int).tolist()]
    forgetful = replace(demo, restorer=OwnState(), states=states)
    report = bp.check(env, forgetful, must_be_exact=False)
    assert not report.exact
    assert report.exact_restorer == "deepcopy"
    with pytest.raises(bp.BackplayError, match=r"restorer='deepcopy'"):
        bp.check(env, forgetful)


@pytest.mark.parametrize("limits", [(200, 90), (90, 200)])
def test_another_limit_of_steps_is_named_and_no_restorer(limits: tuple[int, int]) -> None:
    """A registered env can be made anew, and in a fresh instance its own episode is exact."""
    there, here = (gym.make("MountainCar-v0", max_episode_steps=limit) for limit in limits)
    demo = bp.record(there, lambda _: 1, seed=3, max_steps=100)
    report = bp.check(here, demo, must_be_exact=False)
    assert (report.divergence.step, report.divergence.field) == (90, "truncated")
    assert report.exact_restorer is None
    assert "ends episodes after another number of steps" in str(report)
    with pytest.raises(bp.BackplayError, match="Give the env the limit of steps"):
        bp.check(here, demo)


def test_a_lawless_env_is_refused_with_step_and_field() -> None:
    """Recorded while it was lawful."""
    demo = bp.record(envs.Corridor(1000), [1] * 20, seed=0)
    with pytest.raises(bp.BackplayError) as refusal:
        bp.check(envs.LawlessCorridor("reward"), _as_of(demo, envs.LawlessCorridor("reward")))
    assert "differs at step 4, reward: " in str(refusal.value)
    assert "Make the env deterministic" in str(refusal.value)
    assert "another one than the recording's" in str(refusal.value)


def _as_of(demo: bp.Demonstration, env: Any) -> bp.Demonstration:
    """The same steps with states of another class."""
    env.reset(seed=0)
    states = []
    for t in range(len(demo) + 1):
        env.place = env.steps = t
        states.append(AttributeState().save(env))
    return replace(demo, states=states)


def test_an_env_deterministic_only_through_its_state() -> None:
    env = envs.SecretCorridor()
    demo = bp.record(env, lambda _: 1, seed=1, max_steps=100)
    report = bp.check(envs.SecretCorridor(), demo)
    assert report.exact
    alone = "its seed and actions alone do not lead to the same episode again: step"
    assert any(remark.startswith(alone) for remark in report.remarks)


def test_an_env_is_reset_before_states_are_put_into_it() -> None:
    """What reset creates is there to be written into."""

    class Late(envs.Moody):
        def __init__(self) -> None:
            super().__init__()
            del self.mood

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            self.mood = envs.Mood()
            return super().reset(seed=seed)

    demo = bp.record(Late(), [1] * 20)
    assert demo.restorer.name == "attributes"
    assert bp.check(Late(), demo).exact


def test_whatever_a_restore_raises_is_reported() -> None:
    demo = bp.record(envs.StatefulCorridor(8), lambda _: 1, seed=1)
    broken = replace(demo, states=[[{"place": 1}, None, []], *demo.states[1:]])
    report = bp.check(envs.StatefulCorridor(8), broken, must_be_exact=False)
    assert str(report.divergence).startswith("step 0, restore: KeyError: 'steps'")


@pytest.mark.parametrize(
    ("actions", "remark"),
    [
        ([1, 1, 0, 1], "it loops: what is seen at step 3 was seen at step 1"),
        ([0, 1, 0, 0, 1], "2 steps change nothing to be seen, the first is step 0"),
        ([1, 0, 0, 1], "1 step changes nothing to be seen, the first is step 2"),
        ([1, 1], "it ends without termination, and nothing says that it was a success"),
    ],
)
def test_remarks(actions: list[int], remark: str) -> None:
    class Timeless(envs.Corridor):
        def see(self) -> Any:
            return np.array([self.place, 0], np.float32)

    report = bp.check(Timeless(9), bp.record(Timeless(9), actions))
    assert remark in report.remarks
    assert f"note: {remark}" in str(report)


def test_remarks_on_success_and_versions() -> None:
    failed = recorded(success=False)
    assert "it ends without success" in str(bp.check(envs.Corridor(8), failed))
    old = replace(recorded(), versions={"gymnasium": "0.29.1"})
    remarks = bp.check(envs.Corridor(8), old).remarks
    assert remarks == (f"recorded with gymnasium 0.29.1, this is {gym.__version__}",)


def test_another_env_or_space_is_refused() -> None:
    demo = bp.record(gym.make("MountainCar-v0"), [1, 1], seed=0)
    with pytest.raises(DemonstrationError, match="of another environment"):
        bp.check(gym.make("CartPole-v1"), demo)
    with pytest.raises(DemonstrationError, match="of another observation space"):
        bp.check(gym.wrappers.FrameStackObservation(gym.make("MountainCar-v0"), 2), demo)
