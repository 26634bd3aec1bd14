"""The two regimes the paper compares Backplay with: Standard and Uniform.

Comes in: lengths of demonstrations and the frames so far. Goes out: weights and starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from backplay.curricula.curriculum import (
    Curriculum,
    FloatArray,
    IntArray,
    as_length,
    as_lengths,
    later,
    whole_number,
)
from backplay.records import Episode

__all__ = ["Standard", "Uniform", "flat", "initial_state"]


def initial_state(length: int) -> FloatArray:
    """All weight on state 0: [length + 1]."""
    weights = np.zeros(as_length(length) + 1)
    weights[0] = 1.0
    return weights


def flat(length: int) -> FloatArray:
    """Equal weight on every state but the end: [length + 1]."""
    weights = np.full(as_length(length) + 1, 1.0 / length)
    weights[-1] = 0.0
    return weights


@dataclass(frozen=True)
class Standard(Curriculum):
    """Every episode starts in the initial state of a demonstration: ordinary training."""

    def weights(self, demo: int, length: int) -> FloatArray:
        """One-hot at state 0: [length + 1]."""
        return initial_state(length)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """Itself: nothing changes with training."""
        later(0, frames)
        return self

    def sample(
        self, lengths: ArrayLike, n: int, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """`n` initial states: demo [n], step [n] (all 0)."""
        return self.sample_demos(as_lengths(lengths), n, rng), np.zeros(n, dtype=np.int64)

    def describe(self) -> str:
        return "initial state"


@dataclass(frozen=True)
class Uniform(Curriculum):
    """Every state of a demonstration but its end is equally likely (paper, section 4.1)."""

    until: int | None = None
    """From this many frames on, only the initial state; None: never. In the paper's Maze all
    regimes train on the initial state only from epoch 1750 on."""
    frames: int = 0
    """The clock: frames of training so far."""

    def __post_init__(self) -> None:
        if self.until is not None:
            object.__setattr__(self, "until", whole_number("until", self.until))
        object.__setattr__(self, "frames", whole_number("frames", self.frames))

    @property
    def done(self) -> bool:
        """Whether only the initial state is left."""
        return self.until is not None and self.frames >= self.until

    def weights(self, demo: int, length: int) -> FloatArray:
        """Flat over the states 0..length-1, or one-hot at 0 once done: [length + 1]."""
        return initial_state(length) if self.done else flat(length)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same with the clock at `frames`."""
        return replace(self, frames=later(self.frames, frames))

    def sample(
        self, lengths: ArrayLike, n: int, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """`n` starts: demo [n], step [n]."""
        lengths = as_lengths(lengths)
        demo = self.sample_demos(lengths, n, rng)
        if self.done:
            return demo, np.zeros(n, dtype=np.int64)
        return demo, rng.integers(lengths[demo])

    def describe(self) -> str:
        return "initial state" if self.done else "anywhere in the demonstration"
