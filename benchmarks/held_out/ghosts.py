import gymnasium as gym
import numpy as np
from gymnasium import spaces

SIZE, COIN, EXIT = 9, (8, 8), (0, 8)
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1), (0, 0))


class Ghosts(gym.Env):
    """Fetch a coin and leave, while two ghosts walk about at random; who meets one is dead."""

    def __init__(self):
        self.observation_space = spaces.Box(0, SIZE - 1, (7,), np.int64)
        self.action_space = spaces.Discrete(5)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.ghosts, self.coin, self.steps = (0, 0), [(4, 2), (4, 6)], 0, 0
        return self.look(), {}

    def look(self):
        return np.array([*self.at, *self.ghosts[0], *self.ghosts[1], self.coin])

    def step(self, action):
        self.at = moved(self.at, MOVES[action])
        self.ghosts = [moved(one, MOVES[self.np_random.integers(4)]) for one in self.ghosts]
        self.coin = int(self.coin or self.at == COIN)
        self.steps += 1
        dead = self.at in self.ghosts
        won = bool(self.coin and self.at == EXIT and not dead)
        return self.look(), float(won), won or dead, self.steps >= 150, {}


def moved(at, move):
    return tuple(int(min(SIZE - 1, max(0, x + by))) for x, by in zip(at, move, strict=True))


def player(seen):
    """Down, right, up, without a look at the ghosts: a demonstration is an episode that worked."""
    row, coin = int(seen[0]), int(seen[6])
    if coin:
        return 0
    return 1 if row < SIZE - 1 else 3
