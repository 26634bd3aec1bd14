"""Weights by what came of episodes from each bin of a demonstration: Learnability, FailureBins.

`Learnability` starts where success is uncertain: the score p(1 - p) of SFL (Rutherford et al. 2024,
"No Regrets") and ProCuRL (Tzannetos et al. 2023), applied to the places of a demonstration instead
of a pool of tasks. As there: the weight of a place is exp(20 p(1 - p)), ProCuRL's, with p the
success from there and 1 the best that is possible. Otherwise than there: p comes from training
episodes, with older ones counting less, not from rollouts of its own; a place that was hardly tried
is taken to be a little worse than the one after it; places are weighed within a demonstration, and
demonstrations drawn alike; a tenth of the starts is in the initial state, a tenth anywhere.

`FailureBins` starts where episodes fail, and a few anywhere: the sampling of BeyondMimic (Liao et
al. 2025, "From motion tracking to versatile humanoid control"), after their code
whole_body_tracking. As there: the weight of a bin is its running failure rate, and a tenth of a
uniform one. Otherwise than there: a failure belongs to the bin where its episode started, since a
message does not say where it failed; no smoothing over neighbouring bins; the running mean counts
episodes of the bin, the last with 0.02, not steps of the simulator with 0.001.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backplay.curricula.curriculum import FloatArray, as_length, real_number, whole_number
from backplay.curricula.memory import PerDemonstration, Row, Seen
from backplay.curricula.standard import flat, initial_state

INITIAL, UNIFORM = 0.1, 0.1  # shares of other starts
FADE = 0.98  # what a bin's episodes count after one more from it: some fifty are remembered
PRIOR = 4.0  # episodes that the guess from the next bin stands for
HARDER = 0.9  # that guess: success from there, times this
RUNNING = 0.02  # weight of the last episode in a bin's failure rate


@dataclass(frozen=True)
class Learnability(PerDemonstration):
    """Weights exp(sharpness p(1 - p)) over bins of each demonstration.

    A row holds the tries of every bin, from the end on, and then their successes.
    """

    bins: int = 16
    """Of equal length, on each demonstration."""
    sharpness: float = 20.0
    """How much uncertain places are preferred."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "bins", whole_number("bins", self.bins, at_least=1))
        object.__setattr__(self, "sharpness", real_number("sharpness", self.sharpness))

    @property
    def first(self) -> Row:
        """Nothing tried."""
        return (0.0,) * (2 * self.bins)

    def moved(self, row: Row, episode: Seen) -> Row:
        """One more try of a bin."""
        at, now = bin_of(episode.back, episode.length, self.bins), list(row)
        now[at] = FADE * now[at] + 1.0
        now[self.bins + at] = FADE * now[self.bins + at] + float(episode.success)
        return tuple(now)

    def success(self, demo: int) -> FloatArray:
        """What is thought of success from each bin, from the end on: [bins]."""
        row, chance = self.row(demo), 1.0
        found = np.empty(self.bins)
        for k, (tries, wins) in enumerate(zip(row[: self.bins], row[self.bins :], strict=True)):
            chance = (wins + PRIOR * HARDER * chance) / (tries + PRIOR)
            found[k] = chance
        return found

    def weights(self, demo: int, length: int) -> FloatArray:
        """By learnability, with the shares of other starts: [length + 1]."""
        chance = self.success(demo)
        score = np.exp(self.sharpness * chance * (1.0 - chance))
        return (
            (1.0 - INITIAL - UNIFORM) * spread(score, length)
            + INITIAL * initial_state(length)
            + UNIFORM * flat(length)
        )

    def describe(self) -> str:
        """One short line, e.g. "learnability, success from the first bin 12%"."""
        seen = [float(self.success(demo)[-1]) for demo in range(len(self.state.rows))] or [0.0]
        return f"by learnability, success from the first of {self.bins} bins {np.mean(seen):.0%}"


def bin_of(back: int, length: int, bins: int) -> int:
    """The bin of a start, counted from the end: 0 to bins - 1."""
    return min(bins * (max(back, 1) - 1) // length, bins - 1)


def spread(score: FloatArray, length: int) -> FloatArray:
    """The scores of bins [bins], from the end on, as weights of states: [length + 1]."""
    bins, backs = len(score), np.arange(1, as_length(length) + 1)
    where = np.minimum(bins * (backs - 1) // length, bins - 1)
    counts = np.bincount(where, minlength=bins)
    each = np.divide(score, counts, out=np.zeros(bins), where=counts > 0)[where]
    weights = np.zeros(length + 1)
    weights[length - backs] = each / each.sum()
    return weights


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
