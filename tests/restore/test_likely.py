"""What of an env counts as constant: read from its code, as far as that is at hand."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium import spaces

import backplay as bp
from backplay.restore.likely import constants, unlikely
from envs_for_tests import count_help


def unnamed(function: Any) -> Any:
    """A decorator that keeps nothing of what it decorates."""

    def called(*given: Any, **more: Any) -> Any:
        return function(*given, **more)

    return called


class Plain(gym.Env[Any, Any]):
    observation_space, action_space = spaces.Discrete(9), spaces.Discrete(2)

    def __init__(self) -> None:
        self.place, self.width = 0, 7

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place = 0
        return self.place, {}

    def step(self, action: Any) -> Any:
        self.place += 1
        return self.place, float(self.place == 5), self.place == 5, False, {}


class Decorated(Plain):
    def __init__(self) -> None:
        super().__init__()
        self.decorated, self.helped = 0, 0

    @unnamed
    def step(self, action: Any) -> Any:
        self.decorated += 1
        count_help(self)
        return super().step(action)


def test_what_decorators_hide_and_helpers_set_is_no_constant() -> None:
    assert "width" in constants([Decorated()])[0]
    assert not {"place", "decorated", "helped"} & constants([Decorated()])[0]
    demo = bp.record(Decorated(), [1] * 5)
    bp.BackplayEnv(Decorated(), [demo], bp.Uniform()).reset(seed=0)


def test_a_class_that_came_without_its_module_has_no_constants() -> None:
    """As those of a script have in a worker process: their code cannot be read."""

    class Here(Plain):
        def __init__(self) -> None:
            super().__init__()
            self.told = 0

        def step(self, action: Any) -> Any:
            self.told += 1
            return super().step(action)

    assert constants([Here()]) == [frozenset()]
    demo = bp.record(Here(), [1] * 5)
    bp.BackplayEnv(Here(), [demo], bp.Uniform()).reset(seed=0)


def test_clocks_are_numbers_from_0_on() -> None:
    for count in (0, 3, 2.5):
        assert unlikely({"step_count": count}, {"step_count": 0}) is None
    for count in (-1, -0.5, float("nan"), None, "3"):
        assert unlikely({"step_count": count}, {"step_count": 0}) == "step_count"
