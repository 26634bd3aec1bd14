"""Starts: a curriculum as plain arrays, one row for each phase of training.

Comes in: a curriculum and the length of a demonstration. Goes out: `Phases`, the distribution over
the demonstration's steps in each phase and the step whose update ends it. The phases follow each
other in the order of the curriculum's windows; when they change is decided by whoever learns, since
the analysis has no frames.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from backplay.curricula import (
    Backplay,
    Curriculum,
    Frontier,
    Standard,
    Until,
    Window,
)
from backplay.curricula.combinators import Around
from backplay.curricula.curriculum import FloatArray, IntArray, whole_number
from backplay.errors import BackplayError, ensure


@dataclass(frozen=True, eq=False)
class Phases:
    """Start distributions over the steps of a demonstration of length L, phase by phase."""

    weights: FloatArray
    """Probability of each step in each phase, [P, L + 1]; step 0 is the initial state."""
    farthest: IntArray
    """The step of each phase that is farthest from the end: its update ends the phase, [P]."""

    def by_distance(self) -> FloatArray:
        """On a chain with k merged states, where trials start: [M, M + 1], row k, over distances.

        Row k is the first phase whose farthest start is not merged yet; the demonstration is the
        straight way M, M - 1, .., 0, so step s is distance M - s.
        """
        length = self.weights.shape[1] - 1
        open_until = length - self.farthest
        if open_until.max() < length:
            raise BackplayError(
                "curriculum", expected="a phase that starts in the initial state",
                got=f"{int(open_until.max())} steps back at most, of {length}",
                do="Add a window that reaches the beginning.",
            )  # fmt: skip
        merged = np.arange(length)
        phase = np.argmax(open_until[None, :] > merged[:, None], axis=1)
        return np.ascontiguousarray(self.weights[phase, ::-1])


def phases(curriculum: Curriculum, length: int) -> Phases:
    """The phases of a curriculum on one demonstration of `length` steps.

    Each window of a Backplay is a phase, and each step of a Frontier; shares of other starts do
    not count for the farthest. An `Until` ends with a phase at the initial state. Any other
    curriculum is one phase, as it stands.
    """
    weights = np.stack([one.weights(0, length) for one in _stages(curriculum, length)])
    return Phases(weights, np.asarray(_farthest(curriculum, length), dtype=np.int64))


def _stages(curriculum: Curriculum, length: int) -> list[Curriculum]:
    """The curriculum as it stands in each phase."""
    if isinstance(curriculum, Backplay):
        return [replace(curriculum, frames=window.frames) for window in curriculum.windows]
    if isinstance(curriculum, Frontier):
        return [curriculum.standing_at(back) for back in range(1, length + 1)]
    if isinstance(curriculum, Until):
        return [*_stages(curriculum.inner, length), Standard()]
    if isinstance(curriculum, Around):
        return [replace(curriculum, inner=one) for one in _stages(curriculum.inner, length)]
    return [curriculum]


def _farthest(curriculum: Curriculum, length: int) -> list[int]:
    """The farthest step of each phase, without shares of other starts."""
    if isinstance(curriculum, Frontier):
        return list(range(length - 1, -1, -1))
    if isinstance(curriculum, Until):
        return [*_farthest(curriculum.inner, length), 0]
    if isinstance(curriculum, Around):  # what is around others adds initial states at most
        return _farthest(curriculum.inner, length)
    stages = _stages(curriculum, length)
    return [int(np.flatnonzero(one.weights(0, length))[0]) for one in stages]


def stepwise(length: int, step: int) -> Backplay:
    """The proof's Backplay: starts exactly step, 2 step, .. steps back, to the beginning."""
    backs = _backs(length, step)
    return Backplay([Window(i, back, back) for i, back in enumerate(backs)])


def windowed(length: int, step: int) -> Backplay:
    """The paper's Backplay with windows of `step`: 1..step steps back, step + 1..2 step, ..."""
    backs = [0, *_backs(length, step)]
    return Backplay([Window(i, a + 1, b + 1) for i, (a, b) in enumerate(pairwise(backs))])


def _backs(length: int, step: int) -> list[int]:
    """Multiples of `step` up to `length`, which is the last in any case."""
    length = whole_number("length", length, at_least=1)
    step = whole_number("step", step, at_least=1)
    ensure(step <= length, "step", f"at most {length}", step)
    return [*range(step, length, step), length]
