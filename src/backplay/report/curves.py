"""What groups of runs did over time: means over seeds, counts of starts.

Comes in: groups of records. Goes out: numbers to draw. Does not know: how they are drawn.
"""

from __future__ import annotations

import numpy as np

from backplay.report.records import Group, is_share
from backplay.report.statistics import Estimate, FloatArray, student_interval

BIN = 4  # steps back in a row of a map of starts


def mean_curve(group: Group, measure: str) -> tuple[list[int], list[Estimate]]:
    """Frames, and the mean over seeds at each; as far as every seed has come.

    Seeds are read off between their evaluations where they were not measured at the same frames,
    and none before its own first one.
    """
    curves = [
        [(at, measured[measure]) for at, measured in run.curve if measure in measured]
        for run in group.runs
    ]
    curves = [curve for curve in curves if curve]
    if not curves:
        return [], []
    first, last = max(curve[0][0] for curve in curves), min(curve[-1][0] for curve in curves)
    frames = [at for at, _ in curves[0] if first <= at <= last]
    values = np.array(
        [np.interp(frames, [at for at, _ in one], [value for _, value in one]) for one in curves]
    )
    share = is_share(measure, values.ravel())
    means = [student_interval(column.tolist()) for column in values.T]
    return frames, [one.within(0.0, 1.0) if share else one for one in means]


def start_counts(
    group: Group, *, most: int = 60, width: int = BIN
) -> tuple[FloatArray, FloatArray]:
    """Episodes and successes over all seeds: [columns over frames, bins of steps back] each.

    The columns span `last_frame`; each is as wide as an update, so that none stays empty, but
    there are at most `most`.
    """
    total = last_frame(group)
    updates = [sorted({frames for frames, *_ in run.starts}) for run in group.runs if run.starts]
    wanted = max((total * len(ends) / max(1, ends[-1]) for ends in updates), default=1.0)
    columns = max(1, min(most, round(wanted)))
    found = [one for run in group.runs for one in run.starts]
    bins = max((back // width for _, back, _, _ in found), default=0) + 1
    episodes, successes = np.zeros((2, columns, bins))
    for frames, back, tries, wins in found:
        column = min(columns - 1, max(0, frames - 1) * columns // total)
        episodes[column, back // width] += tries
        successes[column, back // width] += wins
    return episodes, successes


def last_frame(group: Group) -> int:
    """Where the axis of frames ends: a run's budget, or a little more if it went beyond."""
    return max(group.first.frames, *(at for run in group.runs for at, *_ in run.starts), 1)
