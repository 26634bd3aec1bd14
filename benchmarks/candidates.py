"""The staircase's first version, beside which the present one was chosen.

Comes in: what came of episodes. Goes out: a curriculum that `choose_curriculum.py` runs as
`Earlier()`. Kept so that the choice can be made again; the library has the present one alone.
"""

from dataclasses import dataclass, replace

import numpy as np

from backplay.curricula.curriculum import Curriculum
from backplay.curricula.memory import chance_of_share, mean_lengths, seen

FIRST, NEAR, FAR = 4.0, 0.5, 1.25
SOLVED, START = 0.2, 0.1  # of the starts anywhere behind the frontier; of the frames


@dataclass(frozen=True)
class Earlier(Curriculum):
    """Steps of the same size; successes count from 0.75 b on, failures up to 1.1 b."""

    target: float = 0.5
    frontiers: tuple[float, ...] = ()
    lengths: tuple[float, float] = (0.0, 0.0)
    frames: int = 0

    @property
    def patience(self) -> float:
        return 4.0

    def sample_steps(self, demo, length, rng):
        known = np.array([*self.frontiers, FIRST])
        b = np.minimum(known[np.minimum(demo, len(known) - 1)], 2.0 * length)
        lo = np.ceil(NEAR * b).astype(np.int64)
        hi = np.maximum(lo, np.floor(FAR * b).astype(np.int64))
        behind = np.clip(b.astype(np.int64), 1, length)
        solved = SOLVED * np.clip(2.0 - b / length, 0.0, 1.0)
        chance = chance_of_share(START, self.lengths)
        back = rng.integers(lo, hi + 1)
        back = np.where(rng.random(len(demo)) < solved, rng.integers(1, behind + 1), back)
        back = np.where(rng.random(len(demo)) < chance, length, back)
        return length - np.minimum(back, length)

    def weights(self, demo, length):
        many = np.full(2_000, demo), np.full(2_000, length)
        steps = self.sample_steps(*many, np.random.default_rng(0))
        return np.bincount(steps, minlength=length + 1) / 2_000

    def update(self, episodes, frames):
        rows = list(self.frontiers)
        for one in seen(episodes):
            rows.extend([FIRST] * (one.demo + 1 - len(rows)))
            b = rows[one.demo]
            back = one.back if one.back < one.length else max(one.back, b)
            if back >= 0.75 * b if one.success else back <= 1.1 * b:
                moved = b + max(2.0, b / 8) * (one.success - self.target)
                rows[one.demo] = min(max(moved, 1.0), 2.0 * one.length)
        lengths = mean_lengths(self.lengths, episodes)
        return replace(self, frontiers=tuple(rows), lengths=lengths, frames=frames)

    def describe(self) -> str:
        return f"around {np.mean(self.frontiers or (FIRST,)):.0f}"
