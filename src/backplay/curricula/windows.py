"""Backplay: start near the end of a demonstration and move back (paper, section 3, appendix A.1).

Comes in: a table of windows, counted in steps back from the end, and the frames so far. Goes out:
weights over the states of a demonstration, and starts drawn from them. Does not know: what came of
episodes. Frames alone move the window, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, log2
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
from backplay.errors import BackplayError, ensure, show
from backplay.records import Episode

PAPER_EPOCH = 102_400  # frames per epoch = batch size; appendix A.3, Pommerman "a similar setup"


@dataclass(frozen=True)
class Window:
    """From `frames` on, episodes start N steps back, N uniform over the integers lo <= N < hi."""

    frames: int
    """Total frames of training at which this window opens."""
    lo: float
    """Fewest steps back from the end (or fraction of the length)."""
    hi: float
    """One past the most steps back; hi == lo means exactly lo, the paper's [800, 800]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", whole_number("Window.frames", self.frames))
        object.__setattr__(self, "lo", real_number("Window.lo", self.lo))
        object.__setattr__(self, "hi", real_number("Window.hi", self.hi))
        ensure(
            self.lo <= self.hi, "Window", "lo <= hi, counted in steps back from the end",
            got=f"lo={self.lo:g}, hi={self.hi:g}",
            do="Swap them, or set hi = lo for exactly lo steps back.",
        )  # fmt: skip


def as_windows(windows: object, of_length: bool) -> tuple[Window, ...]:
    """The windows as a tuple, refused unless they form a schedule from frame 0 on."""
    listed = tuple(windows) if isinstance(windows, Iterable) else ()
    ensure(
        listed and all(isinstance(window, Window) for window in listed), "windows",
        "at least one Window", windows,
        do="Pass a tuple such as (Window(0, 0, 4), Window(50_000, 4, 8)).",
    )  # fmt: skip
    frames = [window.frames for window in listed]
    ensure(
        frames[0] == 0 and not any(late <= early for early, late in pairwise(frames)), "windows",
        "frames that begin at 0 and increase from window to window", frames,
        do="Order the windows by frames, each opening later than the one before.",
    )  # fmt: skip
    for window in listed:
        ensure(
            not of_length or window.hi <= 1.0, "windows",
            "fractions of the length from 0 to 1, as of_length=True says", window,
            do="Divide by the length, or set of_length=False for bounds in steps.",
        )  # fmt: skip
        ensure(
            of_length or (window.lo.is_integer() and window.hi.is_integer()), "windows",
            "whole steps back, as of_length=False says", window,
            do="Round lo and hi, or set of_length=True for fractions of the length.",
        )  # fmt: skip
    return listed


# The paper's tables (appendix A.1): (epoch, lo, hi).

# The first ends with [64, 64), which means the initial state. An episode of the Maze has at most
# 200 steps (section 4.2), so 200 steps back is the initial state of every one.
MAZE = (
    (0, 0, 4), (350, 4, 8), (700, 8, 16), (1050, 16, 32), (1400, 32, 64), (1750, 200, 200),
)  # fmt: skip
_LOS = (0, 24, 56, 120, 248, 504, 800)
_HIS = (32, 64, 128, 256, 512, 800, 800)
POMMERMAN_4 = tuple(zip((0, 50, 100, 150, 200, 250, 300), _LOS, _HIS, strict=True))
POMMERMAN_100 = tuple(zip((0, 85, 170, 255, 340, 425, 510), _LOS, _HIS, strict=True))


def from_epochs(table: Iterable[tuple[int, int, int]], frames_per_epoch: int) -> list[Window]:
    """The windows of a table of the paper."""
    frames = whole_number("frames_per_epoch", frames_per_epoch, at_least=1)
    return [Window(epoch * frames, lo, hi) for epoch, lo, hi in table]


@dataclass(frozen=True)
class Backplay(Curriculum):
    """Starts from a window of steps back from the end that moves towards the initial state.

    A draw beyond the length of a demonstration is its initial state. The end itself is no start,
    so 0 steps back means the last state before it: step = clip(T - N, 0, T - 1).

    >>> Backplay((Window(0, 0, 4), Window(10_000, 4, 8))).weights(demo=0, length=5)
    array([0.  , 0.  , 0.25, 0.25, 0.5 , 0.  ])
    """

    windows: Sequence[Window]
    """In the order of their frames, the first at frame 0."""
    of_length: bool = False
    """Whether lo and hi are fractions of each demonstration's length instead of steps."""
    frames: int = 0
    """The clock: frames of training so far."""

    def __post_init__(self) -> None:
        if not isinstance(self.of_length, bool):
            raise BackplayError(
                "of_length", expected="True or False", got=show(self.of_length), do="Pass a bool."
            )
        object.__setattr__(self, "windows", as_windows(self.windows, self.of_length))
        object.__setattr__(self, "frames", whole_number("frames", self.frames))

    @property
    def window(self) -> Window:
        """The current window: the last that has opened."""
        return self.windows[sum(window.frames <= self.frames for window in self.windows) - 1]

    def weights(self, demo: int, length: int) -> FloatArray:
        """Flat over the window: [length + 1]."""
        lo, hi = (int(bound) for bound in self._steps_back(as_length(length)))
        inside_lo, inside_hi = min(lo, length), min(hi, length)
        weights = np.zeros(length + 1)
        weights[length - inside_hi + 1 : length - inside_lo + 1] = 1.0
        weights[0] += hi - max(lo, inside_hi)  # draws beyond the length are the initial state
        weights[-2] += weights[-1]  # 0 steps back is the last state before the end
        weights[-1] = 0.0
        return weights / (hi - lo)

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same with the clock at `frames`."""
        return replace(self, frames=later(self.frames, frames))

    def sample_steps(self, demo: IntArray, length: IntArray, rng: np.random.Generator) -> IntArray:
        """Starts in the window: step [n]."""
        step: IntArray = length - rng.integers(*self._steps_back(length), size=len(demo))
        return step.clip(0, length - 1)

    def describe(self) -> str:
        """One short line, e.g. "[16, 32) steps back"."""
        lo, hi = self.window.lo, self.window.hi
        if self.of_length and lo == 1.0:
            return "initial state"
        ends = [f"{100 * x:.3g}%" if self.of_length else f"{x:g}" for x in (lo, hi)]
        bounds = ends[0] if lo == hi else f"[{ends[0]}, {ends[1]})"
        return f"{bounds} {'of the length' if self.of_length else 'steps'} back"

    def scaled(self, factor: float) -> Self:
        """The same windows with their frames stretched by `factor`; the clock stays."""
        factor = real_number("factor", factor)
        windows = tuple(
            replace(window, frames=round(window.frames * factor)) for window in self.windows
        )
        return replace(self, windows=windows)

    def _steps_back(self, length: int | IntArray) -> tuple[IntArray, IntArray]:
        """Integer bounds lo <= N < hi of the current window for each length: each of its shape."""
        lo, hi = self.window.lo, self.window.hi
        scale = np.asarray(length if self.of_length else np.ones_like(length))
        # The slack keeps a product such as 0.29 * 100 = 28.999999999999996 on its integer.
        first = np.floor(lo * scale + 1e-9).astype(np.int64)
        return first, np.maximum(first + 1, np.ceil(hi * scale - 1e-9).astype(np.int64))

    # The paper's tables (appendix A.1).

    @classmethod
    def maze(cls, frames_per_epoch: int = PAPER_EPOCH) -> Self:
        """The paper's table "Backplay hyperparameters for Maze"."""
        return cls(from_epochs(MAZE, frames_per_epoch))

    @classmethod
    def pommerman_4(cls, frames_per_epoch: int = PAPER_EPOCH) -> Self:
        """The paper's table "Backplay hyperparameters for Pommerman 4 maps"."""
        return cls(from_epochs(POMMERMAN_4, frames_per_epoch))

    @classmethod
    def pommerman_100(cls, frames_per_epoch: int = PAPER_EPOCH) -> Self:
        """The paper's table "Backplay hyperparameters for Pommerman 100 maps"."""
        return cls(from_epochs(POMMERMAN_100, frames_per_epoch))

    @classmethod
    def stretch(cls, total_frames: int, longest: int = 128, first_steps: int = 8) -> Self:
        """Windows in the manner of the paper for any task: a table nobody has to write.

        They are fractions of the length. The last reaches to the beginning, the one before half as
        far, and so on down to `first_steps` steps of the longest demonstration. All have passed by
        half of the frames; then comes the initial state only.
        """
        total_frames = whole_number("total_frames", total_frames, at_least=1)
        doublings = max(0, ceil(log2(longest / first_steps)))
        each = total_frames / 2 / (doublings + 1)
        his = [2.0 ** (k - doublings) for k in range(doublings + 1)]
        los = [0.0, *his[:-1]]
        listed = [
            Window(int(k * each), lo, hi) for k, (lo, hi) in enumerate(zip(los, his, strict=True))
        ]
        return cls((*listed, Window(total_frames // 2, 1.0, 1.0)), of_length=True)
