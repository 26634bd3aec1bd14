"""Frames that each regime needs, by the theory's count on the fitted chain.

Comes in: the fit and the measured lengths of episodes. Goes out: draws of log10 frames by regime.
Does not know: environments. The count is of one-step backups under a policy that never improves:
orders of magnitude, for comparing regimes more than for planning.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from backplay.advise.fit import Fit
from backplay.advise.measure import Measured
from backplay.curricula import Curriculum, Frontier, Standard, Uniform
from backplay.theory import Chain, log_reach_within, phases, walking_cost

FloatArray = NDArray[np.float64]

REGIMES = ("Standard", "Uniform", "Backplay")
REPEATS = 12  # draws of the success from the reset for each chain
MOST = 300.0  # log10 of a number of frames that stands for never
ENOUGH = 3  # successes from the reset from which they count more than the chain


@dataclass(frozen=True)
class Prediction:
    """Frames until the value at the start is learned, as log10."""

    log10_frames: float
    """The median."""
    log10_low: float
    """2.5 % of the draws are below."""
    log10_high: float
    """2.5 % of the draws are above."""

    @property
    def frames(self) -> float:
        """The median; inf where a float cannot hold it."""
        return float(10**self.log10_frames) if self.log10_frames < 308 else float("inf")


def draw_frames(
    fit: Fit, measured: Measured, off: float, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Draws of log10 frames by regime, [n] each; draw i is the same world for all regimes.

    Args:
        fit: probable chains.
        measured: lengths of episodes, and success from the reset.
        off: share of resets off the demonstration, from which only Standard's way leads on.
        rng: draws the success from the reset.
    """
    worlds = [_log_frames(fit.chain(i), fit, measured) for i in range(len(fit.far))]
    table = np.repeat(np.array(worlds), REPEATS, axis=0)
    frames = {name: table[:, i].copy() for i, name in enumerate(REGIMES)}
    reset = measured.reset
    if reset.successes >= ENOUGH:
        wins, tries = reset.successes, reset.rollouts
        chance = rng.beta(wins + 0.5, tries - wins + 0.5, size=len(table))
        frames["Standard"] += (table[:, 3] - np.log(chance)) / log(10)
    for name in REGIMES[1:]:
        frames[name] = _mixed(frames[name], frames["Standard"], off)
    return frames


def _log_frames(chain: Chain, fit: Fit, measured: Measured) -> list[float]:
    """log10 frames of the three regimes, and the log chance of success from the start."""
    backs = [0.0, *(rung.steps_back / fit.unit for rung in measured.rungs)]
    lengths = [1.0, *(rung.mean_length for rung in measured.rungs)]
    lasts = np.interp(np.arange(fit.states + 1), backs, lengths)
    regimes: dict[str, Curriculum] = {
        "Standard": Standard(), "Uniform": Uniform(), "Backplay": Frontier(),
    }  # fmt: skip
    answer = []
    for name in REGIMES:
        where = phases(regimes[name], fit.states)
        work = walking_cost(chain, where, fit.horizon)
        means = where.by_distance() @ lasts
        logs = work.log_trials_by_informed + np.log(np.maximum(means, 1.0))
        answer.append(min(MOST, float(np.logaddexp.reduce(logs)) / log(10)))
    return [*answer, float(log_reach_within(chain, fit.horizon)[-1])]


def _mixed(own: FloatArray, standard: FloatArray, off: float) -> FloatArray:
    """What is off the demonstration is learned at Standard's pace."""
    if off <= 0:
        return own
    with np.errstate(divide="ignore"):
        mixed: FloatArray = np.logaddexp(
            log(10) * own + np.log(1 - min(off, 1.0)), log(10) * standard + log(off)
        ) / log(10)
    return mixed


def summarise(draws: FloatArray) -> Prediction:
    """Median and 95 % interval."""
    low, middle, high = np.quantile(draws, [0.025, 0.5, 0.975])
    return Prediction(float(middle), float(low), float(high))
