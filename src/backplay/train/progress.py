"""What a training run tells after each update, and what metrics count of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from backplay.records import TRUE_START, Episode
from backplay.train.evaluate import Evaluation


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a run stands after one update."""

    frames: int
    total_frames: int
    frames_per_second: float = 0.0
    seconds_left: float = 0.0
    starts: str = ""
    """Where episodes start now, in words."""
    train_success: float | None = None
    """Success of the last hundred episodes, wherever they started."""
    true_success: float | None = None
    """Success from the true start in the last evaluation."""
    evaluation: Evaluation | None = None
    """The evaluation made at this point, if one was."""
    episodes: Sequence[Episode] = ()
    """The episodes that finished in this update."""
    metrics: dict[str, float] = field(default_factory=dict)
    """What the learner says of its update."""
    finished: bool = False

    def __str__(self) -> str:
        true = "–" if self.true_success is None else f"{self.true_success:.0%}"
        here = "–" if self.train_success is None else f"{self.train_success:.0%}"
        left = timedelta(seconds=round(self.seconds_left))
        return (
            f"{self.frames:>9,} / {self.total_frames:,} frames  {self.frames_per_second:6,.0f}/s"
            f"  true start {true:>4}  here {here:>4}  {self.starts}  {left} left"
        )


def by_steps_back(
    episodes: Iterable[Episode], lengths: Sequence[int] | NDArray[np.int64], width: int = 4
) -> list[list[int]]:
    """Episodes by how far from the end they started: [steps back, tries, wins], in bins.

    Those from the true start are counted apart, as -1 steps back.
    """
    found: dict[int, list[int]] = {}
    for episode in episodes:
        if episode.start is None or episode.start.demo >= len(lengths):
            continue
        back = int(lengths[episode.start.demo]) - episode.start.step
        place = TRUE_START if episode.start.step == 0 else width * (back // width)
        row = found.setdefault(place, [0, 0])
        row[0] += 1
        row[1] += episode.success
    return [[back, *found[back]] for back in sorted(found)]
