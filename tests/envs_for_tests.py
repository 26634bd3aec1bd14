"""Small environments, each with one trait that a restorer must get right or refuse."""

from __future__ import annotations

import copy
import random
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Corridor(gym.Env[Any, Any]):
    """Walk right to the end: action 1 is a step right, 0 a step left, if it does not slip.

    All its state is plain attributes. `slip` is the chance to go the other way. Reward 1 and
    termination at the end.
    """

    def __init__(self, length: int = 10, slip: float = 0.0) -> None:
        self.observation_space = spaces.Box(-1e6, 1e6, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.length, self.slip = length, slip
        self.place, self.steps = 0, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.place, self.steps = 0, 0
        return self.see(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        right = bool(action) ^ self.slips()
        self.place = max(0, self.place + (1 if right else -1))
        done = self.place >= self.length
        return self.see(), float(done), done, False, {}

    def slips(self) -> bool:
        return bool(self.slip and self.np_random.random() < self.slip)

    def see(self) -> Any:
        return np.array([self.place, self.steps], np.float32)


class LegalCorridor(Corridor):
    """A step left is illegal at the wall, and raises."""

    def step(self, action: Any) -> Any:
        if self.place == 0 and not action:
            raise ValueError("illegal: a wall to the left")
        return super().step(action)


class StatefulCorridor(Corridor):
    """One with get_state and set_state, its random stream included."""

    def get_state(self) -> Any:
        return {
            "place": self.place, "steps": self.steps,
            "stream": dict(self.np_random.bit_generator.state),
        }  # fmt: skip

    def set_state(self, state: Any) -> None:
        self.place, self.steps = state["place"], state["steps"]
        self.np_random.bit_generator.state = state["stream"]


class ForgetfulCorridor(Corridor):
    """One whose get_state forgets its random stream."""

    def __init__(self) -> None:
        super().__init__(40, slip=0.4)
        self.luck = random.Random()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.luck.seed(seed)
        return super().reset(seed=seed)

    def slips(self) -> bool:
        return self.luck.random() < self.slip

    def get_state(self) -> Any:
        return [self.place, self.steps]

    def set_state(self, state: Any) -> None:
        self.place, self.steps = state


class SecretCorridor(StatefulCorridor):
    """Deterministic through its state alone: the seed says nothing, and a deep copy lies."""

    def __init__(self) -> None:
        super().__init__(40, slip=0.4)
        self.dice = [Dice()]

    def slips(self) -> bool:
        return self.dice[0].rng.random() < self.slip

    def get_state(self) -> Any:
        return [self.place, self.steps, self.dice[0].rng.bit_generator.state]

    def set_state(self, state: Any) -> None:
        self.place, self.steps, self.dice[0].rng.bit_generator.state = state


class Dice:
    """A fresh source of chance, whose deep copy is a fresh one too."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng()

    def __deepcopy__(self, memo: Any) -> Dice:
        return Dice()


class LawlessCorridor(Corridor):
    """Truly non-deterministic: from step 4 on nobody can say what `field` will be."""

    def __init__(self, field: str = "observation") -> None:
        super().__init__(1000)
        self.field = field

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        chance = np.random.default_rng().random() if self.steps > 3 else 0.0
        if self.field == "observation":
            observation = observation + np.float32(chance)
        elif self.field == "reward":
            reward += chance
        elif self.field == "terminated":
            terminated = chance > 0.5
        else:
            truncated = chance > 0.5
        return observation, reward, terminated, truncated, info


class TrapCorridor(Corridor):
    """Its deep copy succeeds and is a fresh one, as LunarLander's does."""

    def __init__(self) -> None:
        super().__init__(40)
        self.worlds = [World()]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.worlds = [World()]
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        self.worlds[0].turns += 1
        return super().step(action)

    def see(self) -> Any:
        return np.array([self.place, self.worlds[0].turns], np.float32)


class World:
    """Counts, and is born again whenever it is copied."""

    def __init__(self) -> None:
        self.turns = 0

    def __deepcopy__(self, memo: Any) -> World:
        return World()


class ReusedArrays(Corridor):
    """Returns one observation array again and again, and scales the action it is given in place."""

    def __init__(self) -> None:
        super().__init__(10**6)
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float64)
        self.seen = np.zeros(2, np.float32)

    def step(self, action: Any) -> Any:
        action *= 3.0
        self.steps += 1
        self.seen += action.astype(np.float32)
        return self.seen, float(action.sum()), False, False, {}

    def see(self) -> Any:
        self.seen[:] = 0
        return self.seen


class ManyStreams(Corridor):
    """Draws from five kinds of random streams: its own, in an object, in a list and in a dict."""

    def __init__(self) -> None:
        super().__init__(10**6)
        self.observation_space = spaces.Box(0, 1, (5,), np.float64)
        self.deep = Deck()
        self.listed: Any = [None]
        self.named: Any = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        gym.Env.reset(self, seed=seed)
        if seed is not None:
            self.python = random.Random(seed)
            self.legacy = np.random.RandomState(seed)
            self.deep.cards = np.random.Generator(np.random.MT19937(seed))
            self.listed = [np.random.Generator(np.random.Philox(seed)), len]
            self.named = {"it": random.Random(seed + 1)}
        return self.see(), {}

    def see(self) -> Any:
        by_name = self.named["it"].random()
        own = [self.python.random(), self.legacy.rand(), self.deep.cards.random()]
        return np.array([*own, self.listed[0].random(), by_name])


class Deck:
    """Holds a stream."""

    cards: np.random.Generator


class Moody(Corridor):
    """Creates and deletes attributes during an episode, on itself and on an object it holds."""

    def __init__(self) -> None:
        super().__init__(10**6)
        self.mood = Mood()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        for owner in (self, self.mood):
            vars(owner).pop("angry", None)
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        for owner, period in ((self, 7), (self.mood, 5)):
            if self.steps % period == 1:
                vars(owner)["angry"] = self.steps
            elif self.steps % period == 4:
                vars(owner).pop("angry", None)
        return super().step(action)

    def see(self) -> Any:
        own, inner = (int(hasattr(owner, "angry")) for owner in (self, self.mood))
        return np.array([self.steps, own + 2 * inner], np.float32)


class Mood:
    """Holds nothing at first."""


class TwoPlayers(Corridor):
    """Whose turn it is: one attribute is now this object, now that one."""

    def __init__(self) -> None:
        super().__init__(10**6)
        self.turn = self.white = Player()
        self.black = Player()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.white.points, self.black.points, self.turn = 0, 0, self.white
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        self.turn.points += 1 + int(action)
        if self.steps % 3 != 1:
            self.turn = self.black if self.turn is self.white else self.white
        return super().step(action)

    def see(self) -> Any:
        return np.array([self.white.points, self.black.points], np.float32)


class Player:
    """Has points."""

    points = 0


class Levels(Corridor):
    """Refuses to reset without a level, which is an option."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if not options or "level" not in options:
            raise KeyError("level")
        self.length = options["level"]
        return super().reset(seed=seed)


class Spaces(gym.Env[Any, Any]):
    """Any spaces: observations are drawn from one, rewards follow from actions in the other."""

    def __init__(self, observation: spaces.Space[Any], action: spaces.Space[Any]) -> None:
        self.observation_space, self.action_space = observation, action
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self.see(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        self.steps += 1
        flat = spaces.flatten(self.action_space, action)
        return self.see(), float(np.sum(flat)), False, self.steps >= 40, {}

    def see(self) -> Any:
        space = copy.deepcopy(self.observation_space)
        space.seed(int(self.np_random.integers(2**31)))
        return space.sample()


def count_help(env: Any) -> None:
    """Sets an attribute of an env, out of sight of its module."""
    env.helped += 1
