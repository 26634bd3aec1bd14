"""Backplay: start near the end of a demonstration and move back (paper, section 3, appendix A.1).

Comes in: a table of windows, the frames so far and, if it waits for mastery, what came of episodes.
Goes out: weights over the states of a demonstration, and starts drawn from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor
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
from backplay.curricula.memory import RECENT, as_means, as_recent, moved
from backplay.curricula.standard import flat
from backplay.curricula.windows import (
    MAZE,
    PAPER_EPOCH,
    POMMERMAN_4,
    POMMERMAN_100,
    Window,
    as_windows,
    doubling,
    from_epochs,
)
from backplay.errors import BackplayError, show
from backplay.records import Episode


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
    by_frames: bool = False
    """Whether `start_share` is a share of the frames instead: an episode from the initial state is
    the longest, and a quarter of the episodes may be three quarters of the frames."""
    uniform_share: float = 0.0
    """Share of episodes that start anywhere before the end, whatever the window."""
    mastery: float = 0.0
    """A window stays, however late it is, until this share of the last 100 episodes that started
    in it succeeded; 0: the frames alone decide, as in the paper."""
    latest: float | None = None
    """A window opens at this multiple of its frames at the latest, mastered or not: some tasks
    cannot be mastered so far. None: the one before it may stay for ever."""
    bridge: float = 0.0
    """While mastery is waited for, each window begins this share of its lo nearer to the end, so
    that it reaches into what is mastered."""
    if_silent: bool = False
    """Wait for mastery only if failed episodes bring no reward at all. The first one that brings
    some ends the waiting for good: then values are learned from failures too."""
    cut: float | None = None
    """Cut episodes after so many times what the demonstration took from the same start, and 16
    steps, unless only success brings reward (`if_silent`): a failure has taught what it could by
    then. None: never."""
    frames: int = 0
    """The clock: frames of training so far."""
    held: int = 0
    """Frames spent waiting for mastery: the table of windows is late by so many."""
    recent: tuple[bool, ...] = ()
    """Which of the last episodes from this window succeeded, if mastery is asked for."""
    lengths: tuple[float, float] = (0.0, 0.0)
    """Mean steps of the last episodes from the initial state and of the others, if shares count
    frames; 0: none yet."""

    def __post_init__(self) -> None:
        for name in ("of_length", "by_frames", "if_silent"):
            if not isinstance(getattr(self, name), bool):
                raise BackplayError(
                    name, expected="True or False", got=show(getattr(self, name)), do="Pass a bool."
                )
        object.__setattr__(self, "windows", as_windows(self.windows, self.of_length))
        for share in ("start_share", "uniform_share"):
            object.__setattr__(self, share, real_number(share, getattr(self, share), at_most=1.0))
        if self.start_share + self.uniform_share > 1.0 + 1e-12:  # 0.9 + 0.1 may exceed 1 by an ulp
            raise BackplayError(
                "start_share + uniform_share",
                expected="at most 1",
                got=f"{self.start_share:g} + {self.uniform_share:g}",
                do="Lower one of them; what they leave goes to the window.",
            )
        for share in ("mastery", "bridge"):
            object.__setattr__(self, share, real_number(share, getattr(self, share), at_most=1.0))
        for multiple in ("latest", "cut"):
            if getattr(self, multiple) is not None:
                number = real_number(multiple, getattr(self, multiple), at_least=1.0)
                object.__setattr__(self, multiple, number)
        object.__setattr__(self, "frames", whole_number("frames", self.frames))
        object.__setattr__(self, "held", whole_number("held", self.held))
        if self.held > self.frames:
            raise BackplayError(
                "held", expected=f"at most frames ({self.frames})", got=show(self.held),
                do="Leave it to update().",
            )  # fmt: skip
        object.__setattr__(self, "recent", as_recent(self.recent))
        object.__setattr__(self, "lengths", as_means(self.lengths))

    @property
    def window(self) -> Window:
        """The current window: the last that has opened, with its bridge if there is one."""
        window = self.windows[self._opened - 1]
        if not (self.mastery and self.bridge) or window.lo == window.hi:
            return window
        lo = window.lo * (1.0 - self.bridge)
        return replace(window, lo=lo if self.of_length else float(floor(lo)))

    @property
    def done(self) -> bool:
        """Whether the last window has opened."""
        return self._opened == len(self.windows)

    @property
    def waits(self) -> bool:
        """Whether the next window would have opened by now, were this one mastered."""
        if self.done or not self.mastery or not self.held:
            return False
        return self.frames - self.held == self.windows[self._opened].frames - 1

    @property
    def patience(self) -> float | None:
        """How long episodes may take (see Curriculum): `cut`, unless failures are silent."""
        return None if self.if_silent else self.cut

    @property
    def start_chance(self) -> float:
        """The chance of an episode to start in the initial state, whatever the window."""
        share, (start, other) = self.start_share, self.lengths
        if not self.by_frames or not start or not other:
            return share
        chance = share * other / (share * other + (1.0 - share) * start)
        return min(chance, 1.0 - self.uniform_share)

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
        weights *= max(0.0, 1.0 - self.start_chance - self.uniform_share) / (hi - lo)
        weights[0] += self.start_chance
        weights += self.uniform_share * flat(length)
        return weights

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same with the clock at `frames`; if it waits for mastery, with these results."""
        frames = later(self.frames, frames)
        lengths = moved(self.lengths, episodes) if self.by_frames else self.lengths
        if self.if_silent and any(not e.success and e.total_reward for e in episodes):
            return replace(self, frames=frames, lengths=lengths, mastery=0.0, if_silent=False)
        if not self.mastery or self.done:
            return replace(self, frames=frames, lengths=lengths)
        # The initial state lies in the last window before it, and says nothing about the others.
        least = 0 if self._opened == len(self.windows) - 1 else 1
        starts = ((e.start, bool(e.success)) for e in episodes)
        results = (success for start, success in starts if start and start.step >= least)
        recent = (*self.recent, *results)[-RECENT:]
        mastered = len(recent) == RECENT and sum(recent) >= self.mastery * RECENT
        held = self.held
        for window in self.windows[self._opened :]:
            overdue = self.latest is not None and frames >= int(self.latest * window.frames)
            due = frames - held >= window.frames
            if not overdue and not (due and mastered):
                held = frames - window.frames + 1 if due else held  # it would open now, but waits
                break
            held, recent, mastered = frames - window.frames, (), False
        return replace(self, frames=frames, lengths=lengths, held=held, recent=recent)

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
            pick, chance = rng.random(n), self.start_chance
            anywhere = rng.integers(length)
            step = np.where(pick < chance + self.uniform_share, anywhere, step)
            step = np.where(pick < chance, 0, step)
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
            line += f", {self.start_share:.0%} {'of frames ' * self.by_frames}at the initial state"
        if self.uniform_share:
            line += f", {self.uniform_share:.0%} anywhere"
        if self.waits:
            now = sum(self.recent) / max(1, len(self.recent))
            line += f", waits for {self.mastery:.0%} success (now {now:.0%})"
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
    def stretch(
        cls,
        total_frames: int,
        demo_lengths: ArrayLike | None = None,
        *,
        share_of_budget: float = 0.5,
        start_share: float = 0.5,
        by_frames: bool = True,
        uniform_share: float = 0.0,
        overlap: float = 0.0,
        first_steps: int = 8,
        mastery: float = 0.8,
        latest_share: float = 0.8,
        bridge: float = 0.5,
        if_silent: bool = True,
        cut: float | None = 1.0,
    ) -> Self:
        """Doubling windows spread over a budget: for someone who tunes nothing.

        The windows are fractions of each demonstration's length. The last reaches to the beginning,
        the one before half as far, and so on down to about `first_steps` steps of the longest.
        Each stays for the same number of frames, and longer where `mastery` is waited for; after
        the last comes the initial state only.

        The defaults come from results/mountaincar.md and results/sparse.md: true starts all
        along, so that the values learned near the goal reach the start; windows that pass early, so
        that most of the budget goes to the true start; but where failures bring no reward, nothing
        is learned in a window that nobody masters, so there the next one has to wait. Where they
        bring some, episodes are cut once the demonstration would have succeeded.

        Args:
            total_frames: the frames you are going to train for.
            demo_lengths: length of each demonstration, [num_demos]; None assumes 128 steps.
            share_of_budget: the windows have all passed by this share of the frames, if each is
                mastered in time or none has to be.
            start_share: share of the frames in episodes from the initial state throughout.
            by_frames: False makes `start_share` a share of the episodes.
            uniform_share: share of episodes that start anywhere throughout.
            overlap: how far each window reaches into the one before it, as a share of that one's
                `hi`: lo = (1 - overlap) * previous hi. 0: they adjoin, as in the paper's Maze;
                1: all begin at the end of the demonstration.
            first_steps: most steps back of the first window, in the longest demonstration.
            mastery: success below which a window does not give way to the next; 0 never waits.
            latest_share: the windows have all passed by this share of the frames, mastered or not.
            bridge: how far each window reaches into the one before it while mastery is waited for,
                as a share of its `lo`.
            if_silent: wait for mastery only if failed episodes bring no reward at all; False waits
                in any case.
            cut: where failures bring reward, episodes are cut after so many times what the
                demonstration took from the same start, and 16 steps; None: never. Raise it if
                success may take longer than the demonstration did.
        """
        total_frames = whole_number("total_frames", total_frames, at_least=1)
        share_of_budget = real_number("share_of_budget", share_of_budget, at_most=1.0)
        latest_share = real_number("latest_share", latest_share, at_most=1.0)
        overlap = real_number("overlap", overlap, at_most=1.0)
        first_steps = whole_number("first_steps", first_steps, at_least=1)
        longest = 128 if demo_lengths is None else int(as_lengths(demo_lengths).max())
        windows = doubling(longest, total_frames, share_of_budget, overlap, first_steps)
        return cls(
            windows,
            of_length=True,
            start_share=start_share,
            by_frames=by_frames,
            uniform_share=uniform_share,
            mastery=mastery,
            latest=max(latest_share / share_of_budget, 1.0),
            bridge=bridge,
            if_silent=if_silent,
            cut=cut,
        )
