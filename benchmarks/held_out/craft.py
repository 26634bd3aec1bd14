import gymnasium as gym
import numpy as np
from gymnasium import spaces

SIZE = 12
THINGS = {"tree": (2, 9), "bench": (6, 5), "rock": (10, 10), "gem": (1, 1)}
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Craft(gym.Env):
    """Two logs from the tree, a pick at the bench (takes both), a stone with it, then the gem."""

    def __init__(self):
        self.observation_space = spaces.Dict(
            {
                "place": spaces.Box(0, SIZE - 1, (2,), np.int32),
                "bag": spaces.MultiDiscrete([3, 2, 2]),  # logs, pick, stone
                "beside": spaces.Discrete(5),  # nothing, or one of the four things
                "energy": spaces.Box(0, 1, (1,), np.float32),
            }
        )
        self.action_space = spaces.Discrete(6)  # four moves, take, make

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.bag, self.steps = [11, 0], [0, 0, 0], 0
        return self.look(), {}

    def here(self):
        for number, thing in enumerate(THINGS.values()):
            if tuple(self.place) == thing:
                return number + 1
        return 0

    def look(self):
        return {
            "place": np.array(self.place, np.int32),
            "bag": np.array(self.bag, np.int64),
            "beside": self.here(),
            "energy": np.array([1 - self.steps / 250], np.float32),
        }

    def step(self, action):
        won = False
        if action < 4:
            self.place = [min(max(self.place[i] + MOVES[action][i], 0), SIZE - 1) for i in (0, 1)]
        elif action == 4:
            if self.here() == 1:
                self.bag[0] = min(self.bag[0] + 1, 2)
            elif self.here() == 3 and self.bag[1]:
                self.bag[2] = 1
            elif self.here() == 4 and self.bag[2]:
                won = True
        elif self.here() == 2 and self.bag[0] == 2:
            self.bag[:2] = [0, 1]
        self.steps += 1
        return self.look(), float(won), won, self.steps >= 250, {}


def player(seen):
    logs, pick, stone = seen["bag"]
    thing = "gem" if stone else "rock" if pick else "bench" if logs == 2 else "tree"
    (row, column), aim = seen["place"], THINGS[thing]
    if row != aim[0]:
        return 0 if row > aim[0] else 1
    if column != aim[1]:
        return 2 if column > aim[1] else 3
    return 5 if thing == "bench" else 4
