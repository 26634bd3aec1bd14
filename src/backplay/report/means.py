"""What groups of runs came to and did over time: means with intervals over seeds, counts of starts.

Comes in: groups of records. Goes out: estimates, numbers to draw. Does not know: how any of it is
shown.

The interval is Student's. Of a share it is never narrower than that of as many episodes as were
measured, were they tossed coins, and it stays from 0 to 1; of a number of steps it stays above 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

import numpy as np

from backplay.records import TRUE_START
from backplay.report.records import Group, is_count, is_share
from backplay.report.statistics import (
    Estimate,
    FloatArray,
    binomial_error,
    student_draws,
    student_interval,
)

DRAWS = 9_999
COLUMNS = 60  # of counts of starts, at most


def mean_of(group: Group, measure: str) -> Estimate:
    """The mean over the seeds that have ended with the measure; there must be one."""
    found = student_interval(group.values(measure), least=chance_error(group, measure))
    if is_count(measure) and min(group.values(measure)) >= 0:
        return found.within(0.0, np.inf)
    return found.within(0.0, 1.0) if share_of(group, measure) else found


def mean_share(values: Sequence[float], episodes: int) -> Estimate:
    """The mean of shares, of so many episodes in all."""
    least = binomial_error(float(np.mean(values)), episodes)
    return student_interval(values, least=least).within(0.0, 1.0)


def draws_of(group: Group, measure: str, rng: np.random.Generator) -> FloatArray:
    """What the mean may be, `DRAWS` times; of a share, from 0 to 1."""
    values = group.values(measure)
    draws = student_draws(values, rng, DRAWS, least=chance_error(group, measure))
    return np.clip(draws, 0.0, 1.0) if share_of(group, measure) else draws


def share_of(group: Group, measure: str) -> bool:
    """Whether a measure is a share in the runs that have ended."""
    return is_share(measure, group.values(measure))


def chance_error(group: Group, measure: str) -> float:
    """The standard error that a mean has from its episodes alone; 0 where it is no share."""
    values = group.values(measure)
    if not is_share(measure, values):
        return 0.0
    episodes = sum(run.episodes for run in group.ended if run.measures.get(measure) is not None)
    return binomial_error(float(np.mean(values)), episodes)


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
    found = [(run.evaluated, curve) for run in group.runs if (curve := run.curve_of(measure))]
    if not found:
        return Curve([], [], 0)
    curves = [curve for _, curve in found]
    frames = [at for at, _ in max(curves, key=lambda curve: (curve[-1][0], len(curve)))]
    share = is_share(measure, (value for curve in curves for _, value in curve))
    means = []
    for at in frames:
        there = [(one, curve) for one, curve in found if curve[0][0] <= at <= curve[-1][0]]
        values = [
            float(np.interp(at, [x for x, _ in curve], [y for _, y in curve])) for _, curve in there
        ]
        episodes = sum(evaluated for evaluated, _ in there)
        means.append(mean_share(values, episodes) if share else student_interval(values))
    return Curve(frames, means, len(curves))


def start_counts(group: Group) -> Starts:
    """Episodes and successes by time and place.

    The columns span `last_frame`; each is as wide as an update, so that none stays empty, but
    there are at most `COLUMNS`. The bins are those that runs counted in (`bin_width`).
    """
    total, width = last_frame(group), bin_width(group)
    updates = [sorted({frames for frames, *_ in run.starts}) for run in group.runs if run.starts]
    wanted = max((total * len(ends) / max(1, ends[-1]) for ends in updates), default=1.0)
    columns = max(1, min(COLUMNS, round(wanted)))
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
