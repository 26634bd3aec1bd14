import gymnasium as gym
import numpy as np
from gymnasium import spaces

ROOM = [
    "########",
    "#...#T.#",
    "#.$....#",
    "#...#..#",
    "##.##.##",
    "#.$....#",
    "#@..#T.#",
    "########",
]
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Sokoban(gym.Env):
    """Push both boxes onto the targets, seen as a picture; a box in a corner is lost."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 8}  # noqa: RUF012

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0, 255, (40, 40, 3), np.uint8)
        self.action_space = spaces.Discrete(4)

    def find(self, mark):
        return {(r, c) for r, row in enumerate(ROOM) for c, x in enumerate(row) if x == mark}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.walls, self.targets = self.find("#"), self.find("T")
        self.boxes, (self.at,) = self.find("$"), self.find("@")
        self.steps = 0
        return self.render(), {}

    def step(self, action):
        down, right = MOVES[action]
        there = (self.at[0] + down, self.at[1] + right)
        beyond = (there[0] + down, there[1] + right)
        if there in self.boxes and beyond not in self.walls | self.boxes:
            self.boxes = self.boxes - {there} | {beyond}
            self.at = there
        elif there not in self.walls | self.boxes:
            self.at = there
        self.steps += 1
        won = self.boxes == self.targets
        return self.render(), float(won), won, self.steps >= 200, {"is_success": won}

    def render(self):
        image = np.full((8, 8, 3), 230, np.uint8)
        for places, colour in (
            (self.walls, (60, 60, 60)),
            (self.targets, (90, 200, 90)),
            (self.boxes, (180, 120, 40)),
            ({self.at}, (40, 80, 220)),
        ):
            for place in places:
                image[place] = colour
        return image.repeat(5, 0).repeat(5, 1)


WAY = [int(move) for move in "033322003033111222002033321211333000"]
