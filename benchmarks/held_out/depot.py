import gymnasium as gym
import numpy as np
from gymnasium import spaces

SIZE, DOCK = 24, (0, 0)
PARCELS = ((23, 17), (12, 23), (19, 5), (7, 20), (21, 22))


class Depot(gym.Env):
    """Fetch five parcels one after another and bring each to the dock; paid when all are there."""

    def __init__(self):
        self.observation_space = spaces.Box(0, SIZE, (4,), np.int64)
        self.action_space = spaces.Discrete(6)  # four moves, pick up, put down

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.carries, self.brought, self.steps = (0, 0), 0, 0, 0
        return self.look(), {}

    def look(self):
        return np.array([*self.at, self.carries, self.brought])

    def step(self, action):
        if action < 4:
            row = self.at[0] + (action == 1) - (action == 0)
            column = self.at[1] + (action == 3) - (action == 2)
            shelf = row % 4 == 2 and column % 6 != 5  # shelves with aisles every six columns
            if 0 <= row < SIZE and 0 <= column < SIZE and not shelf:
                self.at = (row, column)
        elif action == 4 and not self.carries and self.at == PARCELS[self.brought]:
            self.carries = 1
        elif action == 5 and self.carries and self.at == DOCK:
            self.carries, self.brought = 0, self.brought + 1
        self.steps += 1
        won = self.brought == len(PARCELS)
        return self.look(), float(won), won, self.steps >= 2_000, {}


def way(aim):
    """Steps to a place from everywhere."""
    far, edge = {aim: 0}, [aim]
    for at in edge:
        for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            row, column = there = (at[0] + down, at[1] + right)
            free = 0 <= row < SIZE and 0 <= column < SIZE and (row % 4 != 2 or column % 6 == 5)
            if free and there not in far:
                far[there] = far[at] + 1
                edge.append(there)
    return far


WAYS = {aim: way(aim) for aim in (DOCK, *PARCELS)}


def player(seen):
    row, column, carries, brought = (int(x) for x in seen)
    aim = DOCK if carries else PARCELS[brought]
    if (row, column) == aim:
        return 5 if carries else 4
    far = WAYS[aim]
    around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return min(range(4), key=lambda action: far.get(around[action], 999))
