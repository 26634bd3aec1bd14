"""Staircase: a frontier on each demonstration that moves back with success and forth with failure.

Comes in: what came of episodes. Goes out: starts around the frontier and some in the
initial state. Needs neither a budget nor windows, nor the lengths beforehand.

A frontier is a rating: how many steps from the end the policy starts and still succeeds in `target`
of the episodes. Every episode from the demonstration moves it, by as much as it surprises (Elo's
rule, which is the weighted up-down method of Kaernbach 1991 where all episodes start at the
frontier). So a success far before it counts most, and one that was sure to come counts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, log
from typing import Self

import numpy as np

from backplay.curricula.curriculum import (
    Curriculum,
    FloatArray,
    IntArray,
    as_length,
    later,
    real_number,
    whole_number,
)
from backplay.curricula.memory import Seen, as_means, chance_of_share, mean_lengths, seen
from backplay.records import Episode

FIRST = 4.0  # steps back of a frontier that has not moved
LEAST, MOST = 0.05, 2.0  # steps back, and lengths, between which it moves
NEAR, FAR = 0.5, 1.25  # most starts lie between these multiples of it
PACE, QUICK = 0.25, 0.5  # how far the greatest surprise moves it, in logarithms: two steps at first
WIDTH = 0.4  # how fast success falls around it, in logarithms
PRIZE, COSTS = 0.1, 0.5  # shares of the frames at the initial state, see `start_share`


@dataclass(frozen=True)
class StaircaseState:
    """What a staircase has seen so far."""

    frames: int = 0
    """The clock: frames of training so far."""
    known: tuple[float, ...] = ()
    """The frontier of each demonstration, in steps back; beyond the initial state up to twice the
    length. Below one step nothing succeeds, not even at the end."""
    lengths: tuple[float, float] = (0.0, 0.0)
    """Mean steps of the last episodes from the initial state and of the others; 0: none yet."""
    costs: bool = False
    """Whether even the last steps of a demonstration earn less than nothing: costs, no prize."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", whole_number("frames", self.frames))
        object.__setattr__(self, "lengths", as_means(self.lengths))
        known = tuple(real_number("known", x, at_least=LEAST) for x in self.known)
        object.__setattr__(self, "known", known)

    @cached_property
    def frontiers(self) -> FloatArray:
        """The frontier of each demonstration, and last that of one that was not seen yet."""
        return np.array([*self.known, FIRST])


@dataclass(frozen=True)
class Staircase(Curriculum):
    """The default: starts where about `target` of the episodes succeed."""

    target: float = 0.35
    """Success at the frontier."""
    start_share: float | None = None
    """Share of the frames in episodes from the initial state while the frontier is on its way, and
    at most of the episodes; None: a tenth, or half where all there is are costs, since values are
    learned from failures there."""
    cut: float | None = None
    """Training episodes end after so many times what the demonstration took from the same start,
    and 16 steps; None: 1 where all there is are costs, since a late failure has taught what it
    could, else 4. A large number never cuts."""
    state: StaircaseState = field(default_factory=StaircaseState)
    """What it has seen."""

    def __post_init__(self) -> None:
        target = real_number("target", self.target, at_least=0.01, at_most=0.99)
        object.__setattr__(self, "target", target)
        if self.start_share is not None:
            share = real_number("start_share", self.start_share, at_most=1.0)
            object.__setattr__(self, "start_share", share)
        if self.cut is not None:
            object.__setattr__(self, "cut", real_number("cut", self.cut, at_least=1.0))

    @property
    def frames(self) -> int:
        """The clock: frames of training so far."""
        return self.state.frames

    @property
    def patience(self) -> float | None:
        """How long an episode may take now, see `Curriculum.patience`."""
        if self.cut is not None:
            return self.cut
        return 1.0 if self.state.costs else 4.0

    @property
    def start_chance(self) -> float:
        """The chance of an episode to start in the initial state, wherever the frontier is."""
        default = COSTS if self.state.costs else PRIZE
        share = default if self.start_share is None else self.start_share
        return min(share, chance_of_share(share, self.state.lengths))

    def standing_at(self, back: float) -> Self:
        """The same with the frontier of the first demonstration at `back` steps."""
        known = (float(back), *self.state.known[1:])
        return replace(self, state=replace(self.state, known=known))

    def sample_steps(self, demo: IntArray, length: IntArray, rng: np.random.Generator) -> IntArray:
        """Starts around the frontier, anywhere, and initial states: step [n]."""
        lo, hi, lost = self._bounds(demo, length)
        back, pick, chance = rng.integers(lo, hi + 1), rng.random(len(demo)), self.start_chance
        back = np.where(pick < chance + (1 - chance) * lost, rng.integers(1, length + 1), back)
        back = np.where(pick < chance, length, back)
        return length - np.minimum(back, length)

    def weights(self, demo: int, length: int) -> FloatArray:
        """The same three kinds of starts as probabilities: [length + 1]."""
        bounds = self._bounds(np.array([demo]), np.array([as_length(length)]))
        lo, hi = (int(bound[0]) for bound in bounds[:2])
        lost, chance = float(bounds[2][0]), self.start_chance
        by_back = np.zeros(max(hi, length) + 1)
        by_back[lo : hi + 1] += (1 - chance) * (1 - lost) / (hi - lo + 1)
        by_back[1 : length + 1] += (1 - chance) * lost / length
        by_back[length] += chance
        by_back[length] += by_back[length + 1 :].sum()
        return np.ascontiguousarray(by_back[length::-1])

    def _bounds(self, demo: IntArray, length: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Fewest and most steps back at the frontier, and the share of starts anywhere.

        A frontier below a single step says that the end is lost, and leaves most to the latter; one
        beyond the initial state means that state.
        """
        frontiers = self.state.frontiers
        frontier = np.minimum(frontiers[np.minimum(demo, len(frontiers) - 1)], MOST * length)
        lo = np.ceil(np.maximum(NEAR * frontier, 1.0)).astype(np.int64)
        hi = np.maximum(lo, np.floor(FAR * frontier).astype(np.int64))
        return lo, hi, np.clip(1.0 - frontier, 0.0, 1.0)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same with the frontiers moved by these episodes."""
        now, known = self.state, list(self.state.known)
        for one in seen(episodes):
            known.extend([FIRST] * (one.demo + 1 - len(known)))
            known[one.demo] = self._moved(known[one.demo], one)
        costs = now.costs or any(e.par < 0 and 0 < e.back <= FIRST for e in episodes)
        frames, lengths = later(now.frames, frames), mean_lengths(now.lengths, episodes)
        return replace(self, state=StaircaseState(frames, tuple(known), lengths, bool(costs)))

    def _moved(self, frontier: float, one: Seen) -> float:
        """After one more episode. Beyond the initial state that is where all of them start."""
        back = max(one.back, frontier) if one.back >= one.length else one.back
        if one.success and frontier < 1.0:
            return float(back)  # the end is lost, this place is not
        if one.success and back < NEAR * frontier:
            return frontier  # however many, they do not carry it beyond what was tried
        odds = log(frontier / back) / WIDTH + log(self.target / (1.0 - self.target))
        surprise = one.success - 1.0 / (1.0 + exp(-odds))
        moved = frontier * exp(max(PACE, min(QUICK, 2.0 / frontier)) * surprise)
        return min(max(moved, LEAST), MOST * one.length)

    def describe(self) -> str:
        """One short line, e.g. "around 12 to 40 steps back"."""
        backs = sorted(round(frontier) for frontier in self.state.known or (FIRST,))
        ends = f"{backs[0]}" if backs[0] == backs[-1] else f"{backs[0]} to {backs[-1]}"
        return f"around {ends} steps back" + ("; some ends are lost" if backs[0] < 1 else "")
