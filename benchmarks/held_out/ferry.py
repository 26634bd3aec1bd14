import gymnasium as gym
import numpy as np
from gymnasium import spaces

WIDTH, RIVERS, FAR = 7, (2, 5, 8), 11


class Ferry(gym.Env):
    """Cross three rivers by ferries that come and go by chance; feet slip, and water ends it."""

    metadata = {"render_modes": ["ansi"], "render_fps": 8}  # noqa: RUF012

    def __init__(self, slip=0.03, render_mode=None):
        self.slip, self.render_mode = slip, render_mode
        self.observation_space = spaces.MultiDiscrete([FAR + 1, WIDTH] + [WIDTH, 2] * 3)
        self.action_space = spaces.Discrete(5)  # wait, on, back, left, right

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.row, self.column, self.steps = 0, int(self.np_random.integers(WIDTH)), 0
        self.ferries = [int(x) for x in self.np_random.integers(WIDTH, size=3)]
        self.headings = [int(x) for x in self.np_random.integers(2, size=3)]
        return self.look(), {}

    def look(self):
        pairs = zip(self.ferries, self.headings, strict=True)
        return np.array([self.row, self.column, *(x for pair in pairs for x in pair)], np.int64)

    def step(self, action):
        if self.np_random.random() < self.slip:
            action = int(self.np_random.integers(5))
        self.row = min(max(self.row + (action == 1) - (action == 2), 0), FAR)
        self.column = min(max(self.column + (action == 4) - (action == 3), 0), WIDTH - 1)
        wet = self.row in RIVERS and self.ferries[RIVERS.index(self.row)] != self.column
        for i in range(3):
            if self.np_random.random() < 0.7:
                if not 0 <= self.ferries[i] + 2 * self.headings[i] - 1 < WIDTH:
                    self.headings[i] = 1 - self.headings[i]
                way = 2 * self.headings[i] - 1
                if not wet and self.row == RIVERS[i]:
                    self.column += way
                self.ferries[i] += way
        self.steps += 1
        won = self.row == FAR and self.column == 3
        return self.look(), float(won), bool(won or wet), self.steps >= 200, {}

    def render(self):
        rows = [["~" if row in RIVERS else "." for _ in range(WIDTH)] for row in range(FAR + 1)]
        for river, ferry in zip(RIVERS, self.ferries, strict=True):
            rows[river][ferry] = "="
        rows[FAR][3] = "*"
        rows[self.row][self.column] = "@"
        return "\n".join("".join(row) for row in rows)


def player(seen):
    row, column = seen[:2]
    if row == FAR:
        return 0 if column == 3 else 4 if column < 3 else 3
    if row + 1 in RIVERS:
        ferry = seen[2 + 2 * RIVERS.index(row + 1)]
        if ferry == column:
            return 1
        return 0 if column == 3 else 4 if column < 3 else 3
    return 1
