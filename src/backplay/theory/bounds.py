"""The paper's rates, and the exact counts that they bound.

Comes in: a chain, where trials start, how long a trial may take. Goes out: logarithms of the rates,
and `Cost`: expected trials and steps until the value at the start is updated.

What is counted. Learning is by one-step backups under a fixed policy. The goal is informed; a
distance l becomes informed when the step l -> l - 1 is taken while l - 1 is informed. So the
informed distances are always 1..k, and the start, at M, is updated when k = M. A trial begins where
the curriculum says and takes at most `horizon` steps. There are two readings:

- *merging*, the proof's: the informed distances are part of the goal. A trial ends with its first
  update; one that starts at an informed distance is over at once, after 0 steps. So each trial
  informs one distance or none.
- *walking*, what a learner does: a trial ends at the goal (or at the horizon) only, and may inform
  several distances on its way. The last trial ends where the start is updated.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log

import numpy as np
from numba import njit
from scipy.special import logsumexp

from backplay.curricula.curriculum import FloatArray, real_number, whole_number
from backplay.errors import ensure
from backplay.theory.chains import Chain
from backplay.theory.hitting import log_reach_within, mean_length_within
from backplay.theory.starts import Phases


def number(logarithm: float) -> float:
    """The exponential of `logarithm`; inf where a float cannot hold it."""
    return exp(logarithm) if logarithm < 709 else inf


def log_standard(length: int, alpha: float) -> float:
    """Logarithm of the paper's lower rate for Standard, in steps: M alpha^(-M / 2)."""
    length, alpha = _checked(length, alpha)
    return log(length) - length / 2 * log(alpha)


def log_backplay(length: int, alpha: float, step: int) -> float:
    """Logarithm of the paper's upper rate for Backplay, in steps: M^2 / m alpha^(-m)."""
    length, alpha = _checked(length, alpha)
    step = whole_number("step", step, at_least=1)
    return 2 * log(length) - log(step) - step * log(alpha)


def log_backplay_sum(chain: Chain, step: int) -> float:
    """Logarithm of the sum in the proof, in steps: M times, over the windows, sums of 1 / product.

    A window from k m to (k + 1) m informs its distances one after another; with i of them left the
    straight way is i steps, and the product of their alphas bounds a trial's chance of success.
    For a constant chain it is M^2 / m (1 - alpha^m) / (1 - alpha) alpha^(-m): the paper's form has
    m + 1 for m, the extra term being a window with nothing left to inform.
    """
    step = whole_number("step", step, at_least=1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(chain.alpha))])
    far = np.minimum((np.arange(chain.length) // step + 1) * step, chain.length)
    return log(chain.length) + float(logsumexp(logs[: chain.length] - logs[far]))


def log_uniform(length: int, alpha: float) -> float:
    """Logarithm of the paper's upper rate for Uniform, in steps: M^3 / alpha."""
    length, alpha = _checked(length, alpha)
    return 3 * log(length) - log(alpha)


@dataclass(frozen=True, eq=False)
class Cost:
    """Expected trials and steps, as logarithms, by the number of informed distances."""

    log_trials_by_informed: FloatArray
    """Entry k: trials that begin while exactly k distances are informed, [M]. In the merging
    reading entry 0 is the number of trials until the goal is first reached."""
    log_steps_by_informed: FloatArray
    """Entry k: steps of these trials, [M]."""

    @property
    def log_trials(self) -> float:
        """Logarithm of the expected trials until the start is updated."""
        return float(logsumexp(self.log_trials_by_informed))

    @property
    def log_steps(self) -> float:
        """Logarithm of the expected steps until the start is updated."""
        return float(logsumexp(self.log_steps_by_informed))

    @property
    def trials(self) -> float:
        """Expected trials; inf where a float cannot hold it, or where they never suffice."""
        return number(self.log_trials)

    @property
    def steps(self) -> float:
        """Expected steps; inf like `trials`."""
        return number(self.log_steps)


def merging_cost(chain: Chain, where: Phases, horizon: int) -> Cost:
    """Expected cost in the proof's reading, exact and in logarithms throughout.

    With k distances merged, a trial from distance j succeeds with the probability of going from j
    to k within `horizon` steps. Trials are independent, so their number is geometric, and by Wald's
    identity the steps are its mean times the mean length of a trial.
    """
    starts, horizon = _fitting(chain, where, horizon)
    trials = np.empty(chain.length)
    steps = np.empty(chain.length)
    with np.errstate(divide="ignore"):
        logs = np.log(starts)
        for k in range(chain.length):
            rest = chain.merged(k)
            success = logsumexp(logs[k, k + 1 :] + log_reach_within(rest, horizon)[1:])
            mean_length = float(starts[k, k + 1 :] @ mean_length_within(rest, horizon)[1:])
            trials[k] = -success
            steps[k] = np.log(mean_length) - success if success > -inf else inf
    return Cost(trials, steps)


def walking_cost(chain: Chain, where: Phases, horizon: int) -> Cost:
    """Expected cost of a learner whose trials end at the goal or at the horizon only.

    Exact by dynamic programming: where a trial that begins with k informed distances ends, for
    every k; then a chain over k. In plain floats: a chance below 1e-308 counts as 0.
    """
    starts, horizon = _fitting(chain, where, horizon)
    size = chain.length
    ends = np.zeros((size, size + 1))
    lengths = np.zeros(size)
    places = np.zeros((2, size + 1, size + 1))
    for k in range(size):
        places[:] = 0.0
        lengths[k] = _one_trial(
            chain.alpha, chain.beta, chain.gamma, starts[k], k, horizon, places, ends[k]
        )
    return _visits(ends, lengths)


def _visits(ends: FloatArray, lengths: FloatArray) -> Cost:
    """Expected trials by informed distances from the law of one trial's end, [M, M + 1]."""
    size = len(lengths)
    entries = np.zeros(size)  # probability that k distances are ever exactly what is informed
    entries[0] = 1.0
    trials = np.zeros(size)
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in range(size):
            onward = ends[k, k + 1 :]
            if entries[k] > 0:
                trials[k] = entries[k] / onward.sum()
                entries[k + 1 :] += entries[k] * onward[:-1] / onward.sum()
            if not np.isfinite(trials[k]):  # no way on from here
                trials[k] = inf
                break
        steps = np.where(trials > 0, trials * lengths, 0.0)
        return Cost(np.log(trials), np.log(steps))


@njit(cache=True, nogil=True)
def _one_trial(alpha, beta, gamma, start, informed, horizon, places, ends):  # type: ignore[no-untyped-def]
    """Fills ends [M + 1] with the law of the informed distances after a trial; returns its length.

    places [2, M + 1, M + 1] are zeros to work in: the probability of k informed, and where.
    """
    size = alpha.shape[0]
    now = 0
    for at in range(size + 1):
        places[0, informed, at] = start[at]
    length = 0.0
    for _ in range(horizon):
        old, new = places[now], places[1 - now]
        new[:] = 0.0
        for k in range(informed, size):
            new[k, 0] += old[k, 0]
            for at in range(1, size + 1):
                p = old[k, at]
                if p == 0.0:
                    continue
                length += p
                new[k + 1 if at == k + 1 else k, at - 1] += p * alpha[at - 1]
                new[k, at] += p * beta[at - 1]
                if at < size:
                    new[k, at + 1] += p * gamma[at - 1]
        for at in range(size + 1):  # the start is updated: the trial is over
            new[size, at] += old[size, at]
        now = 1 - now
    for k in range(size + 1):
        ends[k] = places[now, k].sum()
    return length


def _checked(length: int, alpha: float) -> tuple[int, float]:
    return (
        whole_number("length", length, at_least=1),
        real_number("alpha", alpha, at_least=1e-300, at_most=1.0),
    )


def _fitting(chain: Chain, where: Phases, horizon: int) -> tuple[FloatArray, int]:
    """The starts by merged states, [M, M + 1], and the horizon, if they fit the chain."""
    starts = where.by_distance()
    ensure(
        len(starts) == chain.length, "phases", f"a demonstration of {chain.length} steps",
        len(starts), do="Call phases(curriculum, chain.length).",
    )  # fmt: skip
    return starts, whole_number("horizon", horizon, at_least=1)
