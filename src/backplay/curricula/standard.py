"""The two regimes the paper compares Backplay with: Standard and Uniform.

Comes in: lengths of demonstrations. Goes out: weights and starts. Neither changes with training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from backplay.curricula.curriculum import Curriculum, FloatArray, IntArray, as_length, later
from backplay.records import Episode


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

    def sample_steps(self, demo: IntArray, length: IntArray, rng: np.random.Generator) -> IntArray:
        """Initial states: step [n] (all 0)."""
        return np.zeros(len(demo), dtype=np.int64)

    def describe(self) -> str:
        return "initial state"


@dataclass(frozen=True)
class Uniform(Curriculum):
    """Every state of a demonstration but its end is equally likely (paper, section 4.1)."""

    def weights(self, demo: int, length: int) -> FloatArray:
        """Flat over the states 0..length-1: [length + 1]."""
        return flat(length)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """Itself: nothing changes with training."""
        later(0, frames)
        return self

    def sample_steps(self, demo: IntArray, length: IntArray, rng: np.random.Generator) -> IntArray:
        """Any states before the end: step [n]."""
        return rng.integers(length)

    def describe(self) -> str:
        return "anywhere in the demonstration"
