"""Staircase: a frontier on each demonstration that moves a step back or forth with every episode.

The weighted up-down method by which psychophysics finds a threshold (Kaernbach 1991): a success
moves it one step towards the beginning, a failure target / (1 - target) steps towards the end, so
that it settles where `target` of the episodes succeed.

Otherwise than there: starts lie around the frontier, not at it, so only successes from 0.75 of it
on and failures up to 1.1 of it count; a fifth of the starts is anywhere behind it, a tenth in the
initial state; training episodes are cut after four times the demonstration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backplay.curricula.curriculum import FloatArray, as_length, real_number
from backplay.curricula.memory import PerDemonstration, Row, Seen

FIRST = 4.0  # steps back of a frontier that has not moved
NEAR, FAR = 0.5, 1.25  # most starts lie between these multiples of it
WON, LOST = 0.75, 1.1  # successes count from here on, failures up to here
SOLVED, INITIAL = 0.2, 0.1  # shares of other starts


@dataclass(frozen=True)
class Staircase(PerDemonstration):
    """Starts around a frontier from which `target` of the episodes succeed.

    A row holds the frontier in steps back, at most twice the length.
    """

    target: float = 0.5
    """Success at the frontier."""

    def __post_init__(self) -> None:
        target = real_number("target", self.target, at_least=0.01, at_most=0.99)
        object.__setattr__(self, "target", target)

    @property
    def patience(self) -> float | None:
        """Four times what the demonstration took."""
        return 4.0

    @property
    def first(self) -> Row:
        """A few steps before the end."""
        return (FIRST,)

    def moved(self, row: Row, episode: Seen) -> Row:
        """One step back or forth, if it started near enough."""
        (frontier,) = row
        at = min(frontier, float(episode.length))
        if episode.success and episode.back >= WON * at:
            return (min(frontier + 1.0, 2.0 * episode.length),)
        if not episode.success and episode.back <= LOST * at:
            return (max(frontier - self.target / (1.0 - self.target), 1.0),)
        return row

    def weights(self, demo: int, length: int) -> FloatArray:
        """Around the frontier, behind it, and the initial state: [length + 1]."""
        frontier = min(self.row(demo)[0], 2.0 * as_length(length))
        lo = int(np.ceil(NEAR * frontier))
        hi = max(lo, int(FAR * frontier))
        by_back = np.zeros(max(hi, length) + 1)
        by_back[lo : hi + 1] += (1.0 - SOLVED - INITIAL) / (hi + 1 - lo)
        behind = min(int(frontier), length)
        by_back[1 : behind + 1] += SOLVED / behind
        by_back[length] += INITIAL
        by_back[length] += by_back[length + 1 :].sum()
        return np.ascontiguousarray(by_back[length::-1])

    def describe(self) -> str:
        """One short line, e.g. "around 12 to 40 steps back"."""
        backs = sorted(round(row[0]) for row in self.state.rows) or [round(FIRST)]
        return f"around {backs[0]} to {backs[-1]} steps back"
