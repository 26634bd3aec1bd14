"""Backward: the start moves back while enough of a band of starts succeeds.

The rule of Salimans & Chen 2018 ("Learning Montezuma's Revenge from a single demonstration") and of
phase 2 of Go-Explore (Ecoffet et al. 2021), after their code atari-reset.

As there: a band of neighbouring starts, one for each worker; four episodes of five begin in the
band, the fifth anywhere from there to the end. The band moves so far back that the starts before
its nearest one still add up to `threshold` of a band of successes; if none do, it moves forward, by
up to a third of itself (there 100 of 320).

Otherwise than there: success is the env's, not the demonstration's final score (put `AtPar` around
it for that); the success of one start is a running mean, not the last count of its worker; it
moves after every episode, not every 1,024 steps; several demonstrations are drawn alike, where
Go-Explore draws them by the steps they are expected to take, the initial state as one of them, and
leaves out those that lag; nothing of its endings, entropy, warm-up or imitation of itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from backplay.curricula.curriculum import FloatArray, as_length, real_number, whole_number
from backplay.curricula.memory import PerDemonstration, Row, Seen

ANYWHERE = 0.2  # of the episodes, from the band's place to the end: frac_sample
RUNNING = 0.5  # weight of the last episode in a start's success


@dataclass(frozen=True)
class Backward(PerDemonstration):
    """Starts in a band that moves back while `threshold` of it succeeds, and forward if not.

    A row holds the nearest start of the band in steps back, then the success of each start, from
    one step back on; -1 where none was tried.
    """

    band: int = 16
    """Starts in the band; theirs are 320, on demonstrations of thousands of steps."""
    threshold: float = 0.2
    """Success that moves the band back."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "band", whole_number("band", self.band, at_least=1))
        threshold = real_number("threshold", self.threshold, at_least=0.01, at_most=1.0)
        object.__setattr__(self, "threshold", threshold)

    @classmethod
    def go_explore(cls, band: int = 16) -> Self:
        """With Go-Explore's threshold."""
        return cls(band, 0.1)

    @property
    def first(self) -> Row:
        """The band at the end, nothing tried."""
        return (1.0,)

    def moved(self, row: Row, episode: Seen) -> Row:
        """The success of one start counted, and the band moved where that puts it."""
        near, rates = int(row[0]), np.full(episode.length, -1.0)
        rates[: len(row) - 1] = row[1:]
        at, result = min(episode.back, episode.length) - 1, float(episode.success)
        rates[at] = result if rates[at] < 0 else rates[at] + RUNNING * (result - rates[at])
        band = min(self.band, episode.length)
        inside = rates[near - 1 : near - 1 + band]
        if (inside >= 0).mean() >= 0.5:  # half of the band must have been tried since it moved
            # From the earliest start on: which one makes the sum enough?
            sums = np.cumsum(np.maximum(rates, 0.0)[::-1])[::-1]
            enough = np.flatnonzero(sums >= self.threshold * band)
            moved = int(enough[-1]) + 1 if len(enough) else max(1, near - max(1, band // 3))
            if moved != near:
                near = min(moved, episode.length)
                rates[:] = np.where(np.arange(len(rates)) < near - 1 + band, rates, -1.0)
                rates[: near - 1] = -1.0
        return (float(near), *rates.tolist())

    def weights(self, demo: int, length: int) -> FloatArray:
        """Flat over the band, and a fifth from a place in it to the end: [length + 1]."""
        near = min(int(self.row(demo)[0]), as_length(length))
        backs = np.arange(near, near + self.band)
        by_back = np.zeros(near + self.band)
        by_back[backs] = (1.0 - ANYWHERE) / self.band
        reached = ANYWHERE / self.band / np.minimum(backs, length)  # of each start behind a place
        for place, each in zip(np.minimum(backs, length), reached, strict=True):
            by_back[1 : place + 1] += each
        weights = np.zeros(length + 1)
        weights[length - np.arange(1, length + 1)] = np.resize(
            np.append(by_back[1:], np.zeros(length)), length
        )
        weights[0] += by_back[length + 1 :].sum()
        return weights

    def describe(self) -> str:
        """One short line, e.g. "bands from 12 to 31 steps back"."""
        nears = [int(row[0]) for row in self.state.rows] or [1]
        return f"{self.band} starts from {min(nears)} to {max(nears)} steps back on"
