import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Crane(gym.Env):
    """Carry a hanging load over a wall and let it hang still above the mark; every step costs."""

    def __init__(self):
        self.observation_space = spaces.Box(-np.inf, np.inf, (6,), np.float64)
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)  # push the cart, wind the rope

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.v = self.np_random.uniform(-0.3, 0.3), 0.0
        self.angle, self.turn = self.np_random.uniform(-0.05, 0.05), 0.0
        self.rope, self.still, self.steps = 4.0, 0, 0
        return self.look(), {}

    def look(self):
        return np.array([self.x, self.v, self.angle, self.turn, self.rope, self.still])

    def load(self):
        return self.x + self.rope * np.sin(self.angle), self.rope * np.cos(self.angle)

    def step(self, action):
        push, wind = np.clip(np.asarray(action, float), -1, 1)
        before = self.load()[0]
        for _ in range(2):
            force = 3 * push - 0.5 * self.v
            self.turn += 0.05 * (-9.8 * np.sin(self.angle) - force * np.cos(self.angle)) / self.rope
            self.turn *= 0.995
            self.angle += 0.05 * self.turn
            self.v += 0.05 * force
            self.x = np.clip(self.x + 0.05 * self.v, -2, 12)
        self.rope = np.clip(self.rope + 0.1 * wind, 1.5, 4.5)
        across, down = self.load()
        if (before < 4) != (
            across < 4
        ) and down > 2.5:  # the wall at 4 is hit: the load swings back
            self.v, self.turn, self.x = -0.5 * self.v, -0.5 * self.turn, self.x - 2 * (across - 4)
        calm = abs(across - 8) < 0.4 and down > 3.5 and abs(self.v) < 0.3 and abs(self.turn) < 0.3
        self.still = self.still + 1 if calm else 0
        self.steps += 1
        cost = 0.1 + 0.02 * push**2 + 0.01 * wind**2
        won = self.still >= 5
        return self.look(), -cost, won, self.steps >= 400, {}


def player(seen):
    x, v, angle, turn, rope, _ = seen
    if x < 3 and rope > 2.0:
        return np.array([np.clip(-v, -1, 1), -1], np.float32)
    if x < 5.5:
        return np.array([np.clip(0.5 * (1.2 - v) + 0.4 * angle + 0.2 * turn, -1, 1), 0], np.float32)
    push = 0.35 * (8 - x) - 0.6 * v + 1.0 * angle + 0.3 * turn
    return np.array([np.clip(push, -1, 1), 1.0 if rope < 4 else 0.0], np.float32)
