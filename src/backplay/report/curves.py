"""What groups of runs did over time: means over seeds, counts of starts.

Comes in: groups of records. Goes out: numbers to draw. Does not know: how they are drawn.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

import numpy as np

from backplay.records import TRUE_START
from backplay.report.intervals import mean_share
from backplay.report.records import Group, is_share
from backplay.report.statistics import Estimate, FloatArray, student_interval


class Curve(NamedTuple):
    """A measure over time."""

    frames: list[int]
    means: list[Estimate]
    """Over the seeds that were measured by then and go on that far."""
    seeds: int
    """That are in it somewhere."""


class Starts(NamedTuple):
    """Where episodes started over time, and how many succeeded; over all seeds."""

    episodes: FloatArray
    """By steps back, [columns over frames, bins]."""
    successes: FloatArray
    true_episodes: FloatArray
    """From the true start, [columns]."""
    true_successes: FloatArray


def mean_curve(group: Group, measure: str) -> Curve:
    """The mean over seeds at each evaluation of the seed that has come farthest.

    Seeds are read off between their evaluations where they were not measured at the same frames,
    and count neither before their own first one nor behind their last.
    """
    curves = [curve for run in group.runs if (curve := run.curve_of(measure))]
    if not curves:
        return Curve([], [], 0)
    frames = [at for at, _ in max(curves, key=lambda curve: (curve[-1][0], len(curve)))]
    share = is_share(measure, (value for curve in curves for _, value in curve))
    means = []
    for at in frames:
        values = [
            float(np.interp(at, [x for x, _ in curve], [y for _, y in curve]))
            for curve in curves
            if curve[0][0] <= at <= curve[-1][0]
        ]
        means.append(mean_share(values) if share else student_interval(values))
    return Curve(frames, means, len(curves))


def start_counts(group: Group, *, most: int = 60) -> Starts:
    """Episodes and successes by time and place.

    The columns span `last_frame`; each is as wide as an update, so that none stays empty, but
    there are at most `most`. The bins are those that runs counted in (`bin_width`).
    """
    total, width = last_frame(group), bin_width(group)
    updates = [sorted({frames for frames, *_ in run.starts}) for run in group.runs if run.starts]
    wanted = max((total * len(ends) / max(1, ends[-1]) for ends in updates), default=1.0)
    columns = max(1, min(most, round(wanted)))
    found = [one for run in group.runs for one in run.starts]
    bins = max((back // width for _, back, _, _ in found if back != TRUE_START), default=-1) + 1
    counts = np.zeros((2, columns, bins + 1))
    for frames, back, tries, wins in found:
        column = min(columns - 1, max(0, frames - 1) * columns // total)
        row = bins if back == TRUE_START else back // width
        counts[:, column, row] += tries, wins
    return Starts(counts[0, :, :bins], counts[1, :, :bins], counts[0, :, bins], counts[1, :, bins])


def cell_levels(starts: Starts) -> tuple[FloatArray, FloatArray]:
    """Success of each cell, and its share of the busiest of its column: [columns, bins + 1] each.

    The last bin is the true start. Success is NaN where no episode started.
    """
    episodes = np.column_stack([starts.episodes, starts.true_episodes])
    successes = np.column_stack([starts.successes, starts.true_successes])
    with np.errstate(invalid="ignore"):
        rates = np.where(episodes > 0, successes / episodes, np.nan)
    busiest = np.maximum(episodes.max(axis=1, keepdims=True), 1.0)
    return rates, episodes / busiest


def bin_width(group: Group) -> int:
    """Steps back in a bin of the counts of starts: what all that were seen are multiples of."""
    seen = (back for run in group.runs for _, back, _, _ in run.starts if back != TRUE_START)
    return max(1, gcd(*seen))


def farthest(group: Group) -> int:
    """The end of its bins of steps back."""
    return bin_width(group) * int(start_counts(group).episodes.shape[1])


def last_frame(group: Group) -> int:
    """Where the axis of frames ends: a run's budget, or a little more if it went beyond."""
    return max(group.first.frames, *(at for run in group.runs for at, *_ in run.starts), 1)
