"""Bisection: a search for the place between what works and what does not.

After AdaBack (Amani et al. 2025, "RL for reasoning by adaptively revealing rationales"), which
finds for every problem how much of its solution must be shown.

As there: each demonstration has an interval; a start is drawn from it uniformly; success moves the
near end of the interval to that start, failure the far end.

Otherwise than there, or not known: a single episode decides, not the mean reward of a group; the
other end opens again with each move, by as much as the interval is wide, so that the search follows
a policy that changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backplay.curricula.curriculum import FloatArray, as_length
from backplay.curricula.memory import PerDemonstration, Row, Seen


@dataclass(frozen=True)
class Bisection(PerDemonstration):
    """Starts between a place that works and one that does not.

    A row holds both as shares of the length, counted from the end.
    """

    @property
    def first(self) -> Row:
        """Anywhere."""
        return (0.0, 1.0)

    def moved(self, row: Row, episode: Seen) -> Row:
        """The interval after one more episode."""
        (works, fails), at = row, min(episode.back / episode.length, 1.0)
        width = max(fails - works, 1.0 / episode.length)
        if episode.success:
            return (max(works, at), min(1.0, max(fails, at) + width / 2))
        return (max(0.0, min(works, at) - width / 2), min(fails, at))

    def weights(self, demo: int, length: int) -> FloatArray:
        """Flat over the interval: [length + 1]."""
        works, fails = self.row(demo)
        near = int(np.clip(round(works * as_length(length)), 1, length))
        far = int(np.clip(round(fails * length), near, length))
        weights = np.zeros(length + 1)
        weights[length - far : length - near + 1] = 1.0 / (far - near + 1)
        return weights

    def describe(self) -> str:
        """One short line, e.g. "between 20% and 45% of the way back"."""
        works, fails = np.mean(self.state.rows or [self.first], axis=0)
        return f"between {works:.0%} and {fails:.0%} of the way back"
