"""Backplay: start near the end of a demonstration and move back (paper, section 3, appendix A.1).

Comes in: a table of windows, the frames so far and, if it waits for mastery, what came of episodes.
Goes out: weights over the states of a demonstration, and starts drawn from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, log2
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
    real_number,
    whole_number,
)
from backplay.curricula.standard import flat
from backplay.errors import BackplayError, show
from backplay.records import Episode

__all__ = ["Backplay", "Window"]

RECENT = 100  # episodes from the window that show whether it is mastered
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
        if self.lo > self.hi:
            raise BackplayError(
                "Window",
                expected="lo <= hi, counted in steps back from the end",
                got=f"lo={self.lo:g}, hi={self.hi:g}",
                do="Swap them, or set hi = lo for exactly lo steps back.",
            )


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
    start_share: float = 0.0
    """Share of episodes that start in the initial state, whatever the window."""
    uniform_share: float = 0.0
    """Share of episodes that start anywhere before the end, whatever the window."""
    mastery: float = 0.0
    """A window stays, however late it is, until this share of the last 100 episodes that started
    in it succeeded; 0: the frames alone decide, as in the paper."""
    frames: int = 0
    """The clock: frames of training so far."""
    held: int = 0
    """Frames spent waiting for mastery: the table of windows is late by so many."""
    recent: tuple[bool, ...] = ()
    """Which of the last episodes from this window succeeded, if mastery is asked for."""

    def __post_init__(self) -> None:
        if not isinstance(self.of_length, bool):
            raise BackplayError(
                "of_length", expected="True or False", got=show(self.of_length), do="Pass a bool."
            )
        object.__setattr__(self, "windows", _as_windows(self.windows, self.of_length))
        for share in ("start_share", "uniform_share"):
            object.__setattr__(self, share, real_number(share, getattr(self, share), at_most=1.0))
        if self.start_share + self.uniform_share > 1.0 + 1e-12:  # 0.9 + 0.1 may exceed 1 by an ulp
            raise BackplayError(
                "start_share + uniform_share",
                expected="at most 1",
                got=f"{self.start_share:g} + {self.uniform_share:g}",
                do="Lower one of them; what they leave goes to the window.",
            )
        object.__setattr__(self, "mastery", real_number("mastery", self.mastery, at_most=1.0))
        object.__setattr__(self, "frames", whole_number("frames", self.frames))
        object.__setattr__(self, "held", whole_number("held", self.held))
        if self.held > self.frames:
            raise BackplayError(
                "held", expected=f"at most frames ({self.frames})", got=show(self.held),
                do="Leave it to update().",
            )  # fmt: skip
        recent = tuple(self.recent) if isinstance(self.recent, list | tuple) else (None,)
        if len(recent) > RECENT or not all(isinstance(result, bool) for result in recent):
            raise BackplayError(
                "recent", expected=f"at most {RECENT} of True and False", got=show(self.recent),
                do="Leave it to update().",
            )  # fmt: skip
        object.__setattr__(self, "recent", recent)

    @property
    def window(self) -> Window:
        """The current window: the last that has opened."""
        return self.windows[self._opened - 1]

    @property
    def done(self) -> bool:
        """Whether the last window has opened."""
        return self._opened == len(self.windows)

    @property
    def _opened(self) -> int:
        """How many windows have opened."""
        return sum(window.frames <= self.frames - self.held for window in self.windows)

    def weights(self, demo: int, length: int) -> FloatArray:
        """The window mixed with the two shares: [length + 1]."""
        lo, hi = (int(bound) for bound in self._steps_back(as_length(length)))
        inside_lo, inside_hi = min(lo, length), min(hi, length)
        weights = np.zeros(length + 1)
        weights[length - inside_hi + 1 : length - inside_lo + 1] = 1.0
        weights[0] += hi - max(lo, inside_hi)  # draws beyond the length are the initial state
        weights[-2] += weights[-1]  # 0 steps back is the last state before the end
        weights[-1] = 0.0
        weights *= max(0.0, 1.0 - self.start_share - self.uniform_share) / (hi - lo)
        weights[0] += self.start_share
        weights += self.uniform_share * flat(length)
        return weights

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same with the clock at `frames`; if it waits for mastery, with these results."""
        frames = later(self.frames, frames)
        if not self.mastery or self.done:
            return replace(self, frames=frames)
        # Episodes from the initial state say nothing about the window.
        results = (bool(e.success) for e in episodes if e.start is not None and e.start.step > 0)
        recent = (*self.recent, *results)[-RECENT:]
        due = self.windows[self._opened].frames
        held = self.held
        if frames - held >= due:
            mastered = len(recent) == RECENT and sum(recent) >= self.mastery * RECENT
            held = frames - due if mastered else frames - due + 1
            recent = () if mastered else recent
        return replace(self, frames=frames, held=held, recent=recent)

    def sample(
        self, lengths: ArrayLike, n: int, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """`n` starts: demo [n], step [n]."""
        lengths = as_lengths(lengths)
        demo = self.sample_demos(lengths, n, rng)
        length = lengths[demo]
        step = length - rng.integers(*self._steps_back(length), size=n)
        step = np.clip(step, 0, length - 1)
        if self.start_share or self.uniform_share:
            pick = rng.random(n)
            anywhere = rng.integers(length)
            step = np.where(pick < self.start_share + self.uniform_share, anywhere, step)
            step = np.where(pick < self.start_share, 0, step)
        return demo, step

    def describe(self) -> str:
        """One short line, e.g. "[16, 32) steps back, 20% at the initial state"."""
        lo, hi = self.window.lo, self.window.hi
        if self.of_length and lo == 1.0:
            line = "initial state"
        else:
            ends = [f"{100 * x:.3g}%" if self.of_length else f"{x:g}" for x in (lo, hi)]
            bounds = ends[0] if lo == hi else f"[{ends[0]}, {ends[1]})"
            line = f"{bounds} {'of the length' if self.of_length else 'steps'} back"
        if self.start_share and line != "initial state":
            line += f", {self.start_share:.0%} at the initial state"
        if self.uniform_share:
            line += f", {self.uniform_share:.0%} anywhere"
        return line

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
        # The table ends with [64, 64), which means the initial state. An episode of the Maze has
        # at most 200 steps (section 4.2), so 200 steps back is the initial state of every one.
        table = ((0, 0, 4), (350, 4, 8), (700, 8, 16), (1050, 16, 32), (1400, 32, 64))
        return cls._from_epochs((*table, (1750, 200, 200)), frames_per_epoch)

    @classmethod
    def pommerman_4(cls, frames_per_epoch: int = PAPER_EPOCH) -> Self:
        """The paper's table "Backplay hyperparameters for Pommerman 4 maps"."""
        epochs = (0, 50, 100, 150, 200, 250, 300)
        return cls._from_epochs(_pommerman(epochs), frames_per_epoch)

    @classmethod
    def pommerman_100(cls, frames_per_epoch: int = PAPER_EPOCH) -> Self:
        """The paper's table "Backplay hyperparameters for Pommerman 100 maps"."""
        epochs = (0, 85, 170, 255, 340, 425, 510)
        return cls._from_epochs(_pommerman(epochs), frames_per_epoch)

    @classmethod
    def _from_epochs(cls, table: Iterable[tuple[int, int, int]], frames_per_epoch: int) -> Self:
        frames = whole_number("frames_per_epoch", frames_per_epoch, at_least=1)
        return cls(tuple(Window(epoch * frames, lo, hi) for epoch, lo, hi in table))

    @classmethod
    def stretch(
        cls,
        total_frames: int,
        demo_lengths: ArrayLike | None = None,
        *,
        share_of_budget: float = 0.4,
        start_share: float = 0.25,
        uniform_share: float = 0.0,
        overlap: float = 0.0,
        first_steps: int = 8,
        mastery: float = 0.0,
    ) -> Self:
        """Doubling windows spread over a budget: for someone who tunes nothing.

        The windows are fractions of each demonstration's length. The last reaches to the beginning,
        the one before half as far, and so on down to about `first_steps` steps of the longest.
        Each stays for the same number of frames, or longer if `mastery` is asked for; after the
        last comes the initial state only.

        The defaults come from results/mountaincar.md: true starts all along, so that the values
        learned near the goal reach the start; windows that pass early, so that most of the budget
        goes to the true start.

        Args:
            total_frames: the frames you are going to train for.
            demo_lengths: length of each demonstration, [num_demos]; None assumes 128 steps.
            share_of_budget: the windows have all passed by this share of the frames.
            start_share: share of episodes that start in the initial state throughout.
            uniform_share: share of episodes that start anywhere throughout.
            overlap: how far each window reaches into the one before it, as a share of that one's
                `hi`: lo = (1 - overlap) * previous hi. 0: they adjoin, as in the paper's Maze;
                1: all begin at the end of the demonstration.
            first_steps: most steps back of the first window, in the longest demonstration.
            mastery: success below which a window does not give way to the next; 0 never waits.
        """
        total_frames = whole_number("total_frames", total_frames, at_least=1)
        share_of_budget = real_number("share_of_budget", share_of_budget, at_most=1.0)
        overlap = real_number("overlap", overlap, at_most=1.0)
        first_steps = whole_number("first_steps", first_steps, at_least=1)
        longest = 128 if demo_lengths is None else int(as_lengths(demo_lengths).max())

        doublings = max(0, ceil(log2(longest / first_steps)))
        count = doublings + 1
        budget = round(total_frames * share_of_budget)
        if budget < count:
            raise BackplayError(
                "total_frames * share_of_budget",
                expected=f"at least {count} frames, one for each window",
                got=f"{total_frames} * {share_of_budget:g}",
                do="Raise total_frames or share_of_budget.",
            )
        windows = []
        for k in range(count):
            hi = 2.0 ** (k - doublings)
            lo = 0.0 if k == 0 else (1.0 - overlap) * hi / 2.0
            windows.append(Window(budget * k // count, lo, hi))
        windows.append(Window(budget, 1.0, 1.0))
        return cls(
            tuple(windows),
            of_length=True,
            start_share=start_share,
            uniform_share=uniform_share,
            mastery=mastery,
        )


def _pommerman(epochs: Sequence[int]) -> list[tuple[int, int, int]]:
    """The windows both Pommerman tables share, opened at these epochs."""
    los = (0, 24, 56, 120, 248, 504, 800)
    his = (32, 64, 128, 256, 512, 800, 800)
    return list(zip(epochs, los, his, strict=True))


def _as_windows(windows: object, of_length: bool) -> tuple[Window, ...]:
    """The windows as a tuple, refused unless they form a schedule from frame 0 on."""
    listed = tuple(windows) if isinstance(windows, Iterable) else ()
    if not listed or not all(isinstance(window, Window) for window in listed):
        raise BackplayError(
            "windows",
            expected="at least one Window",
            got=show(windows),
            do="Pass a tuple such as (Window(0, 0, 4), Window(50_000, 4, 8)).",
        )
    frames = [window.frames for window in listed]
    if frames[0] != 0 or any(late <= early for early, late in pairwise(frames)):
        raise BackplayError(
            "windows",
            expected="frames that begin at 0 and increase from window to window",
            got=show(frames),
            do="Order the windows by frames, each opening later than the one before.",
        )
    for window in listed:
        if of_length and window.hi > 1.0:
            raise BackplayError(
                "windows",
                expected="fractions of the length from 0 to 1, as of_length=True says",
                got=show(window),
                do="Divide by the length, or set of_length=False for bounds in steps.",
            )
        if not of_length and not (window.lo.is_integer() and window.hi.is_integer()):
            raise BackplayError(
                "windows",
                expected="whole steps back, as of_length=False says",
                got=show(window),
                do="Round lo and hi, or set of_length=True for fractions of the length.",
            )
    return listed
