"""Chains: a walk seen only as its distance from the goal.

Comes in: probabilities of one step nearer, of staying and of one step away, by distance. Goes out:
a `Chain`, the paper's K-bar. Does not know: graphs, curricula, trials or learning.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from backplay.curricula.curriculum import FloatArray, whole_number
from backplay.errors import BackplayError, ensure, show

SLACK = 1e-9  # how far probabilities may be from summing to 1


@dataclass(frozen=True, eq=False)
class Chain:
    """A walk on the distances 0..M: entry l - 1 of each array belongs to distance l, 0 is the goal.

    >>> Chain.constant(3, 0.25).gamma
    array([0.75, 0.75, 0.  ])
    """

    alpha: FloatArray
    """Probability of l -> l - 1, [M]; all positive."""
    beta: FloatArray
    """Probability of staying at l, [M]."""
    gamma: FloatArray
    """Probability of l -> l + 1, [M]; the last is 0."""

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "gamma"):
            object.__setattr__(self, name, _as_probabilities(name, getattr(self, name)))
        sizes = (len(self.alpha), len(self.beta), len(self.gamma))
        if sizes != (sizes[0],) * 3 or not sizes[0]:
            raise BackplayError("Chain", expected="three arrays [M], M at least 1", got=show(sizes))
        ensure(
            (self.alpha > 0).all(), "alpha", "positive everywhere, or the goal is out of reach",
            self.alpha, do="Merge the states that cannot come nearer.",
        )  # fmt: skip
        if self.gamma[-1] != 0:
            raise BackplayError(
                "gamma", expected="0 at M, the farthest distance", got=show(float(self.gamma[-1])),
                do="Use Chain.of, which lets what would leave stay at M.",
            )  # fmt: skip
        off = float(np.abs(self.alpha + self.beta + self.gamma - 1).max())
        ensure(off <= SLACK, "alpha + beta + gamma", "1 everywhere", got=f"off by {off}")

    @classmethod
    def of(cls, alpha: ArrayLike, beta: ArrayLike = 0.0) -> Self:
        """The chain with these probabilities; what would leave M stays there.

        Args:
            alpha: of l -> l - 1 for l = 1..M, [M].
            beta: of staying, [M] or one number.
        """
        nearer = _as_probabilities("alpha", alpha)
        stay = _as_probabilities("beta", np.broadcast_to(np.asarray(beta), nearer.shape)).copy()
        if (nearer + stay > 1 + SLACK).any():
            raise BackplayError(
                "alpha + beta", expected="at most 1", got=show(float((nearer + stay).max()))
            )
        away = np.maximum(0.0, 1 - nearer - stay)
        if len(away):
            stay[-1], away[-1] = 1 - nearer[-1], 0.0
        return cls(nearer, stay, away)

    @classmethod
    def constant(cls, length: int, alpha: float, beta: float = 0.0) -> Self:
        """The paper's case: the same alpha and beta at every distance 1..length."""
        length = whole_number("length", length, at_least=1)
        return cls.of(np.full(length, alpha), beta)

    @property
    def length(self) -> int:
        """M, the farthest distance."""
        return len(self.alpha)

    @cached_property
    def matrix(self) -> FloatArray:
        """Transition probabilities with the goal absorbing, [M + 1, M + 1]."""
        matrix = np.zeros((self.length + 1, self.length + 1))
        at = np.arange(1, self.length + 1)
        matrix[0, 0] = 1.0
        matrix[at, at - 1] = self.alpha
        matrix[at, at] = self.beta
        matrix[at[:-1], at[1:]] = self.gamma[:-1]
        return matrix

    def merged(self, count: int) -> Chain:
        """The chain in which the distances 1..count have become part of the goal."""
        ensure(0 <= count < self.length, "count", f"0 to {self.length - 1}", count)
        return Chain(self.alpha[count:], self.beta[count:], self.gamma[count:])


def _as_probabilities(name: str, given: ArrayLike) -> FloatArray:
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if array.ndim != 1 or not ((array >= 0) & (array <= 1)).all():
        raise BackplayError(name, expected="probabilities from 0 to 1, [M]", got=show(given))
    array.flags.writeable = False
    return array
