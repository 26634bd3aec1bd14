"""Growth: does a count grow exponentially or polynomially with the size of the task?

Comes in: sizes, and for each size the counts of some runs (or one exact number). Goes out: two
straight lines through log mean count, against the size and against its logarithm, with bootstrap
intervals and Akaike's criterion for both. Does not know: where the counts come from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from backplay.curricula.curriculum import FloatArray, real_number, whole_number
from backplay.errors import BackplayError, ensure, show


@dataclass(frozen=True)
class Growth:
    """Two fits of log T: rate * M + constant, and exponent * log M + constant."""

    rate: float
    """Exponential rate: T multiplies by e^rate with each unit of size."""
    rate_interval: tuple[float, float]
    """Bootstrap interval of the rate."""
    exponent: float
    """Polynomial exponent: T grows like M^exponent."""
    exponent_interval: tuple[float, float]
    """Bootstrap interval of the exponent."""
    aic_exponential: float
    """Akaike's criterion of the exponential fit, up to a constant both share; lower is better."""
    aic_polynomial: float
    """Akaike's criterion of the polynomial fit."""
    exponential_share: float
    """Share of the bootstrap samples in which the exponential fits better."""

    @property
    def better(self) -> str:
        """The fit with the lower criterion: "exponential" or "polynomial"."""
        return "exponential" if self.aic_exponential < self.aic_polynomial else "polynomial"


def growth(
    sizes: ArrayLike,
    counts: ArrayLike,
    rng: np.random.Generator,
    *,
    logarithms: bool = False,
    samples: int = 1000,
    level: float = 0.95,
) -> Growth:
    """Fits both kinds of growth to counts.

    With several runs a size the bootstrap draws runs anew within each size; with one number a size
    it draws the residuals of each fit anew.

    Args:
        sizes: three or more different sizes, [n].
        counts: positive counts, [n, runs] or [n].
        rng: draws the bootstrap samples.
        logarithms: whether `counts` [n] are logarithms already (of exact numbers).
        samples: bootstrap samples.
        level: what the intervals cover.
    """
    size, logs, runs = _checked(sizes, counts, logarithms)
    samples = whole_number("samples", samples, at_least=1)
    level = real_number("level", level, at_most=1.0)
    lines = np.stack([size, np.log(size)])
    fits = [_fit(x, logs[None]) for x in lines]
    drawn = []
    for x, (slope, constant, _) in zip(lines, fits, strict=True):
        if runs is None:
            line = slope * x + constant
            residuals = logs - line
            anew = line + residuals[rng.integers(len(x), size=(samples, len(x)))]
        else:
            anew = _resampled(runs, samples, rng)
        drawn.append(anew)
    if runs is not None:
        drawn[1] = drawn[0]  # the same samples for both, so that they can be compared
    refits = [_fit(x, anew) for x, anew in zip(lines, drawn, strict=True)]
    tails = [(1 - level) / 2, (1 + level) / 2]
    spans = [np.quantile(slopes, tails) for slopes, _, _ in refits]
    against = [_fit(x, drawn[0])[2] for x in lines]
    return Growth(
        rate=float(fits[0][0][0]),
        rate_interval=(float(spans[0][0]), float(spans[0][1])),
        exponent=float(fits[1][0][0]),
        exponent_interval=(float(spans[1][0]), float(spans[1][1])),
        aic_exponential=_aic(float(fits[0][2][0]), len(size)),
        aic_polynomial=_aic(float(fits[1][2][0]), len(size)),
        exponential_share=float((against[0] < against[1]).mean()),
    )


def _fit(x: FloatArray, logs: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Least squares of each row of logs [s, n] on x [n]: slopes, constants, squared residuals."""
    centred = x - x.mean()
    slopes = logs @ centred / (centred @ centred)
    constants = logs.mean(1) - slopes * x.mean()
    residuals = logs - slopes[:, None] * x - constants[:, None]
    return slopes, constants, (residuals**2).sum(1)


def _aic(squares: float, n: int) -> float:
    """Akaike's criterion of a line with normal errors; two parameters in either fit."""
    return n * float(np.log(max(squares, 1e-300) / n)) + 4.0


def _resampled(runs: FloatArray, samples: int, rng: np.random.Generator) -> FloatArray:
    """Log means of runs drawn anew within each size, [samples, n]."""
    n, per_size = runs.shape
    logs = np.empty((samples, n))
    for i in range(n):
        picks = rng.integers(per_size, size=(samples, per_size))
        logs[:, i] = np.log(runs[i][picks].mean(1))
    return logs


def _checked(
    sizes: ArrayLike, counts: ArrayLike, logarithms: bool
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Sizes [n], log mean counts [n], and the runs [n, runs] if there are several a size."""
    size = np.asarray(sizes, dtype=np.float64)
    count = np.asarray(counts, dtype=np.float64)
    if size.ndim != 1 or len(np.unique(size)) < 3 or not (size > 0).all():
        raise BackplayError("sizes", expected="three or more different sizes", got=show(sizes))
    fits = count.ndim in ((1,) if logarithms else (1, 2)) and count.shape[0] == len(size)
    ensure(
        fits and count.size and np.isfinite(count).all(), "counts",
        f"finite numbers [{len(size)}] or [{len(size)}, runs]", counts,
    )  # fmt: skip
    ensure(logarithms or (count > 0).all(), "counts", "positive numbers", counts)
    if count.ndim == 2 and count.shape[1] > 1:
        return size, np.log(count.mean(1)), count
    flat = count.reshape(len(size))
    return size, flat if logarithms else np.log(flat), None
