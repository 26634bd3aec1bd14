"""ReverseForward: a frontier on each demonstration that moves back after successes in a row.

The reverse curriculum of RFCL (Tao et al. 2024, "Reverse Forward Curriculum Learning"), after their
code rfcl.

As there: only episodes that start exactly at the frontier count; after `in_a_row` of them it moves
back by `steps`, and never forward; starts lie at the frontier and up to four steps nearer to the
end, each half as likely as the one before; demonstrations that lag are drawn more often.

Otherwise than there: "successes of the last three" is a count that a failure sets to 0; no shorter
time limit (see `Patience`); no second stage over seeds of the env: with `initial="reset"` the
frontier's last place, the initial state, is every seed; the learner is whoever trains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from backplay.curricula.curriculum import FloatArray, as_length, as_lengths, whole_number
from backplay.curricula.memory import PerDemonstration, Row, Seen

AHEAD = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16)  # weights of the frontier and of the steps after it
SOLVED = 1e-6  # weight of a demonstration whose frontier is the initial state


@dataclass(frozen=True)
class ReverseForward(PerDemonstration):
    """Starts at a frontier that moves back by `steps` after `in_a_row` successes.

    A row holds the frontier in steps back and the successes in a row.
    """

    steps: int = 4
    """How far the frontier moves."""
    in_a_row: int = 3
    """Successes at the frontier that move it."""

    def __post_init__(self) -> None:
        for name in ("steps", "in_a_row"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), at_least=1))

    @property
    def first(self) -> Row:
        """One step before the end."""
        return (1.0, 0.0)

    def moved(self, row: Row, episode: Seen) -> Row:
        """One more success or failure, if it started at the frontier."""
        frontier, wins = row
        if episode.back != min(frontier, episode.length):
            return row
        wins = wins + 1.0 if episode.success else 0.0
        if wins < self.in_a_row:
            return (frontier, wins)
        return (min(frontier + self.steps, float(episode.length)), 0.0)

    def weights(self, demo: int, length: int) -> FloatArray:
        """Halving from the frontier towards the end: [length + 1]."""
        step = as_length(length) - min(int(self.row(demo)[0]), length)
        weights = np.zeros(length + 1)
        np.add.at(weights, np.minimum(step + np.arange(len(AHEAD)), length - 1), AHEAD)
        return weights

    def demo_weights(self, lengths: ArrayLike) -> FloatArray:
        """By what is left before the frontier: [num_demos]."""
        known = as_lengths(lengths)
        frontier = np.array([self.row(demo)[0] for demo in range(len(known))])
        left: FloatArray = (1.0 - frontier / known).clip(SOLVED)
        weights: FloatArray = left / left.sum()
        return weights

    def describe(self) -> str:
        """One short line, e.g. "frontier from 5 to 33 steps back"."""
        frontiers = [row[0] for row in self.state.rows] or [1.0]
        return f"frontier from {min(frontiers):g} to {max(frontiers):g} steps back"
