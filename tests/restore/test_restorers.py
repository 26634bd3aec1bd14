"""Each restorer alone: what it saves, what it loads it into, what it refuses."""

from __future__ import annotations

import pickle
from typing import Any

import ale_py
import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as w
from stable_baselines3.common.monitor import Monitor

from backplay import BackplayError
from backplay.data import trees
from backplay.restore import (
    RESTORERS,
    AttributeState,
    DeepCopy,
    History,
    MujocoState,
    OwnState,
    Replay,
    Restorer,
    candidates,
)
from backplay.restore.rollout import replay, roll
from envs_for_tests import Corridor, ReusedArrays, SecretCorridor, StatefulCorridor

gym.register_envs(ale_py)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


def walk(n: int) -> list[int]:
    return [int(a) for a in np.random.default_rng(2).integers(2, size=n)]


def stacked(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    env = w.TimeLimit(w.OrderEnforcing(env), 30)
    return w.FrameStackObservation(w.RecordEpisodeStatistics(env), 3)


BY_NAME = [OwnState(), AttributeState(), DeepCopy(), Replay()]


@pytest.mark.parametrize("restorer", BY_NAME, ids=lambda r: r.name)
@pytest.mark.parametrize("wrap", [stacked, lambda env: env], ids=["stacked", "bare"])
class TestOnOneEnv:
    def rolled(self, env: gym.Env[Any, Any], restorer: Restorer) -> Any:
        return roll(History(env), walk(30), seed=5, save=restorer.save)

    def test_any_state_after_any_other(self, restorer: Restorer, wrap: Any) -> None:
        env = wrap(StatefulCorridor(40, slip=0.3))
        rollout = self.rolled(env, restorer)
        for t in np.random.default_rng(0).permutation(30):
            restorer.load(env, rollout.states[t])
            assert replay(env, rollout, int(t)) is None

    def test_loading_leaves_the_state_as_it_is(self, restorer: Restorer, wrap: Any) -> None:
        env = wrap(StatefulCorridor(40, slip=0.3))
        rollout = self.rolled(env, restorer)
        for _ in range(3):
            restorer.load(env, rollout.states[7])
            assert replay(env, rollout, 7) is None

    def test_a_fresh_env_that_was_never_reset(self, restorer: Restorer, wrap: Any) -> None:
        rollout = self.rolled(wrap(StatefulCorridor(40, slip=0.3)), restorer)
        fresh = wrap(StatefulCorridor(40, slip=0.3))
        restorer.load(fresh, rollout.states[11])
        assert replay(fresh, rollout, 11) is None

    def test_an_env_whose_episode_is_over(self, restorer: Restorer, wrap: Any) -> None:
        env = wrap(StatefulCorridor(40, slip=0.3))
        rollout = self.rolled(env, restorer)
        env.reset(seed=99)
        for _ in range(30):
            env.step(1)
        restorer.load(env, rollout.states[11])
        assert replay(env, rollout, 11) is None

    def test_another_process(self, restorer: Restorer, wrap: Any) -> None:
        """Which sees the states and the restorer pickled."""
        rollout = self.rolled(wrap(StatefulCorridor(40, slip=0.3)), restorer)
        states, there = pickle.loads(pickle.dumps((rollout.states, restorer)))
        env = wrap(StatefulCorridor(40, slip=0.3))
        for t in (20, 3):
            there.load(env, states[t])
            assert replay(env, rollout, t) is None

    def test_with_a_generator_luck_is_new_and_reproducible(
        self, restorer: Restorer, wrap: Any
    ) -> None:
        env = wrap(StatefulCorridor(40, slip=0.3))
        rollout = self.rolled(env, restorer)

        def outcome(seed: int) -> list[Any]:
            restorer.load(env, rollout.states[3], np.random.default_rng(seed))
            return [trees.copy(env.step(a)[0]) for a in rollout.actions[3:]]

        assert trees.first_difference(outcome(1), outcome(1)) is None
        assert trees.first_difference(outcome(1), outcome(2)) is not None
        assert trees.first_difference(outcome(1), rollout.observations[4:]) is not None


def test_own_state_keeps_the_stream_that_wrappers_draw_from() -> None:
    """SecretCorridor does not draw from np_random, so it does not save it; StickyAction draws."""
    env = w.StickyAction(SecretCorridor(), 0.5)
    rollout = roll(History(env), walk(30), seed=5, save=OwnState().save)
    for other in (env, w.StickyAction(SecretCorridor(), 0.5)):  # the second was never reset
        OwnState().load(other, rollout.states[11])
        assert replay(other, rollout, 11) is None


@pytest.mark.parametrize(
    "restorer", [OwnState(), AttributeState(), DeepCopy()], ids=lambda r: r.name
)
def test_another_stack_of_wrappers_is_refused(restorer: Restorer) -> None:
    env = w.TimeLimit(StatefulCorridor(), 30)
    env.reset(seed=1)
    state = restorer.save(env)
    for other in (w.StickyAction(env, 0.5), StatefulCorridor()):
        with pytest.raises(BackplayError, match=r"another stack of wrappers: expected TimeLimit"):
            restorer.load(other, state)


def test_watchers_may_come_and_go() -> None:
    """An env made with Gymnasium's checker and one made without are the same; counters as well."""
    checked, unchecked = (
        gym.make("MountainCar-v0", disable_env_checker=disable) for disable in (False, True)
    )
    counted = Monitor(w.RecordEpisodeStatistics(checked))
    for restorer in (AttributeState(), DeepCopy()):
        for here, there in ((checked, unchecked), (checked, counted), (counted, unchecked)):
            rollout = roll(History(here), [0, 1, 2] * 5, seed=1, save=restorer.save)
            restorer.load(there, rollout.states[4])
            assert replay(there, rollout, 4) is None


def test_older_states_have_counters_in_them() -> None:
    env = w.TimeLimit(Corridor(), 30)
    rollout = roll(History(env), walk(9), seed=1, save=AttributeState().save)
    kept = [["RecordEpisodeStatistics", {"episode_count": 3, "episode_lengths": 4}]]
    for other in (env, w.RecordEpisodeStatistics(env)):
        AttributeState().load(other, kept + rollout.states[4])
        assert replay(other, rollout, 4) is None


def test_replay_needs_a_history_and_counts_its_steps() -> None:
    env = Corridor()
    env.reset(seed=1)
    with pytest.raises(BackplayError, match=r"wrapped in bp.restore.History"):
        Replay().save(env)
    rollout = roll(History(env), walk(12), seed=5, save=Replay().save)
    assert [Replay().load(env, state) for state in rollout.states] == list(range(13))


def test_replay_survives_an_env_that_changes_its_action() -> None:
    env = ReusedArrays()
    actions = [np.full(2, 0.01 * i) for i in range(20)]
    rollout = roll(History(env), actions, seed=5, save=Replay().save)
    for _ in range(3):
        Replay().load(env, rollout.states[10])
        assert replay(env, rollout, 10) is None


def test_mujoco_states_are_of_one_model() -> None:
    hopper, ant = gym.make("Hopper-v5"), gym.make("Ant-v5")
    hopper.reset(seed=1)
    ant.reset(seed=1)
    with pytest.raises(BackplayError, match="another physics model"):
        MujocoState().load(ant, MujocoState().save(hopper))


def test_mujoco_derived_quantities_are_needed() -> None:
    """Ant reads contact forces before they are computed anew: states without them are wrong."""
    env = gym.make("Ant-v5")
    env.action_space.seed(0)
    rollout = roll(
        env, lambda _: env.action_space.sample(), seed=1, max_steps=25, save=MujocoState().save
    )
    physics, derived, saved = rollout.states[12]
    env.reset(seed=2)
    MujocoState().load(env, [physics, dict.fromkeys(derived, 0.0), saved])
    assert replay(env, rollout, 12) is not None
    MujocoState().load(env, rollout.states[12])
    assert replay(env, rollout, 12) is None


@pytest.mark.parametrize(
    ("make", "first"),
    [
        (StatefulCorridor, ["own", "deepcopy", "replay"]),
        (Corridor, ["attributes", "deepcopy", "replay"]),
        (
            lambda: gym.make("Hopper-v5"),
            ["mujoco", "mujoco-model", "attributes", "deepcopy", "replay", "fresh"],
        ),
        (
            lambda: gym.make("ALE/Breakout-v5"),
            ["atari", "attributes", "deepcopy", "replay", "fresh"],
        ),
    ],
)
def test_candidates_are_in_order_of_speed(make: Any, first: list[str]) -> None:
    assert [restorer.name for restorer in candidates(make())] == first


def test_the_table_of_restorers_goes_by_name() -> None:
    assert all(make().name == name for name, make in RESTORERS.items())
    unstored = [name for name, make in RESTORERS.items() if not make().storable]
    assert unstored == ["deepcopy", "replay", "fresh"]
