"""Staircase: a frontier on each demonstration that moves back with success and forth with failure.

Comes in: what came of episodes. Goes out: starts around the frontier, on what is solved behind it,
and in the initial state. Needs neither a budget nor windows, nor the lengths beforehand.

The rule is the weighted up-down method by which psychophysics finds a threshold (Kaernbach 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, floor, isfinite
from typing import NamedTuple, Self

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
from backplay.errors import BackplayError, show
from backplay.records import Episode

NEAR, FAR = 0.5, 1.25  # most starts lie between these multiples of the frontier
COUNTS = 0.75  # episodes move it that start from this multiple on, and up to FAR
SOLVED = 0.2  # of the starts, anywhere behind the frontier: so nothing is forgotten
SILENT, PAYING = 0.1, 0.5  # shares of the frames at the initial state, see `start_share`
STEP = 1 / 16  # of the frontier: how far one episode moves it, but at least one step
MEAN_OVER = 30  # episodes, about, that the success at a frontier remembers
PROGRESS = 1.25  # a frontier that has not moved by this factor stands still
SETTLED = 50  # updates that it may stand; and as many as it took to get there
DRIFT = 0.02  # a frontier that stands for long goes on at this share of its pace, without success


class Rung(NamedTuple):
    """Where a demonstration stands."""

    frontier: float = 4.0
    """In steps back; beyond the initial state up to twice the length."""
    lowered: float = 0.0
    """What is taken off the target, because the frontier stood still."""
    success: float = 0.0
    """Recent, of the episodes that count for the frontier."""
    mark: float = 4.0
    """The farthest frontier when it last made progress."""
    reached: float = 0.0
    """Its updates until then."""
    updates: float = 0.0
    """Its updates so far: those that brought episodes from this demonstration."""


@dataclass(frozen=True)
class StaircaseState:
    """What a staircase has seen so far."""

    frames: int = 0
    """The clock: frames of training so far."""
    rungs: tuple[Rung, ...] = ()
    """By demonstration."""
    lengths: tuple[float, float] = (0.0, 0.0)
    """Mean steps of the last episodes from the initial state and of the others; 0: none yet."""
    pays: bool = False
    """Whether a failed episode has brought reward, such as a cost per step."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", whole_number("frames", self.frames))
        object.__setattr__(self, "lengths", as_means(self.lengths))
        if any(not isfinite(sum(rung)) or rung.frontier < 1.0 for rung in self.rungs):
            raise BackplayError(
                "rungs", expected="finite numbers, frontiers from 1 on", got=show(self.rungs),
                do="Leave it to update().",
            )  # fmt: skip

    @cached_property
    def frontiers(self) -> FloatArray:
        """The frontier of each demonstration, and last that of one that was not seen yet."""
        return np.array([*(rung.frontier for rung in self.rungs), Rung().frontier])


@dataclass(frozen=True)
class Staircase(Curriculum):
    """The default: starts where about `target` of the episodes succeed."""

    target: float = 0.3
    """The share of success around which the frontier settles. It falls while the frontier stands
    still, so that no task is too hard by nature to go on."""
    start_share: float | None = None
    """Share of the frames in episodes from the initial state while the frontier is on its way;
    None: half if failures bring reward, since values are learned from them, else a tenth."""
    cut: float | None = None
    """Training episodes end after so many times what the demonstration took from the same start,
    and 16 steps; None: 1 if failures bring reward, since a late one has taught what it could, else
    4. A large number never cuts."""
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
        return 1.0 if self.state.pays else 4.0

    @property
    def start_chance(self) -> float:
        """The chance of an episode to start in the initial state, wherever the frontier is."""
        return chance_of_share(self._share, self.state.lengths)

    @property
    def _share(self) -> float:
        """Of the frames at the initial state."""
        if self.start_share is not None:
            return self.start_share
        return PAYING if self.state.pays else SILENT

    def standing_at(self, back: float) -> Self:
        """The same with the frontier of the first demonstration at `back` steps."""
        rungs = (Rung(float(back)), *self.state.rungs[1:])
        return replace(self, state=replace(self.state, rungs=rungs))

    def sample_steps(self, demo: IntArray, length: IntArray, rng: np.random.Generator) -> IntArray:
        """Starts around the frontier, behind it, and initial states: step [n]."""
        lo, hi, solved, share = self._bounds(demo, length)
        back = rng.integers(lo, hi + 1)
        pick, chance = rng.random(len(demo)), self.start_chance
        back = np.where(pick < chance + (1 - chance) * share, rng.integers(1, solved + 1), back)
        back = np.where(pick < chance, length, back)
        return length - np.minimum(back, length)

    def weights(self, demo: int, length: int) -> FloatArray:
        """The same three kinds of starts as probabilities: [length + 1]."""
        bounds = self._bounds(np.array([demo]), np.array([as_length(length)]))
        lo, hi, solved = (int(bound[0]) for bound in bounds[:3])
        share, chance = float(bounds[3][0]), self.start_chance
        by_back = np.zeros(max(hi, length) + 1)
        by_back[lo : hi + 1] += (1 - chance) * (1 - share) / (hi - lo + 1)
        by_back[1 : solved + 1] += (1 - chance) * share / solved
        by_back[length] += chance
        by_back[length] += by_back[length + 1 :].sum()
        return np.ascontiguousarray(by_back[length::-1])

    def _bounds(
        self, demo: IntArray, length: IntArray
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """Fewest and most steps back at the frontier, most on what is solved, the latter's share.

        Beyond the initial state the frontier moves on to twice the length, which leaves less and
        less for other starts.
        """
        frontiers = self.state.frontiers
        frontier = np.minimum(frontiers[np.minimum(demo, len(frontiers) - 1)], 2.0 * length)
        lo = np.ceil(NEAR * frontier).astype(np.int64)
        hi = np.maximum(lo, np.floor(FAR * frontier).astype(np.int64))
        solved = np.clip(frontier.astype(np.int64), 1, length)
        return lo, hi, solved, SOLVED * np.clip(2.0 - frontier / length, 0.0, 1.0)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same with the frontiers moved by these episodes."""
        now, rungs = self.state, list(self.state.rungs)
        moved: set[int] = set()
        for one in seen(episodes):
            rungs.extend([Rung()] * (one.demo + 1 - len(rungs)))
            rungs[one.demo] = self._moved(rungs[one.demo], one)
            moved.add(one.demo)
        for demo in moved:
            rungs[demo] = self._lowered(rungs[demo])
        pays = now.pays or any(not e.success and e.total_reward for e in episodes)
        frames, lengths = later(now.frames, frames), mean_lengths(now.lengths, episodes)
        return replace(self, state=StaircaseState(frames, tuple(rungs), lengths, bool(pays)))

    def _moved(self, rung: Rung, one: Seen) -> Rung:
        """After one more episode, if it started around the frontier."""
        near, far = floor(COUNTS * rung.frontier), ceil(FAR * rung.frontier)
        if not min(near, one.length) <= one.back <= far:
            return rung
        success = float(one.success)
        pace = 2.0 * max(1.0, STEP * rung.frontier)
        moved = max(rung.frontier + pace * (success - self.target + rung.lowered), 1.0)
        if rung.lowered > self.target and rung.success < DRIFT and moved > one.length:
            if not self.state.pays:
                return Rung()  # all was tried in vain: from the end again
            moved = float(one.length)
        recent = rung.success + (success - rung.success) / MEAN_OVER
        return rung._replace(frontier=min(moved, 2.0 * one.length), success=recent)

    def _lowered(self, rung: Rung) -> Rung:
        """After an update: the target falls while the frontier stands, and rises with success."""
        rung = rung._replace(updates=rung.updates + 1.0)
        if rung.frontier >= PROGRESS * rung.mark:
            rung = rung._replace(mark=rung.frontier, reached=rung.updates)
        fall = self.target / (rung.reached + SETTLED)
        if rung.success >= 0.75 * self.target + 0.25:  # clearly above it
            return rung._replace(lowered=max(rung.lowered - fall, 0.0))
        if rung.updates - rung.reached < rung.reached + SETTLED:
            return rung
        return rung._replace(lowered=min(rung.lowered + fall, self.target + DRIFT))

    def describe(self) -> str:
        """One short line, e.g. "around 12 to 40 steps back, 10% of frames at the initial state"."""
        rungs = [rung for rung in self.state.rungs if rung.updates] or [Rung()]
        backs = sorted(round(rung.frontier) for rung in rungs)
        ends = f"{backs[0]}" if backs[0] == backs[-1] else f"{backs[0]} to {backs[-1]}"
        line = f"around {ends} steps back, {self._share:.0%} of frames at the initial state"
        still = sum(rung.lowered > 0 for rung in rungs)
        if still:
            line += f"; {still} of {len(rungs)} demonstrations stand still"
        return line
