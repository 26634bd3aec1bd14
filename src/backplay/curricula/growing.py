"""GrowingWindow: a window from the end that grows when it is mastered.

What the authors of Backplay report to have tried beside their tables: it "worked but was too slow".

As there: the window begins at the end and grows by half when mean success was above 0.8 over the
last ten updates. It is one for all demonstrations, in steps.

Otherwise than there, or not known: an update is whatever the trainer calls one; success is of the
episodes that started in the window, and the ten begin anew when it has grown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
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
from backplay.curricula.memory import seen
from backplay.records import Episode

UPDATES = 10  # over which success is averaged
GROWTH = 1.5


@dataclass(frozen=True)
class GrowingWindowState:
    """How far the window reaches, and what came of the last updates."""

    frames: int = 0
    """The clock: frames of training so far."""
    reach: float = 4.0
    """Most steps back."""
    recent: tuple[float, ...] = ()
    """Mean success of each update since it grew, at most the last ten."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", whole_number("frames", self.frames))
        object.__setattr__(self, "reach", real_number("reach", self.reach, at_least=1.0))
        recent = tuple(real_number("recent", x, at_most=1.0) for x in self.recent)
        object.__setattr__(self, "recent", recent[-UPDATES:])


@dataclass(frozen=True)
class GrowingWindow(Curriculum):
    """Starts anywhere in a window from the end that grows with success."""

    mastery: float = 0.8
    """Mean success above which it grows."""
    state: GrowingWindowState = field(default_factory=GrowingWindowState, kw_only=True)
    """What it has seen."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "mastery", real_number("mastery", self.mastery, at_most=1.0))

    @property
    def frames(self) -> int:
        """The clock: frames of training so far."""
        return self.state.frames

    @property
    def reach(self) -> int:
        """Most steps back, whole."""
        return ceil(min(self.state.reach, 2.0**31))

    def weights(self, demo: int, length: int) -> FloatArray:
        """Flat over the window: [length + 1]."""
        weights, inside = np.zeros(as_length(length) + 1), min(self.reach, length)
        weights[length - inside : length] = 1.0 / self.reach
        weights[0] += (self.reach - inside) / self.reach
        return weights

    def sample_steps(self, demo: IntArray, length: IntArray, rng: np.random.Generator) -> IntArray:
        """Starts in the window: step [n]."""
        back: IntArray = rng.integers(1, self.reach + 1, size=len(demo))
        return (length - back).clip(0)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same with these results, and a larger window if it was mastered."""
        now = replace(self.state, frames=later(self.frames, frames))
        inside = [one for one in seen(episodes) if one.back <= self.reach]
        if inside:
            recent = (*now.recent, float(np.mean([one.success for one in inside])))[-UPDATES:]
            longest = max(one.length for one in inside)
            grows = len(recent) == UPDATES and np.mean(recent) > self.mastery
            if grows and now.reach < 8 * longest:  # by then nearly all is the initial state
                now = replace(now, reach=GROWTH * now.reach, recent=())
            else:
                now = replace(now, recent=recent)
        return replace(self, state=now)

    def describe(self) -> str:
        """One short line, e.g. "up to 14 steps back"."""
        return f"up to {self.reach} steps back"
