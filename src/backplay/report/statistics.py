"""Numbers over seeds, with intervals: pure functions of values and, where they draw, of `rng`.

Comes in: one number for each seed, by stratum where there are several settings. Goes out: means,
intervals of 95 % unless told otherwise, chances. Does not know: what was measured.

Seeds are few, so the interval of a mean is Student's. That of a chance is a bootstrap, which alone
would be too narrow with few seeds; so it is never narrower than Wilson's of as many pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from backplay.rates import LEVEL, wilson

FloatArray = NDArray[np.float64]
Strata = Sequence[Sequence[float]]
"""Values of each setting: [settings][seeds]."""
Statistic = Callable[[FloatArray], FloatArray]
"""From values [..., n] to numbers [...]."""


SAMPLES = 2_000  # of a bootstrap


class Estimate(NamedTuple):
    """A number and its interval."""

    value: float
    low: float | None
    """None with a single seed, which says nothing about others."""
    high: float | None

    def within(self, least: float, most: float) -> Estimate:
        """The same with an interval that stays inside what is possible."""
        if self.low is None or self.high is None:
            return self
        return Estimate(self.value, max(least, self.low), min(most, self.high))


def mean(values: ArrayLike) -> FloatArray:
    """The mean over the last axis."""
    return np.asarray(np.mean(np.asarray(values, np.float64), axis=-1))


def student_interval(
    values: Sequence[float], level: float = LEVEL, *, least: float = 0.0
) -> Estimate:
    """The mean and Student's interval.

    Args:
        values: one for each seed. Those that agree exactly have an interval of no width, unless
            something is known of their error.
        level: how often it should cover.
        least: the standard error of the mean that is there anyway; the interval is never narrower
            than the normal one of this error.
    """
    centre, n = float(mean(values)), len(values)
    if n == 1:
        return Estimate(centre, None, None)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * _standard_error(values)
    half = max(half, float(ndtri((1 + level) / 2)) * least)
    return Estimate(centre, centre - half, centre + half)


def student_draws(
    values: Sequence[float],
    rng: np.random.Generator,
    n: int = 9_999,
    *,
    least: float = 0.0,
    below: float = 0.0,
) -> FloatArray:
    """What the mean may be, `n` times: its quantiles are Student's interval at every level.

    Arithmetic on the draws of several means gives intervals of their difference or ratio. They are
    evenly spaced quantiles in a random order, so only the pairing is left to chance.

    Args:
        values: one for each seed.
        rng: the order.
        n: how many.
        least: as for `student_interval`.
        below: how far the true mean may lie below what was measured, chance aside: the lower half
            is so much lower.
    """
    levels = (np.arange(n) + 0.5) / n
    apart = np.abs(ndtri(levels)) * least
    if len(values) > 1:
        apart = np.maximum(
            apart, np.abs(stdtrit(len(values) - 1, levels)) * _standard_error(values)
        )
    lower = levels < 0.5
    return rng.permutation(float(mean(values)) + np.where(lower, -apart - below, apart))


def binomial_error(share: float, episodes: int) -> float:
    """The standard error of a share of so many episodes, above 0 for none and for all of them.

    With one success and one failure added, as if there had been two more episodes.
    """
    rate = (share * episodes + 1) / (episodes + 2)
    return float(np.sqrt(rate * (1 - rate) / episodes))


def central(draws: FloatArray, level: float = LEVEL) -> tuple[float, float]:
    """The middle part of draws, [n]; infinite ones are in their place.

    An end that falls between two draws is between them, or at the outer one if one is infinite.
    """
    ordered = np.sort(draws)
    ends = []
    for part, outer in (((1 - level) / 2, 0), ((1 + level) / 2, 1)):
        place = min(max(part * len(ordered) - 0.5, 0.0), len(ordered) - 1.0)
        pair = ordered[[int(np.floor(place)), int(np.ceil(place))]]
        between = pair[0] + (place % 1) * (pair[1] - pair[0]) if np.isfinite(pair).all() else None
        ends.append(float(pair[outer] if between is None else between))
    return ends[0], ends[1]


def probability_of_improvement(x: Strata, y: Strata, rng: np.random.Generator) -> Estimate:
    """The chance that a seed of `x` beats one of `y`, ties counting half, mean over strata.

    The interval is a stratified bootstrap, never narrower than Wilson's of as many pairs as each
    seed can be in once; None where a stratum has a single seed on a side.
    """
    if len(x) != len(y) or not x or not all(map(len, (*x, *y))):
        raise ValueError("x and y need the same strata, at least one, and none of them empty")
    arrays = [
        (np.array([a], np.float64), np.array([b], np.float64)) for a, b in zip(x, y, strict=True)
    ]
    value = float(np.mean([_wins(a, b) for a, b in arrays]))
    pairs = [min(len(a), len(b)) for a, b in zip(x, y, strict=True)]
    if min(pairs) < 2:
        return Estimate(value, None, None)
    draws = np.mean(
        [_wins(_resampled(a, rng), _resampled(b, rng)) for a, b in zip(x, y, strict=True)], axis=0
    )
    low, high = central(np.asarray(draws))
    least, most = wilson(value * sum(pairs), sum(pairs))
    return Estimate(value, min(low, least), max(high, most))


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
    strata: Strata, statistic: Statistic, rng: np.random.Generator, n: int = SAMPLES
) -> tuple[float, float]:
    """The percentile interval of a statistic of all values, drawn again within each stratum.

    So how far strata lie apart does not widen it. With fewer than about ten values it is too
    narrow, which no number of draws changes.
    """
    if not strata or not all(map(len, strata)):
        raise ValueError("at least one stratum, and none of them empty")
    parts = [_resampled(values, rng, n) for values in strata]
    return central(statistic(np.concatenate(parts, axis=1)))


def frames_to(curve: Sequence[tuple[int, float]], threshold: float) -> int | None:
    """Frames at the first evaluation at or above `threshold`; None if there is none.

    Not interpolated: what happened between two evaluations was not seen.
    """
    return next((frames for frames, value in curve if value >= threshold), None)


def _standard_error(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _resampled(values: Sequence[float], rng: np.random.Generator, n: int = SAMPLES) -> FloatArray:
    """The values drawn again with replacement: [n, values]."""
    return np.asarray(values, np.float64)[rng.integers(0, len(values), (n, len(values)))]


def _wins(x: FloatArray, y: FloatArray) -> FloatArray:
    """The part of pairs that `x` wins: [n] from [n, seeds] each."""
    first, second = x[:, :, None], y[:, None, :]
    return np.asarray(((first > second) + 0.5 * (first == second)).mean(axis=(1, 2)))
