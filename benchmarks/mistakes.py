"""A task in which mistakes cost more than its end pays."""

import gymnasium as gym
import numpy as np


class Mistakes(gym.Env):
    """Twelve places, in each one right action of four; whoever errs pays and stays."""

    observation_space = gym.spaces.Box(0, 100, (2,), np.float32)
    action_space = gym.spaces.Discrete(4)

    def __init__(self, prize: float, cost: float) -> None:
        self.prize, self.cost, self.place = prize, cost, 0

    def get_state(self):
        return self.place

    def set_state(self, state):
        self.place = state

    def _seen(self):
        return np.array([1.01 * self.place, 7 * self.place % 5], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return self._seen(), {}

    def step(self, action):
        right = action == (3 * self.place + 1) % 4
        self.place += int(right)
        ended = self.place == 12
        reward = self.prize if ended else 0.0 if right else self.cost
        return self._seen(), reward, ended, False, {}
