"""First-passage times, exactly: by linear solve, closed form, eigenvalues and iteration.

Comes in: a transition matrix with a goal, or a `Chain`. Goes out: expected times to the goal, their
generating function, the spectral gap, the probability of arriving within n steps. Numbers that may
not fit a float come as logarithms. Times are steps of one walk that nobody interrupts; trials are
the business of `bounds`.
"""

from __future__ import annotations

from math import exp, log

import numpy as np
from numba import njit
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal

from backplay.curricula.curriculum import FloatArray, whole_number
from backplay.errors import BackplayError, ensure, show
from backplay.theory.chains import Chain

SMALL = 1e-7  # of the largest: an eigenvalue above keeps about nine digits


def hitting_times(transitions: FloatArray, goal: int) -> FloatArray:
    """Expected steps from each state to the goal, [n], by solving (I - P) h = 1 without the goal.

    What leaves the goal plays no part. Digits are lost as the times grow: from about 1e12 use
    `log_passage_times`, which a chain allows.
    """
    matrix = np.asarray(transitions, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not 0 <= goal < len(matrix):
        raise BackplayError(
            "goal", expected="an index of a square matrix", got=f"{goal!r}, {matrix.shape}"
        )
    rest = np.delete(np.arange(len(matrix)), goal)
    system = np.eye(len(rest)) - matrix[np.ix_(rest, rest)]
    times = np.zeros(len(matrix))
    try:
        times[rest] = np.linalg.solve(system, np.ones(len(rest)))
    except np.linalg.LinAlgError:
        raise BackplayError(
            "goal", expected="a state that all others can reach", got=show(goal)
        ) from None
    return times


def log_passage_times(chain: Chain) -> FloatArray:
    """Logarithm of the expected steps from each distance to the goal, [M + 1]; first is -inf.

    The time h_l from l to l - 1 obeys h_l = (1 + gamma_l h_{l + 1}) / alpha_l, h_M = 1 / alpha_M:
    sums of positive terms only, so nothing cancels however long the chain.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(chain.alpha), np.log(chain.gamma)
    times = np.empty(chain.length + 1)
    _log_passage(*logs, times)
    return times


def passage_times(chain: Chain) -> FloatArray:
    """Expected steps from each distance to the goal, [M + 1]; inf where a float cannot hold it."""
    with np.errstate(over="ignore"):
        times: FloatArray = np.exp(log_passage_times(chain))
    return times


def eigenvalues(chain: Chain) -> FloatArray:
    """The eigenvalues of the chain but the goal's 1, largest first, [M].

    The matrix of the distances 1..M is similar to a symmetric one with beta on the diagonal and
    sqrt(gamma_l alpha_{l + 1}) beside it. Their error is about 1e-16 of the largest, so that
    1 - eigenvalue is lost below about 1e-14: `log_relaxation` is exact there.
    """
    beside = np.sqrt(chain.gamma[:-1] * chain.alpha[1:])
    found: FloatArray = eigh_tridiagonal(chain.beta, beside, eigvals_only=True)
    return found[::-1]


def generating_function(chain: Chain, s: ArrayLike, start: int | None = None) -> FloatArray:
    """E s^tau for the first-passage time tau to the goal, in the shape of `s`.

    From M it is the product of (1 - e) s / (1 - e s) over the eigenvalues e. From a nearer start it
    is that divided by the same for the passage from M to the start, whose eigenvalues are those of
    the chain with 1..start merged into the goal.

    Args:
        chain: the chain.
        s: numbers from 0 to less than 1 / the largest eigenvalue; at 0 the value is 0.
        start: the distance to start from; None is M.
    """
    points = np.asarray(s, dtype=np.float64)
    found = eigenvalues(chain)
    if not ((points >= 0) & (points * found[0] < 1)).all():
        raise BackplayError("s", expected=f"from 0 to below {1 / found[0]:g}", got=show(s))
    start = chain.length if start is None else start
    ensure(1 <= start <= chain.length, "start", f"1 to {chain.length}", start)
    product = _factors(found, points).prod(-1)
    if start < chain.length:
        product /= _factors(eigenvalues(chain.merged(start)), points).prod(-1)
    answer: FloatArray = product * points**start
    return answer


def log_relaxation(chain: Chain) -> float:
    """Logarithm of 1 / (1 - largest eigenvalue below the goal's 1): the reciprocal spectral gap.

    Where the gap is tiny it comes from inverse iteration in logarithms: I - P = B B' with B upper
    bidiagonal (sqrt(alpha) on the diagonal, -sqrt(gamma) above), so both solves add only positive
    terms and the gap has full relative accuracy, whatever its size.
    """
    leaving = chain.alpha + chain.gamma
    beside = -np.sqrt(chain.gamma[:-1] * chain.alpha[1:])
    gap = eigh_tridiagonal(leaving, beside, eigvals_only=True, select="i", select_range=(0, 0))[0]
    if gap > SMALL * leaving.max():
        return -log(gap)
    with np.errstate(divide="ignore"):
        logs = np.log(chain.alpha) / 2, np.log(chain.gamma) / 2
    work = np.zeros((2, chain.length))
    return float(_log_inverse_iteration(*logs, work))


def spectral_gap(chain: Chain) -> float:
    """1 - the largest eigenvalue below the goal's 1; 0 where a float cannot hold it."""
    return exp(-log_relaxation(chain))


def log_reach_within(chain: Chain, steps: int) -> FloatArray:
    """Logarithm of the probability of reaching the goal within `steps` steps, [M + 1]."""
    return _reach(chain, steps)[0]


def mean_length_within(chain: Chain, steps: int) -> FloatArray:
    """Expected min(first-passage time, steps) from each distance, [M + 1]."""
    return _reach(chain, steps)[1]


def _reach(chain: Chain, steps: int) -> tuple[FloatArray, FloatArray]:
    """`log_reach_within` and `mean_length_within` from the same iteration."""
    steps = whole_number("steps", steps)
    with np.errstate(divide="ignore"):
        logs = np.log(chain.alpha), np.log(chain.beta), np.log(chain.gamma)
    reach = np.full((2, chain.length + 1), -np.inf)
    reach[:, 0] = 0.0
    lengths = np.zeros(chain.length + 1)
    last = _log_reach(*logs, steps, reach, lengths)
    return np.minimum(reach[last], 0.0), lengths


def _factors(found: FloatArray, points: FloatArray) -> FloatArray:
    """(1 - e) / (1 - e s) for every s and every eigenvalue, [..., M]."""
    factors: FloatArray = (1 - found) / (1 - found * points[..., None])
    return factors


@njit(cache=True, nogil=True)
def _add(a, b):  # type: ignore[no-untyped-def]
    """log(exp(a) + exp(b))."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@njit(cache=True, nogil=True)
def _log_passage(alpha, gamma, times):  # type: ignore[no-untyped-def]
    """Fills times [M + 1] from log alpha and log gamma."""
    size = alpha.shape[0]
    one_step = -np.inf
    for i in range(size - 1, -1, -1):
        one_step = _add(0.0, gamma[i] + one_step) - alpha[i]
        times[i + 1] = one_step
    times[0] = -np.inf
    for i in range(1, size + 1):
        times[i] = _add(times[i - 1], times[i])


@njit(cache=True, nogil=True)
def _log_inverse_iteration(diagonal, above, work):  # type: ignore[no-untyped-def]
    """Logarithm of the largest eigenvalue of (B B')^-1; work [2, M], its first row zeros."""
    size = diagonal.shape[0]
    vector, solved = work[0], work[1]
    before = -np.inf
    for _ in range(10_000):
        last = -np.inf
        for i in range(size - 1, -1, -1):  # B w = vector
            last = _add(vector[i], above[i] + last) - diagonal[i]
            solved[i] = last
        last = solved[0] - diagonal[0]
        solved[0] = last
        for i in range(1, size):  # B' x = w
            last = _add(solved[i], above[i - 1] + last) - diagonal[i]
            solved[i] = last
        top, bottom = -np.inf, -np.inf  # Rayleigh's quotient
        for i in range(size):
            top = _add(top, vector[i] + solved[i])
            bottom = _add(bottom, 2 * vector[i])
        now = top - bottom
        largest = np.max(solved)
        for i in range(size):
            vector[i] = solved[i] - largest
        if abs(now - before) < 1e-14 * max(1.0, abs(now)):
            break
        before = now
    return now


@njit(cache=True, nogil=True)
def _log_reach(alpha, beta, gamma, steps, reach, lengths):  # type: ignore[no-untyped-def]
    """Iterates P(reach 0 within n) in logarithms; returns the row of reach [2, M + 1] it is in."""
    size = alpha.shape[0]
    now = 0
    for _ in range(steps):
        old, new = reach[now], reach[1 - now]
        for i in range(1, size + 1):
            lengths[i] += max(0.0, -np.expm1(old[i]))
            total = alpha[i - 1] + old[i - 1]
            if beta[i - 1] > -np.inf:
                total = _add(total, beta[i - 1] + old[i])
            if i < size and old[i + 1] > -np.inf:
                total = _add(total, gamma[i - 1] + old[i + 1])
            new[i] = total
        now = 1 - now
    return now
