"""The slippery bridge: its rules, its states, how often the best policy crosses it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import backplay as bp
from backplay.envs.slippery import DOWN, LEFT, RIGHT, UP, Slippery, best, demonstration
from backplay.errors import BackplayError

ROOM = 9  # cells


def make(**options: Any) -> gym.Env[Any, Any]:
    return gym.make("Backplay/Slippery-v0", **options)


def crossed(env: Slippery, seed: int) -> bool:
    at, _ = env.reset(seed=seed)
    while True:
        at, _, terminated, truncated, info = env.step(env.towards(int(at)))
        if terminated or truncated:
            return bool(info["is_success"])


def test_without_slipping_the_way_leads_over_the_bridge() -> None:
    env = Slippery(4, slip=0.0)
    env.reset(seed=0)
    actions, seen, done = [], [0], False
    while not done:
        actions.append(env.towards(seen[-1]))
        at, reward, done, _, _ = env.step(actions[-1])
        seen.append(int(at))
        assert reward == float(done)
    assert actions == [UP, RIGHT, RIGHT, RIGHT, RIGHT, UP, UP, UP]
    assert seen == [0, 1, 4, 7, 9, 10, 11, 12, 13]


@pytest.mark.parametrize(("cell", "move"), [(9, UP), (9, DOWN), (10, RIGHT), (11, LEFT)])
def test_beside_the_bridge_is_water(cell: int, move: int) -> None:
    env = Slippery(4, slip=0.0)
    env.reset()
    env.set_state({"cell": cell, "step_count": 3})
    assert env.step(move) == (env.water, 0.0, True, False, {"is_success": False})
    with pytest.raises(BackplayError, match="over"):
        env.step(UP)


def test_the_room_has_walls() -> None:
    env = Slippery(4, slip=0.0)
    env.reset()
    for move in (DOWN, LEFT):
        assert env.step(move)[0] == 0


def test_the_best_policy_crosses_as_often_as_said() -> None:
    env = Slippery(6, slip=0.1)
    share = np.mean([crossed(env, seed) for seed in range(2_000)])
    assert best(6, 0.1) == pytest.approx(0.9**6)
    assert share == pytest.approx(best(6, 0.1), abs=0.035)  # three standard errors


def test_a_step_slips_to_either_side_alike() -> None:
    env, found = Slippery(4, slip=0.5), []
    for seed in range(1_000):
        env.reset(seed=seed)
        env.set_state({"cell": 4, "step_count": 0})  # the middle of the room
        found.append(int(env.step(RIGHT)[0]))
    shares = {cell: found.count(cell) / 1_000 for cell in set(found)}
    assert shares == pytest.approx({7: 0.5, 5: 0.25, 3: 0.25}, abs=0.05)


def test_time_runs_out() -> None:
    env = Slippery(4, slip=0.0, max_steps=2)
    env.reset()
    assert env.step(LEFT)[3] is False
    assert env.step(LEFT)[2:4] == (False, True)


def test_the_demonstration_restores_exactly_with_its_luck() -> None:
    demo = demonstration(make(length=6, slip=0.3))
    assert demo.rewards[-1] == 1.0
    assert bp.check(make(length=6, slip=0.3), demo).exact


@pytest.mark.parametrize(
    "options", [{"length": 1}, {"slip": 1.0}, {"slip": -0.1}, {"max_steps": 0}]
)
def test_what_is_no_bridge_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BackplayError):
        Slippery(**options)


@pytest.mark.parametrize("state", [{}, None, {"cell": 99, "step_count": 0}, {"cell": 0}])
def test_what_is_no_state_is_refused(state: Any) -> None:
    env = Slippery(4)
    env.reset()
    with pytest.raises(BackplayError, match="state"):
        env.set_state(state)


def test_it_is_a_gymnasium_env() -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(make(length=4).unwrapped, skip_render_check=True)
    env = make(length=4, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == "~~~~*\n~~~~.\n...~.\n.....\n@..~~\n"
