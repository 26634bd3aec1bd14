"""One number for a regime over several settings: the mean of the middle half of all its runs.

Comes in: one number for each seed, by setting; groups of records. Goes out: the interquartile mean
and its interval, and a table of them. The interval is a bootstrap that draws seeds again within
each setting, so that how far settings lie apart does not widen it; with fewer than about ten runs
it is too narrow, which no number of draws changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from backplay.rates import LEVEL
from backplay.report.records import Group, is_share
from backplay.report.statistics import Estimate, FloatArray, central
from backplay.report.texts import Cells, estimate

Statistic = Callable[[FloatArray], FloatArray]
"""From values [..., n] to numbers [...]."""
Strata = Sequence[Sequence[float]]
"""Values of each setting: [settings][seeds]."""
_PREFERRED = ("success", "wins", "optimal")


def iqm(values: ArrayLike) -> FloatArray:
    """The mean of the middle half over the last axis.

    A value on the edge of the middle half counts by its part inside, so that any number of values
    will do: of three, the outer two count a quarter each.
    """
    ordered = np.sort(np.asarray(values, np.float64), axis=-1)
    n = ordered.shape[-1]
    places = np.arange(n)
    weights = np.clip(np.minimum(places + 1, 0.75 * n) - np.maximum(places, 0.25 * n), 0, None)
    # Not a dot product: 0 times an infinite value must not be a number.
    inside = weights > 0
    return np.asarray((ordered[..., inside] * weights[inside]).sum(axis=-1) / weights.sum())


def bootstrap(
    strata: Strata,
    statistic: Statistic,
    rng: np.random.Generator,
    n: int = 2_000,
    level: float = LEVEL,
) -> tuple[float, float]:
    """The percentile interval of a statistic of all values, drawn again within each stratum."""
    if not strata or not all(map(len, strata)):
        raise ValueError("at least one stratum, and none of them empty")
    parts = [
        np.asarray(values, np.float64)[rng.integers(0, len(values), (n, len(values)))]
        for values in strata
    ]
    return central(statistic(np.concatenate(parts, axis=1)), level)


def overall_cells(groups: Sequence[Group], rng: np.random.Generator) -> Cells:
    """Each regime over all settings that have runs; a head alone where there is no comparing them.

    Only regimes with as many seeds in every setting, two at least: else a setting would weigh more.
    """
    ended = [group for group in groups if group.ended]
    settings = dict.fromkeys(group.setting for group in ended)
    measure = next((m for m in _PREFERRED if ended and all(g.values(m) for g in ended)), None)
    rows: Cells = [("regime", "settings", "seeds in each", f"{measure}, interquartile mean")]
    if measure is None or len(settings) < 2:
        return rows
    for regime in dict.fromkeys(group.regime for group in ended):
        strata = [group.values(measure) for group in ended if group.regime == regime]
        counts = {len(values) for values in strata}
        if len(strata) != len(settings) or len(counts) != 1 or min(counts) < 2:
            continue
        found = Estimate(float(iqm(np.concatenate(strata))), *bootstrap(strata, iqm, rng))
        share = all(is_share(measure, values) for values in strata)
        counted = f"{len(settings)}", f"{counts.pop()}"
        rows.append((regime, *counted, estimate(found, "share" if share else "")))
    return rows
