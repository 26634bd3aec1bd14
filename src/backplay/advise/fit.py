"""An effective chain for a demonstration, and the frames that each regime needs on it.

Comes in: successes of rollouts by steps back, and their lengths. Goes out: `Fit`: chains, each as
probable as the successes make it; draws of log10 frames by regime. Does not know: environments.

The chain has as many states as the demonstration has steps, or fewer where it is long: then a state
stands for `unit` steps. It has two alphas, one up to some steps back and one beyond, since the end
of a demonstration is often easy (the car rolls by itself) and the rest is not. What does not come
nearer goes away. Frames are the theory's count of one-step backups under a policy that never
improves: orders of magnitude, for comparing regimes more than for planning.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from backplay.advise.measure import Measured
from backplay.curricula import Curriculum, Frontier, Standard, Uniform
from backplay.theory import Chain, log_reach_within, phases, walking_cost

FloatArray = NDArray[np.float64]
Points = tuple[FloatArray, FloatArray, NDArray[np.int64]]
"""Chains: near and far logits, and the break, [n] each."""

STATES = 48  # of the longest chain
LOGITS = np.linspace(-3.0, 4.0, 20)  # of the alphas that are tried: 0.05 to 0.98
PRIOR = 1.5  # deviation of the logit around alpha = 1/2, as long as nothing is known
LAPSE = 0.002  # a rollout may fail or succeed whatever the chain says: no rung decides alone
FINE = 2000  # points that are tried between those of the grid
BREAKS = 8  # places where alpha may change, at most
REGIMES = ("Standard", "Uniform", "Backplay")
REPEATS = 12  # draws of the success from the reset for each chain
MOST = 300.0  # log10 of a number of frames that stands for never
ENOUGH = 3  # successes from the reset from which they count more than the chain


@dataclass(frozen=True, eq=False)
class Fit:
    """Chains that explain the successes."""

    near: FloatArray
    """Alpha up to the break, one for each draw, [n]."""
    far: FloatArray
    """Alpha beyond it, [n]."""
    breaks: NDArray[np.int64]
    """The last state with the near alpha, [n]."""
    unit: int
    """Steps of the demonstration that a state of the chain stands for."""
    states: int
    """Of the chain."""
    horizon: int
    """Steps of a trial on the chain."""
    dispersion: float
    """How much worse the best chain fits than chance allows; 1 is as well as can be."""

    def chain(self, draw: int) -> Chain:
        """The chain of one draw."""
        places = np.arange(1, self.states + 1)
        return Chain.of(np.where(places <= self.breaks[draw], self.near[draw], self.far[draw]))


def fit_chain(measured: Measured, length: int, draws: int, rng: np.random.Generator) -> Fit:
    """Draws chains by the binomial likelihood of the successes at every rung.

    Where the best chain fits badly the likelihood is flattened by the dispersion, so that the draws
    show how sure one can be of a model that is not quite right.
    """
    unit = ceil(length / STATES)
    states = ceil(length / unit)
    rungs = measured.rungs
    far = np.array([min(rung.steps_back / unit, states) for rung in rungs])
    horizons = [max(ceil(rung.longest / unit), ceil(d)) for rung, d in zip(rungs, far, strict=True)]
    coarse = _grid(far, states)
    weights, _ = _weigh(measured, coarse, far, horizons, states)
    # Once more between the points of the grid, where they are probable: they are far apart.
    picks = rng.choice(len(weights), size=FINE, p=weights)
    half = (LOGITS[1] - LOGITS[0]) / 2
    near, beyond = (one[picks] + rng.uniform(-half, half, FINE) for one in coarse[:2])
    fine = (near, beyond, coarse[2][picks])
    finer, dispersion = _weigh(measured, fine, far, horizons, states)
    finer /= weights[picks]
    kept = rng.choice(FINE, size=draws, p=finer / finer.sum())
    return Fit(
        _alpha(near[kept]), _alpha(beyond[kept]), fine[2][kept],
        unit, states, horizons[-1], dispersion,
    )  # fmt: skip


def _weigh(
    measured: Measured, points: Points, far: FloatArray, horizons: list[int], states: int
) -> tuple[FloatArray, float]:
    """How probable each point is, [n], and the dispersion of the best."""
    near, beyond, breaks = points
    reach = _reach(near, beyond, breaks, far, horizons, states)
    logs, full = _likelihood(measured, LAPSE + (1 - 2 * LAPSE) * reach)
    dispersion = max(1.0, 2 * (full - float(logs.max())) / max(1, len(far) - 3))
    prior = (near**2 + beyond**2) / (2 * PRIOR**2)
    weights = np.exp((logs - logs.max()) / dispersion - prior)
    return weights / weights.sum(), dispersion


def _grid(far: FloatArray, states: int) -> Points:
    """Every combination of the grid."""
    places = np.unique(np.clip(np.round(far), 1, states).astype(np.int64))
    if len(places) > BREAKS:
        places = places[np.linspace(0, len(places) - 1, BREAKS).astype(int)]
    near, beyond, breaks = np.meshgrid(LOGITS, LOGITS, places, indexing="ij")
    return near.ravel(), beyond.ravel(), breaks.ravel()


def _reach(
    near: FloatArray,
    beyond: FloatArray,
    breaks: NDArray[np.int64],
    far: FloatArray,
    horizons: list[int],
    states: int,
) -> FloatArray:
    """Chance to come from each rung to the goal in time on each chain of the grid, [n, rungs]."""
    places = np.arange(1, states + 1)
    alpha = np.where(places <= breaks[:, None], _alpha(near)[:, None], _alpha(beyond)[:, None])
    reach = np.zeros((len(alpha), states + 1))
    reach[:, 0] = 1.0
    found = np.zeros((len(alpha), len(far)))
    for step in range(1, max(horizons) + 1):
        away = np.concatenate([reach[:, 2:], reach[:, -1:]], axis=1)  # from M one stays
        reach[:, 1:] = away + alpha * (reach[:, :-1] - away)
        for rung, horizon in enumerate(horizons):
            if horizon == step:
                low = int(far[rung])
                high = min(low + 1, states)
                found[:, rung] = reach[:, low] + (far[rung] - low) * (
                    reach[:, high] - reach[:, low]
                )
    return found


def _likelihood(measured: Measured, chance: FloatArray) -> tuple[FloatArray, float]:
    """Log likelihood of the successes under each row of chances [n, rungs], and its bound."""
    wins = np.array([rung.successes for rung in measured.rungs], dtype=np.float64)
    tries = np.array([rung.rollouts for rung in measured.rungs], dtype=np.float64)
    logs = wins * np.log(chance) + (tries - wins) * np.log1p(-chance)
    seen = np.clip(wins / tries, LAPSE, 1 - LAPSE)
    full = wins * np.log(seen) + (tries - wins) * np.log1p(-seen)
    return logs.sum(1), float(full.sum())


def _alpha(logit: FloatArray) -> FloatArray:
    alpha: FloatArray = 1 / (1 + np.exp(-logit))
    return alpha


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
    regimes: dict[str, Curriculum] = {  # as `backplay train` has them
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
