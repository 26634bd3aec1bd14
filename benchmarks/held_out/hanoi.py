import gymnasium as gym
import numpy as np
from gymnasium import spaces

DISCS, FROM, VIA, TO = 5, 0, 1, 2
MOVES = ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))


class Hanoi(gym.Env):
    """The tower of Hanoi with five discs, 31 moves; paid when all lie on the last peg."""

    def __init__(self):
        self.observation_space = spaces.MultiDiscrete([3] * DISCS)
        self.action_space = spaces.Discrete(len(MOVES))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.pegs, self.steps = [FROM] * DISCS, 0
        return np.array(self.pegs), {}

    def step(self, action):
        here, there = MOVES[action]
        disc, below = self.top(here), self.top(there)
        if disc is not None and (below is None or disc < below):
            self.pegs[disc] = there
        self.steps += 1
        won = all(peg == TO for peg in self.pegs)
        return np.array(self.pegs), float(won), won, self.steps >= 400, {}

    def top(self, peg):
        return next((disc for disc in range(DISCS) if self.pegs[disc] == peg), None)


def moves(discs, here, via, there):
    """The fewest moves, as actions."""
    if not discs:
        return []
    before, after = moves(discs - 1, here, there, via), moves(discs - 1, via, here, there)
    return [*before, MOVES.index((here, there)), *after]


WAY = moves(DISCS, FROM, VIA, TO)
