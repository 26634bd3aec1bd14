"""FailureBins: starts where episodes fail, and a few anywhere.

The sampling of BeyondMimic (Liao et al. 2025, "From motion tracking to versatile humanoid
control"), after their code whole_body_tracking.

As there: bins along the demonstration; the weight of a bin is its running failure rate, and a tenth
of a uniform one.

Otherwise than there: a failure belongs to the bin where its episode started, since a message does
not say where it failed; no smoothing over neighbouring bins; the running mean counts episodes of
the bin, not steps of the simulator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backplay.curricula.curriculum import FloatArray, real_number, whole_number
from backplay.curricula.learnability import bin_of, spread
from backplay.curricula.memory import PerDemonstration, Row, Seen

RUNNING = 0.02  # weight of the last episode in a bin's failure rate


@dataclass(frozen=True)
class FailureBins(PerDemonstration):
    """Weights by the failure rate of bins. A row holds these rates, from the end on."""

    bins: int = 16
    """Of equal length, on each demonstration."""
    uniform: float = 0.1
    """Added to every failure rate, divided by the number of bins."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "bins", whole_number("bins", self.bins, at_least=1))
        uniform = real_number("uniform", self.uniform, at_least=1e-6)
        object.__setattr__(self, "uniform", uniform)

    @property
    def first(self) -> Row:
        """No failure yet: uniform."""
        return (0.0,) * self.bins

    def moved(self, row: Row, episode: Seen) -> Row:
        """One more success or failure in a bin."""
        at, now = bin_of(episode.back, episode.length, self.bins), list(row)
        now[at] += RUNNING * (float(not episode.success) - now[at])
        return tuple(now)

    def weights(self, demo: int, length: int) -> FloatArray:
        """By failure: [length + 1]."""
        return spread(np.array(self.row(demo)) + self.uniform / self.bins, length)

    def describe(self) -> str:
        """One short line, e.g. "by failure, 83% from the first of 16 bins"."""
        rates = [row[-1] for row in self.state.rows] or [0.0]
        return f"by failure, {np.mean(rates):.0%} from the first of {self.bins} bins"
