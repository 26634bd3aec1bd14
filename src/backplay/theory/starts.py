"""Starts: a curriculum as plain arrays, one row for each phase of training.

Comes in: a curriculum and the length of a demonstration. Goes out: `Phases`, the distribution over
the demonstration's steps in each phase and the step whose update ends it. The phases follow each
other in the order of the curriculum's windows; when they change is decided by whoever learns, since
the analysis has no frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from backplay.curricula import Backplay, Curriculum, Uniform, Window
from backplay.curricula.curriculum import FloatArray, IntArray, whole_number
from backplay.errors import BackplayError, show

__all__ = ["Phases", "phases", "stepwise", "windowed"]


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

    Each window of a Backplay is a phase; its shares of other starts do not count for the farthest.
    A Uniform with `until` ends with a phase at the initial state. Any other curriculum is one
    phase, as it stands.
    """
    now: Sequence[Curriculum] = [curriculum]
    cores = now
    if isinstance(curriculum, Backplay):
        fresh = replace(curriculum, held=0, recent=(), lengths=(0.0, 0.0), frames=0)
        bare = replace(fresh, start_share=0.0, uniform_share=0.0)
        now = [replace(fresh, frames=window.frames) for window in fresh.windows]
        cores = [replace(bare, frames=window.frames) for window in bare.windows]
    elif isinstance(curriculum, Uniform) and curriculum.until is not None:
        early = replace(curriculum, frames=0)
        now = cores = [early, replace(early, frames=curriculum.until)]
    weights = np.stack([c.weights(0, length) for c in now])
    farthest = [int(np.flatnonzero(c.weights(0, length))[0]) for c in cores]
    return Phases(weights, np.asarray(farthest, dtype=np.int64))


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
    if step > length:
        raise BackplayError("step", expected=f"at most {length}", got=show(step))
    return [*range(step, length, step), length]
