"""What runs have to say about claims.

Comes in: claims, and records of runs. Goes out: verdicts. Does not know: who trained, or how a
verdict is shown.

The interval over seeds decides: Student's for a mean; for differences and ratios, draws of such
means put together. Seeds that agree are no certainty, so it has a least width:

- of a share, that of as many episodes as were measured, were they tossed coins;
- of frames to a threshold, from the evaluation before the crossing to the one behind it.

Fewer than `FEWEST` seeds decide nothing, they only point; nor do runs that are shorter than the
experiment asks for. What is computed without chance (`Claim.exact`) needs a single seed, and its
interval goes from the least to the most of what the seeds have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from backplay.report.claims import Claim, Difference, Final, FramesTo, Quantity, Ratio, parts_of
from backplay.report.means import DRAWS, draws_of
from backplay.report.records import Group, RunRecord, grouped
from backplay.report.statistics import FloatArray, central, frames_to, student_draws

Word = Literal[
    "holds", "fails", "undecided", "few seeds", "one seed", "too few frames", "not run"
]  # fmt: skip
Side = Literal["holds", "fails"]

FEWEST = 3
"""Seeds that can decide."""


class Scale(NamedTuple):
    """How much of an experiment was run."""

    run: float
    """Share of the full number of frames."""
    own: float
    """The experiment's own share."""

    @property
    def is_enough(self) -> bool:
        """Whether its claims can be judged."""
        return self.run >= self.own * (1 - 1e-9)

    @property
    def words(self) -> str:
        """In a sentence."""
        return f"Scale {self.run:g} of the full frames; the experiment's own is {self.own:g}."


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the runs say about a claim."""

    word: Word
    estimate: float | None = None
    """None where there is no run."""
    low: float | None = None
    """Of the 95 % interval over seeds; None with one seed, unless the claim is exact."""
    high: float | None = None
    seeds: int = 0
    """Of the quantity's runs; the lesser number where it compares two."""
    points: Side | None = None
    """With few seeds: the side of the target that the estimate is on."""
    note: str = ""
    """What else to know: seeds that never got there, or are not in it; runs that have not ended."""


class _Sample(NamedTuple):
    """One mean over seeds."""

    value: float
    draws: FloatArray
    seeds: int
    note: str


def judge(
    claim: Claim,
    records: Sequence[RunRecord],
    rng: np.random.Generator,
    *,
    scale: Scale | None = None,
) -> Verdict:
    """The verdict of the runs that have ended.

    "holds" or "fails" if all of the interval does, "undecided" if it is on both sides of the target
    or, where a claim is strict, ends on it. Where a setting and regime was run with several
    budgets, the largest is judged.

    Args:
        claim: to be judged.
        records: of all runs; those of other settings and regimes do not matter.
        rng: pairs the draws of two means.
        scale: how much was run, where that may be less than the claim is about.
    """
    quantity = claim.quantity
    samples = [_sample(part, claim.exact, records, rng) for part in parts_of(quantity)]
    found = [sample for sample in samples if isinstance(sample, _Sample)]
    note = "; ".join(
        dict.fromkeys(one if isinstance(one, str) else one.note for one in samples)
    ).strip("; ")
    if len(found) < len(samples):
        return Verdict(word="not run", note=note)
    seeds = min(sample.seeds for sample in found)
    value = float(_combined(quantity, [np.array([one.value]) for one in found])[0])
    if np.isnan(value):
        return Verdict(word="undecided", seeds=seeds, note=note or "0 over 0")
    low: float | None = None
    high: float | None = None
    if seeds > 1 or claim.exact:
        low, high = _ends(_combined(quantity, [one.draws for one in found]))
    word = _word(claim, low, high, seeds, scale)
    points = _side(claim, value, value) if word in ("few seeds", "one seed") else None
    return Verdict(
        word=word, estimate=value, low=low, high=high, seeds=seeds, points=points, note=note
    )


def _word(
    claim: Claim, low: float | None, high: float | None, seeds: int, scale: Scale | None
) -> Word:
    if scale is not None and not scale.is_enough:
        return "too few frames"
    if low is None or high is None:
        return "one seed"
    if seeds < FEWEST and not claim.exact:
        return "few seeds"
    return _side(claim, low, high) or "undecided"


def _side(claim: Claim, low: float, high: float) -> Side | None:
    if claim.is_true_of(low, high):
        return "holds"
    return "fails" if claim.is_false_of(low, high) else None


def _ends(draws: FloatArray) -> tuple[float, float]:
    """The interval; infinity by infinity may be anything, so it widens it on both sides."""
    unknown = np.isnan(draws)
    low, _ = central(np.where(unknown, -np.inf, draws))
    _, high = central(np.where(unknown, np.inf, draws))
    return low, high


def _combined(quantity: Quantity, values: list[FloatArray]) -> FloatArray:
    """The quantity of its parts, [n] each; NaN where that is not defined."""
    if isinstance(quantity, Difference):
        with np.errstate(invalid="ignore"):
            return np.asarray(values[0] - values[1])
    if isinstance(quantity, Ratio):
        first, second = values
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = first / np.maximum(second, 0.0)
        return np.asarray(ratio)
    return values[0]


def _sample(
    part: Final | FramesTo, exact: bool, records: Sequence[RunRecord], rng: np.random.Generator
) -> _Sample | str:
    """What the runs say about one mean; in words why there is none."""
    here = [run for run in records if (run.setting, run.regime) == (part.setting, part.regime)]
    every = grouped(here)
    groups = [group for group in every if group.ended]
    name = f"{part.setting}, {part.regime}"
    if not groups:
        return f"{name}: not ended" if here else f"{name}: no run"
    group = max(groups, key=lambda one: (one.first.frames, len(one.ended)))
    alike = [one for one in groups if one.first.frames == group.first.frames]
    late = len(group.runs) - len(group.ended)
    larger = max(one.first.frames for one in every)
    notes = [f"{name}: {late} not ended"] if late else []
    if len(alike) > 1:
        notes.append(f"{name}: of {len(alike)} kinds of runs only {group.setting} is judged")
    if larger > group.first.frames:
        notes.append(f"{name}: none of {larger:,} frames has ended, {group.first.frames:,} judged")
    if isinstance(part, FramesTo):
        return _frames_sample(part, group, rng, notes)
    values = group.values(part.measure)
    if not values:
        return f"{name}: no {part.measure}"
    notes += _without(part, group, len(values), part.measure)
    draws = _from_to(min(values), max(values), rng) if exact else draws_of(group, part.measure, rng)
    return _Sample(float(np.mean(values)), draws, len(values), "; ".join(notes))


def _without(part: Final | FramesTo, group: Group, seeds: int, what: str) -> list[str]:
    """That only so many of the seeds that have ended have what is judged, if so."""
    missing = len(group.ended) - seeds
    return [f"{part.setting}, {part.regime}: {missing} without {what}"] if missing else []


def _frames_sample(
    part: FramesTo, group: Group, rng: np.random.Generator, notes: list[str]
) -> _Sample | str:
    curves = [run.curve_of(part.measure) for run in group.ended]
    curves = [curve for curve in curves if curve]
    if not curves:
        return f"{part.setting}, {part.regime}: no curve of {part.measure}"
    notes = notes + _without(part, group, len(curves), f"a curve of {part.measure}")
    crossed = [frames_to(curve, part.threshold) for curve in curves]
    unit = group.first.frames / part.epochs if part.epochs else 1.0
    known = [max(1, at) for at in crossed if at is not None]
    before = [
        max([1, *(at for at, _ in curve if at < found)])
        for curve, found in zip(curves, crossed, strict=True)
        if found is not None
    ]
    if len(known) == len(crossed):
        logs = np.log(known).tolist()
        gap = float(np.mean(logs) - np.mean(np.log(before)))
        draws = np.exp(student_draws(logs, rng, DRAWS, below=gap))
        value = float(np.exp(np.mean(logs))) / unit
        return _Sample(value, draws / unit, len(known), "; ".join(notes))
    least = min([*before, *(curve[-1][0] for curve in curves)])
    never = f"{part.regime}: {len(crossed) - len(known)} of {len(crossed)} seeds never got there"
    # All that is known: at least this, perhaps never.
    draws = _from_to(least / unit, np.inf, rng)
    return _Sample(np.inf, draws, len(crossed), "; ".join([never, *notes]))


def _from_to(low: float, high: float, rng: np.random.Generator) -> FloatArray:
    """Draws of which one half is the one and the other half the other."""
    draws = np.full(DRAWS, high, np.float64)
    draws[: DRAWS // 2] = low
    return rng.permutation(draws)
