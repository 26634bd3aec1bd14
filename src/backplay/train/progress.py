"""What a training run tells after each update."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from backplay.records import Episode
from backplay.train.evaluate import Evaluation


@dataclass(frozen=True)
class Progress:
    """Where a run stands after one update."""

    frames: int
    total_frames: int
    frames_per_second: float
    seconds_left: float
    starts: str
    """Where episodes start now, in words."""
    train_success: float | None
    """Success of the last hundred episodes, wherever they started."""
    true_success: float | None
    """Success from the true start in the last evaluation."""
    evaluation: Evaluation | None
    """The evaluation made at this point, if one was."""
    episodes: Sequence[Episode]
    """The episodes that finished in this update."""
    metrics: dict[str, float]
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
