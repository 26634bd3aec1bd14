"""How long a sweep will still take, from what its runs were expected to take and what they took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backplay.runs.sweep.standing import Standing
from backplay.runs.sweep.task import Task

EARLY = 0.02  # before this share of a run its seconds are mostly compiling and the first evaluation


def time_left(
    tasks: Sequence[Task], standings: Mapping[str, Standing], workers: int
) -> float | None:
    """Seconds until `workers` side by side have finished all tasks; None if nobody can say.

    What was expected is corrected by what the runs so far have taken. No end comes before that of
    the longest run.
    """
    pairs = [(task, standings[task.name]) for task in tasks]
    measured = [(t, s) for t, s in pairs if s.share >= EARLY and s.seconds > 0 < t.seconds]
    spent = sum(standing.seconds for _, standing in measured)
    expected = sum(task.seconds * standing.share for task, standing in measured)
    ratio = spent / expected if expected > 0 and spent > 0 else 1.0
    left = [ratio * task.seconds * (1 - standing.share) for task, standing in pairs]
    if any(task.seconds <= 0 and not standing.finished for task, standing in pairs):
        return None
    return max(sum(left) / max(1, workers), max(left, default=0.0))
