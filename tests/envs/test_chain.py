"""The chain with a trap: its rules, its states, its demonstration."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import backplay as bp
from backplay.envs.chain import Chain, demonstration
from backplay.errors import BackplayError


def make(**options: Any) -> gym.Env[Any, Any]:
    return gym.make("Backplay/Chain-v0", **options)


def test_the_right_actions_lead_to_the_end_and_pay_there_alone() -> None:
    env = Chain(5, layout=3)
    env.reset(seed=0)
    answers = [env.step(action) for action in env.way]
    assert [place for place, *_ in answers] == [1, 2, 3, 4, 5]
    assert [answer[1] for answer in answers] == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert [answer[2] for answer in answers] == [False] * 4 + [True]
    assert answers[-1][4] == {"is_success": True}


@pytest.mark.parametrize("place", range(4))
def test_any_other_action_is_the_trap(place: int) -> None:
    env = Chain(4, actions=3, lure=0.2)
    for wrong in set(range(3)) - {int(env.way[place])}:
        env.reset()
        env.set_state({"place": place})
        assert env.step(wrong) == (5, 0.2, True, False, {"is_success": False})
        with pytest.raises(BackplayError, match="over"):
            env.step(0)


def test_a_layout_is_drawn_from_its_seed() -> None:
    ways = [Chain(50, layout=layout).way.tolist() for layout in (0, 0, 1)]
    assert ways[0] == ways[1] != ways[2]
    assert set(ways[0]) == {0, 1, 2}


def test_the_demonstration_restores_exactly() -> None:
    demo = demonstration(make(length=12))
    assert len(demo) == 12
    assert demo.terminated
    assert demo.rewards.tolist() == [0.0] * 11 + [1.0]
    assert bp.check(make(length=12), demo).exact


@pytest.mark.parametrize(
    "options", [{"length": 0}, {"length": True}, {"actions": 1}, {"lure": 1.0}, {"layout": -1}]
)
def test_what_is_no_chain_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BackplayError):
        Chain(**options)


@pytest.mark.parametrize("state", [{}, None, {"place": 7}, {"place": -1}, {"place": 1.0}])
def test_what_is_no_state_is_refused(state: Any) -> None:
    env = Chain(5)
    env.reset()
    with pytest.raises(BackplayError, match="state"):
        env.set_state(state)


def test_it_is_a_gymnasium_env() -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(make(length=3).unwrapped, skip_render_check=True)
    env = make(length=3, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == "0 of 3\n"
    assert np.int64(4) in env.observation_space
