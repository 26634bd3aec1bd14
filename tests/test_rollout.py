"""Rolling out and replaying: the first answer that differs is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import envs_for_tests as envs
from backplay import BackplayError
from backplay.restore.rollout import Divergence, replay, replay_from_reset, roll


def test_a_rollout_ends_with_the_episode_the_actions_or_the_budget() -> None:
    assert len(roll(envs.Corridor(3), [1] * 9, seed=0)) == 3
    assert len(roll(envs.Corridor(9), [1] * 4, seed=0)) == 4
    assert len(roll(envs.Corridor(9), lambda _: 1, seed=0, max_steps=5)) == 5
    ended = roll(envs.Corridor(3), lambda _: 1, seed=0)
    assert ended.terminations.tolist() == [False, False, True]
    assert ended.truncations.tolist() == [False] * 3
    assert ended.rewards.tolist() == [0.0, 0.0, 1.0]
    assert [o.tolist() for o in ended.observations] == [[0, 0], [1, 1], [2, 2], [3, 3]]


def test_states_are_saved_with_each_observation() -> None:
    rollout = roll(envs.Corridor(9), [1, 1, 0], seed=0, save=lambda env: env.unwrapped.place)
    assert rollout.states == [0, 1, 2, 1]
    assert roll(envs.Corridor(9), [1], seed=0).states is None


def test_what_the_env_reuses_is_copied() -> None:
    """ReusedArrays returns one array for ever and scales the action in place."""
    actions = [np.array([0.1, 0.2]), np.array([0.3, 0.4])]
    rollout = roll(envs.ReusedArrays(), iter([a.copy() for a in actions]), seed=0)
    np.testing.assert_array_equal(rollout.actions, actions)
    np.testing.assert_allclose(rollout.observations, [[0, 0], [0.3, 0.6], [1.2, 1.8]])
    for _ in range(2):  # replaying changes neither
        assert replay_from_reset(envs.ReusedArrays(), rollout) is None
    np.testing.assert_array_equal(rollout.actions, actions)


def test_an_action_outside_the_space_is_refused() -> None:
    with pytest.raises(
        BackplayError, match=r"Action 1 .* expected an action of Discrete\(2\), got 7"
    ):
        roll(envs.Corridor(), [1, 7], seed=0)


@pytest.mark.parametrize("action", [1, np.int64(1), np.array(1)])
def test_discrete_actions_of_any_integer_type(action: Any) -> None:
    assert roll(envs.Corridor(), [action], seed=0).actions == [1]


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("observations", "observation"),
        ("rewards", "reward"),
        ("terminations", "terminated"),
        ("truncations", "truncated"),
    ],
)
def test_the_first_difference_is_named(field: str, name: str) -> None:
    good = roll(envs.Corridor(9), [1] * 6, seed=0)
    values = [*getattr(good, field)]
    index = 4 if field == "observations" else 3  # what step 4 answers
    values[index] = 1 - values[index]
    bad = replace(good, **{field: values})
    divergence = replay_from_reset(envs.Corridor(9), bad)
    assert (divergence.step, divergence.field) == (4, name)
    assert str(divergence).startswith(f"step 4, {name}: now and as recorded: ")


def test_a_different_first_observation_is_step_0() -> None:
    good = roll(envs.Corridor(9), [1], seed=0)
    bad = replace(good, observations=[good.observations[1], good.observations[1]])
    divergence = replay_from_reset(envs.Corridor(9), bad)
    assert isinstance(divergence, Divergence)
    assert (divergence.step, divergence.field) == (0, "observation")


def test_replaying_a_part() -> None:
    rollout = roll(envs.Corridor(9), [1] * 6, seed=0)
    env = envs.Corridor(9)
    env.reset(seed=0)
    for _ in range(2):
        env.step(1)
    visited: list[int] = []
    assert replay(env, rollout, 2, 5, on_state=visited.append) is None
    assert visited == [2, 3, 4, 5]
    assert env.place == 5


def test_options_reach_the_reset_and_are_not_the_callers_dict() -> None:
    class Greedy(envs.Levels):
        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
            answer = super().reset(seed=seed, options=options)
            options.clear()
            return answer

    options = {"level": 4}
    rollout = roll(Greedy(), lambda _: 1, seed=0, options=options)
    assert options == {"level": 4}
    assert len(rollout) == 4
    assert replay_from_reset(Greedy(), rollout) is None


def test_words_and_nested_spaces_are_rolled_out() -> None:
    space = spaces.Dict({"word": spaces.Text(5), "pair": spaces.Tuple([spaces.Discrete(3)] * 2)})
    env = envs.Spaces(space, spaces.MultiBinary(3))
    env.action_space.seed(0)
    rollout = roll(env, lambda _: env.action_space.sample(), seed=2, max_steps=10)
    assert all(space.contains(observation) for observation in rollout.observations)
    assert replay_from_reset(env, rollout) is None
