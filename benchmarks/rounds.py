"""A watchman's rounds: a long demonstration to choose curricula on.

Six clocks in four rooms are to be punched in their order, back at the gate he is paid: some 150
steps, seen as plain coordinates and a count. Nothing is reported on it.
"""

import gymnasium as gym
import numpy as np
from gymnasium import spaces

SIZE, GATE = 15, (14, 7)
CLOCKS = ((2, 1), (12, 13), (12, 2), (1, 12), (5, 5), (9, 13))
DOORS = {(7, 3), (7, 11), (3, 7), (11, 7)}  # of the two walls that cross in the middle
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))


def free(row: int, column: int) -> bool:
    wall = (row == SIZE // 2 or column == SIZE // 2) and (row, column) not in DOORS | {GATE}
    return 0 <= row < SIZE and 0 <= column < SIZE and not wall


class Rounds(gym.Env):
    """Punch every clock in its order, then leave by the gate."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, SIZE, (3,), np.int64)
        self.action_space = spaces.Discrete(5)  # four moves, punch

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.punched, self.steps = (SIZE - 1, 6), 0, 0
        return self.look(), {}

    def look(self):
        return np.array([*self.at, self.punched])

    def step(self, action):
        if action < 4:
            there = (self.at[0] + MOVES[action][0], self.at[1] + MOVES[action][1])
            self.at = there if free(*there) else self.at
        elif self.punched < len(CLOCKS) and self.at == CLOCKS[self.punched]:
            self.punched += 1
        self.steps += 1
        won = self.punched == len(CLOCKS) and self.at == GATE
        return self.look(), float(won), won, self.steps >= 1_000, {}


def distances(aim: tuple[int, int]) -> dict[tuple[int, int], int]:
    """Steps to a place from everywhere."""
    far, edge = {aim: 0}, [aim]
    for row, column in edge:
        for down, right in MOVES:
            there = (row + down, column + right)
            if free(*there) and there not in far:
                far[there] = far[row, column] + 1
                edge.append(there)
    return far


FAR = [distances(aim) for aim in (*CLOCKS, GATE)]


def watchman(seen: np.ndarray) -> int:
    """The shortest way from clock to clock."""
    row, column, punched = (int(x) for x in seen)
    if FAR[punched][row, column] == 0:
        return 4
    around = [(row + down, column + right) for down, right in MOVES]
    return min(range(4), key=lambda action: FAR[punched].get(around[action], 999))
