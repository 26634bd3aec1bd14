"""find_restorer keeps the fastest restorer that proves exact, and says why where there is none."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from gymnasium import wrappers as w

import backplay as bp
import envs_for_tests as envs
from backplay.restore import DeepCopy, History, IllegalActionError, OwnState, Replay, find_flaw
from backplay.restore.rollout import roll


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (envs.Corridor, "attributes"),
        (envs.StatefulCorridor, "own"),
        (
            envs.ForgetfulCorridor,
            "deepcopy",
        ),  # its own state forgets the stream, and no data go past it
        (envs.SecretCorridor, "own"),
        (lambda: w.StickyAction(envs.SecretCorridor(), 0.3), "own"),  # it draws from np_random
        (envs.TrapCorridor, "replay"),
        (envs.ReusedArrays, "attributes"),
        (envs.ManyStreams, "attributes"),
        (envs.Moody, "attributes"),
        (envs.TwoPlayers, "deepcopy"),
    ],
)
def test_the_fastest_that_is_exact(make: Any, name: str) -> None:
    assert bp.find_restorer(make()).name == name
    assert bp.find_restorer(w.TimeLimit(w.RecordEpisodeStatistics(make()), 40)).name == name


@pytest.mark.parametrize("field", ["observation", "reward", "terminated", "truncated"])
def test_a_lawless_env_is_refused_with_step_and_field(field: str) -> None:
    with pytest.raises(bp.BackplayError) as refusal:
        bp.find_restorer(envs.LawlessCorridor(field))
    message = str(refusal.value)
    for restorer in ("attributes", "deepcopy", "replay"):
        line = next(x for x in message.splitlines() if x.startswith(f"  {restorer}: "))
        assert f", {field}: now and as recorded: " in line
        differs = int(line.partition("it differs at step ")[2].partition(",")[0])
        assert differs >= 4  # up to step 3 it is lawful
    assert "not deterministic given its seed" in message


def test_the_trap_and_the_forgetful_are_refuted_by_name() -> None:
    for env, restorer in (
        (envs.TrapCorridor(), DeepCopy()),
        (envs.ForgetfulCorridor(), OwnState()),
        (envs.SecretCorridor(), DeepCopy()),
        (envs.SecretCorridor(), Replay()),
    ):
        rollout = roll(History(env), [1, 0, 1] * 12, seed=1, save=restorer.save)
        flaw = find_flaw(env, restorer, rollout)
        assert "observation" in flaw


def test_find_flaw_wants_states() -> None:
    env = envs.Corridor()
    assert find_flaw(env, DeepCopy(), roll(env, [1, 1], seed=0)) == "no states were saved"


def test_what_an_env_raises_is_told() -> None:
    class Broken(envs.Corridor):
        def step(self, action: Any) -> Any:
            raise ZeroDivisionError("on purpose")

    with pytest.raises(IllegalActionError, match="got ZeroDivisionError: on purpose"):
        bp.find_restorer(Broken())


def test_the_users_own_draws_of_actions_stay_as_they_are() -> None:
    env = envs.Corridor()
    env.action_space.seed(3)
    expected = [env.action_space.sample() for _ in range(20)]
    env.action_space.seed(3)
    bp.find_restorer(env)
    assert [env.action_space.sample() for _ in range(20)] == expected


def test_options_are_passed_on() -> None:
    with pytest.raises(bp.BackplayError, match="attributes: KeyError: 'level'"):
        bp.find_restorer(envs.Levels())
    assert bp.find_restorer(envs.Levels(), options={"level": 5}).name == "attributes"


def test_an_env_with_state_of_its_own_beside_wrappers_that_are_no_data() -> None:
    """The env has its own state, but the wrapper's objects need a deep copy: so all is copied."""

    class Remembers(gym.Wrapper[Any, Any, Any, Any]):
        def __init__(self, env: Any) -> None:
            super().__init__(env)
            self.visits = [envs.Player()]

        def step(self, action: Any) -> Any:
            self.visits[0].points += 1
            observation, _, *rest = super().step(action)
            return observation, float(self.visits[0].points), *rest

    assert bp.find_restorer(Remembers(envs.StatefulCorridor(slip=0.2))).name == "deepcopy"
