"""Capturing the attributes of layers and putting them back."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import gymnasium as gym
import minigrid  # noqa: F401  # registers its environments
import numpy as np
import pytest
from gymnasium import wrappers as w
from stable_baselines3.common.monitor import Monitor

from backplay import BackplayError
from backplay.restore import History, layers, restart_clocks
from backplay.restore.layers import (
    begin_watching,
    capture,
    own_attributes,
    put_back,
    refresh,
    spanning,
)
from envs_for_tests import Corridor, ManyStreams, Mood, Moody, TwoPlayers


def square(x: float) -> float:
    return x * x


def test_layers_are_the_wrappers_that_hold_state_then_the_env() -> None:
    made = w.RecordEpisodeStatistics(gym.make("CartPole-v1"))  # which only watches
    env = History(w.TransformReward(made, float))
    names = [type(layer).__name__ for layer in layers(env)]
    assert names == ["TransformReward", "TimeLimit", "CartPoleEnv"]


def test_own_attributes_leave_out_what_is_fixed() -> None:
    env = w.TransformReward(gym.make("CartPole-v1"), square)
    env.reset(seed=1)
    names = {name for layer in layers(env) for name in own_attributes(layer)}
    assert {"_elapsed_steps", "state", "_np_random"} <= names
    assert names.isdisjoint({"env", "func", "action_space", "spec", "render_mode"})


def test_an_attribute_called_env_is_state_if_the_layer_is_no_wrapper() -> None:
    env = Corridor()
    env.env = {"simulator": 3}
    assert own_attributes(env)["env"] == {"simulator": 3}


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        7,
        1.5,
        "word",
        b"bytes",
        np.float32(2),
        np.arange(6).reshape(2, 3),
        [1, [2, (3, {4})]],
        {"a": {1: np.ones(2)}, 2: deque([1, 2], 3)},
        (),
        [()],
        list(range(500)),
        {i: [i] for i in range(500)},
        [np.zeros(3)] * 20,
    ],
    ids=repr,
)
def test_data_is_put_back_and_shares_nothing(value: Any) -> None:
    env = Corridor()
    env.thing = value
    saved = capture(env)
    before = repr(saved["thing"])
    for other in (None, [5] * 500, {}, "else"):
        env.thing = other
        put_back(env, saved)
        assert repr(env.thing) == repr(value)
        assert type(env.thing) is type(value)
        _spoil(env.thing)
        assert repr(saved["thing"]) == before


def _spoil(value: Any) -> None:
    """Changes all that can be changed in `value`, deep inside."""
    if isinstance(value, np.ndarray):
        value[...] = 77
    elif isinstance(value, list | deque | tuple):
        for item in value:
            _spoil(item)
        if not isinstance(value, tuple):
            value.append("spoilt")
    elif isinstance(value, dict):
        for item in value.values():
            _spoil(item)
        value["spoilt"] = 1


def test_a_capture_shares_nothing_with_the_env() -> None:
    env = Corridor()
    env.thing = {"a": [np.zeros(2)], "b": deque([[1]])}
    saved = capture(env)
    before = repr(saved["thing"])
    _spoil(env.thing)
    assert repr(saved["thing"]) == before


def test_unchanged_tables_are_shared_between_captures_and_changed_ones_are_not() -> None:
    env = Corridor()
    env.table = {i: [i] for i in range(100)}
    first = capture(env)
    second = capture(env, first)
    assert second["table"] is first["table"]
    env.table[50].append(1)
    third = capture(env, second)
    assert third["table"] is not first["table"]
    assert first["table"][50] == [50]
    put_back(env, first)
    assert env.table[50] == [50]
    assert env.table is not first["table"]


@pytest.mark.parametrize(
    "value",
    [
        [square, 1],
        (1, square),
        deque([square, 2], 4),
        {"f": square, "n": 1},
        [[square], [1]],
        {"deep": {"f": [square]}, "n": [2]},
        [np.random.default_rng(0), 3],
    ],
    ids=lambda value: type(value).__name__,
)
def test_functions_and_streams_inside_containers_stay_live(value: Any) -> None:
    env = Corridor()
    env.thing = value
    saved = capture(env)
    put_back(env, saved)
    assert repr(env.thing) == repr(value)
    assert type(env.thing) is type(value)


def test_an_empty_tuple_beside_a_function_is_data() -> None:
    env = Corridor()
    env.thing = {"f": square, "n": (), "l": [square, ()]}
    saved = capture(env)
    env.thing = {"f": square, "n": (1,), "l": [square, (1,)]}
    put_back(env, saved)
    assert env.thing == {"f": square, "n": (), "l": [square, ()]}


def test_a_function_that_cannot_be_found_again_is_refused() -> None:
    env = Corridor()
    env.thing = [square, 1]
    saved = capture(env)
    env.thing = [1]
    with pytest.raises(BackplayError, match=r"Corridor.thing cannot be put back.*a list of 2"):
        put_back(env, saved)


@pytest.mark.parametrize(
    "value",
    [{square: 1}, {square}, [Mood()], {"a": Mood()}, np.array([Mood()], object), iter("ab")],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_data_is_refused(value: Any) -> None:
    env = Corridor()
    env.thing = value
    with pytest.raises(TypeError):
        capture(env)


def test_attributes_born_and_lost_since_are_lost_and_born() -> None:
    env = Moody()
    env.reset(seed=1)
    states = [capture(env)]
    seen = [env.see()]
    for _ in range(20):
        seen.append(env.step(1)[0])
        states.append(capture(env))
    assert {tuple(s)[1] for s in seen} == {0.0, 1.0, 2.0, 3.0}  # all cases occur
    for t in np.random.default_rng(0).permutation(21):
        put_back(env, states[t])
        np.testing.assert_array_equal(env.see(), seen[t])


def test_an_object_keeps_its_place_and_its_class_is_checked() -> None:
    env = Moody()
    mood = env.mood
    vars(mood).update(angry=1)
    saved = capture(env)
    vars(mood).update(angry=2)
    put_back(env, saved)
    assert env.mood is mood
    assert vars(mood) == {"angry": 1}
    env.mood = None
    with pytest.raises(BackplayError, match="object of class Mood, got NoneType"):
        put_back(env, saved)


def test_an_object_in_two_places_is_refused() -> None:
    """Which of two players is to move: writing into the object that now stands there is wrong."""
    with pytest.raises(TypeError, match="held in two places"):
        capture(TwoPlayers())


def test_kept_attributes_stay() -> None:
    env = w.NormalizeReward(Corridor(3))
    env.reset(seed=1)
    saved = capture(env)
    first = env.return_rms.count
    for _ in range(3):
        env.step(1)
    last = env.return_rms.count
    assert last > first
    put_back(env, saved, spanning(env))
    assert env.return_rms.count == last
    assert env.discounted_reward == saved["discounted_reward"]
    put_back(env, saved)
    assert env.return_rms.count == first


def test_refresh_moves_every_stream_and_is_reproducible() -> None:
    env = ManyStreams()
    env.reset(seed=1)
    saved = capture(env)

    def draw(seed: int | None) -> Any:
        put_back(env, saved)
        if seed is not None:
            refresh(env, np.random.default_rng(seed))
        return np.append(env.see(), env.np_random.random())

    as_recorded = draw(None)
    np.testing.assert_array_equal(draw(None), as_recorded)
    np.testing.assert_array_equal(draw(3), draw(3))
    assert not np.any(draw(3) == as_recorded)
    assert not np.any(draw(3) == draw(4))
    assert len({*draw(3)}) == 6  # and they differ from one another


def test_who_counts_begins_again_and_keeps_what_was_counted() -> None:
    env = Monitor(w.RecordEpisodeStatistics(w.OrderEnforcing(Corridor(2))))
    env.reset(seed=1)
    env.step(1)
    env.step(1)
    begin_watching(env)
    *_, info = [env.step(action) for action in (0, 0, 1, 1)][-1]
    assert (info["episode"]["l"], env.get_wrapper_attr("episode_count")) == (4, 2)
    assert env.episode_lengths == [2, 4]
    inner = env.env
    inner.episode_start_time = -1e9
    begin_watching(env)
    assert 0 <= time.perf_counter() - inner.episode_start_time < 60


def test_clocks() -> None:
    env = gym.wrappers.TimeLimit(Corridor(), 5)
    env.reset()
    env.step(0)
    assert restart_clocks(env) == 1
    assert env._elapsed_steps == 0
    assert restart_clocks(Corridor()) == 0
    grid = gym.make("MiniGrid-Empty-5x5-v0")
    grid.reset(seed=0)
    grid.step(0)
    assert restart_clocks(grid) == 1
    assert grid.unwrapped.step_count == 0
