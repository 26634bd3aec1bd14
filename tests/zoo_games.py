"""A game of several players as a Gymnasium environment of one, for the zoo."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from pettingzoo.sisl import pursuit_v5


class Pursuit(gym.Env[Any, Any]):
    """PettingZoo's Pursuit with one learner; the other pursuers move at random."""

    def __init__(self) -> None:
        self.game = pursuit_v5.parallel_env(n_pursuers=3, n_evaders=4, x_size=8, y_size=8)
        self.observation_space = self.game.observation_space("pursuer_0")
        self.action_space = self.game.action_space("pursuer_0")

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        seen, _ = self.game.reset(seed=int(self.np_random.integers(2**31)))
        return seen["pursuer_0"], {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        actions = {name: int(self.np_random.integers(5)) for name in self.game.agents}
        seen, rewards, ended, cut, _ = self.game.step({**actions, "pursuer_0": int(action)})
        name = "pursuer_0"
        return seen[name], float(rewards[name]), bool(ended[name]), bool(cut[name]), {}


gym.register("zoo/Pursuit-v0", Pursuit)
