"""Means of what groups of runs came to, with intervals over seeds.

Comes in: groups of records. Goes out: estimates. Does not know: how they are shown.

The interval is Student's. Of a share it is never narrower than that of as many episodes as were
measured, were they tossed coins, and it stays from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from backplay.report.records import EPISODES, Group, is_share
from backplay.report.statistics import (
    Estimate,
    FloatArray,
    binomial_error,
    student_draws,
    student_interval,
)

DRAWS = 9_999


def mean_of(group: Group, measure: str) -> Estimate:
    """The mean over the seeds that have ended with the measure; there must be one."""
    found = student_interval(group.values(measure), least=chance_error(group, measure))
    return found.within(0.0, 1.0) if share_of(group, measure) else found


def mean_share(values: Sequence[float], episodes: int = EPISODES) -> Estimate:
    """The mean of shares, each of so many episodes."""
    least = binomial_error(float(np.mean(values)), episodes * len(values))
    return student_interval(values, least=least).within(0.0, 1.0)


def draws_of(group: Group, measure: str, rng: np.random.Generator, n: int = DRAWS) -> FloatArray:
    """What the mean may be, `n` times; of a share, from 0 to 1."""
    values = group.values(measure)
    draws = student_draws(values, rng, n, least=chance_error(group, measure))
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
