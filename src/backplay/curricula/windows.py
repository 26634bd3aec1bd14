"""Windows of starts, counted in steps back from the end of a demonstration, and tables of them.

Comes in: numbers. Goes out: windows in the order in which they open, refused unless they form a
schedule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log2

from backplay.curricula.curriculum import real_number, whole_number
from backplay.errors import BackplayError, show

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


def as_windows(windows: object, of_length: bool) -> tuple[Window, ...]:
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


def doubling(
    longest: int, total_frames: int, share_of_budget: float, overlap: float, first_steps: int
) -> list[Window]:
    """Windows, as fractions of the length, that double; see `Backplay.stretch`."""
    doublings = max(0, ceil(log2(longest / first_steps)))
    count = doublings + 1
    budget = int(total_frames * share_of_budget + 1e-9)
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
    return [*windows, Window(budget, 1.0, 1.0)]
