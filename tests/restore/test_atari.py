"""The emulator's state: sticky actions and the screen after a restore."""

from __future__ import annotations

from typing import Any

import ale_py
import gymnasium as gym
import numpy as np
import pytest

from backplay.data import trees
from backplay.restore import AtariState, History, atari
from backplay.restore.rollout import replay, roll

gym.register_envs(ale_py)

BEFORE = 20
"""Breakout's ball is out and the paddle moves visibly from here on."""


@pytest.fixture(scope="module")
def sticky() -> Any:
    return gym.make("ALE/Breakout-v5", repeat_action_probability=0.5)


@pytest.fixture(scope="module")
def rollout(sticky: Any) -> Any:
    actions = [1, 2, 2, 2, 3, 3, 3, 3] * 5
    return roll(History(sticky), actions, seed=3, save=AtariState().save)


def play(env: Any, actions: list[int]) -> list[Any]:
    return [trees.copy(env.step(action)[0]) for action in actions]


def spoil(env: Any, action: int) -> None:
    """Another episode, in which `action` was played last."""
    env.reset()
    for _ in range(8):
        env.step(action)


def test_a_sticky_frame_repeats_the_demonstrations_action(sticky: Any, rollout: Any) -> None:
    for t in range(len(rollout)):
        spoil(sticky, 2 + t % 2)
        AtariState().load(sticky, rollout.states[t])
        assert replay(sticky, rollout, t, t + 3) is None, t


def test_the_game_and_its_stream_alone_are_not_enough(sticky: Any, rollout: Any) -> None:
    """What this module is for: without the repeated action some restores go wrong."""
    wrong = 0
    for t in range(len(rollout)):
        spoil(sticky, 2 + t % 2)
        (game, _), saved = rollout.states[t]
        AtariState().load(sticky, [[game, None], saved])
        wrong += replay(sticky, rollout, t, t + 3) is not None
    assert wrong > 0


def test_saving_changes_nothing(sticky: Any, rollout: Any) -> None:
    """The trials that find the repeated action are undone: the unsaved episode is the same."""
    unsaved = roll(sticky, rollout.actions, seed=3)
    assert trees.first_difference(unsaved.observations, rollout.observations) is None
    np.testing.assert_array_equal(unsaved.rewards, rollout.rewards)


def test_reseeded_luck_is_new_reproducible_and_free_of_the_last_episode(
    sticky: Any, rollout: Any
) -> None:
    def outcome(seed: int, last: int) -> list[Any]:
        spoil(sticky, last)
        AtariState().load(sticky, rollout.states[BEFORE], np.random.default_rng(seed))
        return play(sticky, [2, 3, 2, 3, 2, 3, 3, 3])

    for seed in range(12):  # some of them begin with a sticky frame
        assert trees.first_difference(outcome(seed, 2), outcome(seed, 3)) is None, seed
    assert any(trees.first_difference(outcome(0, 2), outcome(seed, 2)) for seed in range(1, 5))


def test_without_sticky_actions_nothing_is_tried() -> None:
    env: Any = gym.make("ALE/Breakout-v5", repeat_action_probability=0.0)
    env.reset(seed=1)
    (game, repeated), _ = AtariState().save(env)
    assert isinstance(game, bytes)
    assert repeated is None


def test_a_stream_is_replaced_by_one_of_another_length(sticky: Any) -> None:
    """Streams are text of varying length: the lengths beside them are kept right."""
    sticky.reset(seed=1)
    serialized = sticky.unwrapped.ale.cloneState(include_rng=True).serialize()
    for seed in range(5):
        text = atari._text(np.random.MT19937(seed))
        changed = atari._with_stream(serialized, text)
        assert text in changed
        restored = ale_py.ALEState(changed)
        sticky.unwrapped.ale.restoreState(restored)
        again = sticky.unwrapped.ale.cloneState(include_rng=True).serialize()
        assert again == changed


def test_a_state_of_unknown_form_is_left_as_it_is() -> None:
    assert atari._with_stream(b"no stream in here", b"1 2 3") == b"no stream in here"
