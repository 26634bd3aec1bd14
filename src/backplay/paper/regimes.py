"""Regimes: a name for each curriculum, the same in every experiment.

Comes in: a name, the lengths of the demonstrations, the frames of the run, its seed. Goes out: a
curriculum at its beginning. To add one, add a line to `REGIMES`. Does not know: tasks, trainers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from backplay.curricula import (
    Backplay,
    Backward,
    Bisection,
    Curriculum,
    FailureBins,
    Frontier,
    GrowingWindow,
    Learnability,
    Patience,
    ReverseCurriculum,
    ReverseForward,
    Staircase,
    Standard,
    Uniform,
    Window,
)
from backplay.curricula.frontier import CUT
from backplay.errors import ensure

MakeCurriculum = Callable[[Sequence[int], int, int], Curriculum]
"""From the demonstrations' lengths, the frames of the run and its seed."""

FIRST = 4  # steps back of the first window, appendix A.1
TRUE_START = 7 / 8  # of the frames; from there on the initial state alone: epoch 1,750 of 2,000


def default(lengths: Sequence[int], frames: int, seed: int) -> Curriculum:
    """What `BackplayEnv` has where nobody names a curriculum."""
    return Frontier()


def windows(lengths: Sequence[int], frames: int, seed: int, share: float = TRUE_START) -> Backplay:
    """The paper's: windows that adjoin and double, moved by frames alone (appendix A.1, Maze).

    They have passed by `share` of the frames.
    """
    ends = [FIRST]
    while ends[-1] < max(lengths):
        ends.append(2 * ends[-1])
    each = share * frames / len(ends)
    starts = [0, *ends[:-1]]
    opened = {int(k * each): (lo, hi) for k, (lo, hi) in enumerate(zip(starts, ends, strict=True))}
    opened[max(1, int(share * frames))] = (ends[-1], ends[-1])
    return Backplay([Window(at, lo, hi) for at, (lo, hi) in opened.items()])


def reverse(lengths: Sequence[int], frames: int, seed: int) -> ReverseCurriculum:
    """Random walks from the end: a hundred rounds, of which walks take a quarter at most."""
    return ReverseCurriculum.begin(
        list(lengths), seed=seed, round_frames=max(1, frames // 100),
        new_states=max(1, frames // 400), walk_steps=25, new_starts=100, old_starts=50,
        until=round(0.6 * frames),
    )  # fmt: skip


REGIMES: dict[str, MakeCurriculum] = {
    "default": default,
    "backplay": windows,
    "uniform": lambda lengths, frames, seed: Uniform(),
    "standard": lambda lengths, frames, seed: Standard(),
    "reverse": reverse,
    "backward": lambda lengths, frames, seed: Backward(max(4, max(lengths) // 8)),
    "go-explore": lambda lengths, frames, seed: Backward.go_explore(max(4, max(lengths) // 8)),
    "reverse-forward": lambda lengths, frames, seed: ReverseForward(),
    "learnability": lambda lengths, frames, seed: Learnability(),
    "failure": lambda lengths, frames, seed: FailureBins(),
    "bisection": lambda lengths, frames, seed: Bisection(),
    "staircase": lambda lengths, frames, seed: Staircase(),
    "growing": lambda lengths, frames, seed: GrowingWindow(),
}
"""By name: the library's default, the paper's windows, and what they are compared with."""


FORGETS = ("nothing", "values", "policy", "both")
"""What a learner may forget whenever windows move, see `forgetting`."""
PACES, TARGETS = (0.05, 0.2, 0.5, 0.75, 0.95), (0.05, 0.2, 0.5, 0.8, 0.95)
SWEEPS: dict[str, MakeCurriculum] = {
    **{f"pace {pace}": partial(windows, share=pace) for pace in PACES},
    **{
        f"target {aim}": lambda lengths, frames, seed, aim=aim: Staircase(aim)  # type: ignore[misc]
        for aim in TARGETS
    },
}
"""The windows by the share of the frames in which they pass, the staircase by its target."""


def patient(regime: str, times: float) -> MakeCurriculum:
    """A regime whose training episodes are cut after so many times the demonstration."""
    return lambda lengths, frames, seed: Patience(REGIMES[regime](lengths, frames, seed), times)


NEVER = 1e9  # times the demonstration
_CUT_BY_THEMSELVES = ("default", "staircase")
_PLAY_ON = ("uniform", "backplay", "backward", "reverse-forward", "learnability", "failure",
            "bisection")  # fmt: skip
CUTS: dict[str, MakeCurriculum] = {
    "default": default,
    **{regime: REGIMES[regime] for regime in _PLAY_ON},
    **{f"{regime} (cut)": patient(regime, CUT) for regime in ("staircase", *_PLAY_ON)},
    **{f"{regime} (no cut)": patient(regime, NEVER) for regime in _CUT_BY_THEMSELVES},
}
"""Rules with the cut that the default has, and without any."""
ALL = {**REGIMES, **SWEEPS, **CUTS}


def curriculum(regime: str, lengths: Sequence[int], frames: int, *, seed: int = 0) -> Curriculum:
    """The curriculum of a regime; BackplayError if there is none of that name."""
    ensure(regime in ALL, "regime", " or ".join(ALL), regime)
    return ALL[regime]([int(length) for length in lengths], frames, seed)
