"""Claims as data, and what runs have to say about them.

Comes in: claims, and records of runs. Goes out: verdicts. Does not know: who trained, or how a
verdict is shown.

The interval over seeds decides: Student's for a mean; for differences and ratios, draws of such
means put together. It says nothing with one seed, so then there is only a direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from backplay.errors import BackplayError, show
from backplay.report.records import Group, RunRecord, grouped
from backplay.report.statistics import FloatArray, central, frames_to, student_draws

Word = Literal["holds", "fails", "undecided", "one seed", "not run"]


@dataclass(frozen=True)
class Final:
    """The mean over seeds of what runs measured at their end."""

    setting: str
    regime: str
    measure: str


@dataclass(frozen=True)
class FramesTo:
    """Frames to the first evaluation at or above a threshold: the geometric mean over seeds.

    Infinite where a seed never got there. Its interval then begins at the least frames of any seed,
    with the budget for one that never got there, and has no end.
    """

    setting: str
    regime: str
    measure: str
    threshold: float


@dataclass(frozen=True)
class Difference:
    """The first less the second."""

    first: Final | FramesTo
    second: Final | FramesTo


@dataclass(frozen=True)
class Ratio:
    """The first over the second; a second that may be 0 or less has no upper end."""

    first: Final | FramesTo
    second: Final | FramesTo


Quantity = Final | FramesTo | Difference | Ratio


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Something that runs can hold up or refute."""

    text: str
    """In words."""
    where: str
    """In the paper: "Table 2"."""
    quantity: Quantity
    """What is measured."""
    paper: float | None = None
    """The paper's number for it; None where it gives only words."""
    holds: Literal["at least", "at most", "near"]
    """How the quantity must lie to the target."""
    target: float | None = None
    """By default the paper's number."""
    tolerance: float = 0.0
    """How far from the target is still near."""

    def __post_init__(self) -> None:
        if self.holds not in ("at least", "at most", "near"):
            _refuse(self, "holds", "'at least', 'at most' or 'near'", self.holds)
        if self.target is None and self.paper is None:
            _refuse(self, "target", "a number, where the paper gives none", None)
        if not np.isfinite(self.aim):
            _refuse(self, "target", "a finite number", self.aim)
        if not (self.tolerance > 0 if self.holds == "near" else self.tolerance == 0):
            _refuse(self, "tolerance", "more than 0 for 'near', else 0", self.tolerance)

    @property
    def aim(self) -> float:
        """The target, which is the paper's number unless another is given."""
        aim = self.paper if self.target is None else self.target
        assert aim is not None
        return aim


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the runs say about a claim."""

    word: Word
    estimate: float | None = None
    """None where there is no run."""
    low: float | None = None
    """Of the 95 % interval over seeds; None with one seed."""
    high: float | None = None
    seeds: int = 0
    """Of the quantity's runs; the lesser number where it compares two."""
    points: Literal["holds", "fails"] | None = None
    """With one seed: the side of the target that its estimate is on."""
    note: str = ""
    """What else to know: seeds that never got there, runs that have not ended."""


class _Sample(NamedTuple):
    """One mean over seeds."""

    value: float
    draws: FloatArray
    seeds: int
    note: str


def judge(claim: Claim, records: Sequence[RunRecord], rng: np.random.Generator) -> Verdict:
    """The verdict of the runs that have ended.

    "holds" or "fails" if all of the interval does, "undecided" if it is on both sides. Where a
    setting and regime was run with several budgets, the largest is judged.
    """
    parts = _parts(claim.quantity)
    samples = [_sample(part, records, rng) for part in parts]
    found = [sample for sample in samples if isinstance(sample, _Sample)]
    note = "; ".join(
        dict.fromkeys(one if isinstance(one, str) else one.note for one in samples)
    ).strip("; ")
    if len(found) < len(parts):
        return Verdict(word="not run", note=note)
    seeds = min(sample.seeds for sample in found)
    value = float(_combined(claim.quantity, [np.array([one.value]) for one in found])[0])
    if np.isnan(value):
        return Verdict(word="undecided", seeds=seeds, note=note or "0 over 0")
    if seeds == 1:
        side: Literal["holds", "fails"] = "holds" if _inside(claim, value, value) else "fails"
        return Verdict(word="one seed", estimate=value, seeds=1, points=side, note=note)
    draws = _combined(claim.quantity, [one.draws for one in found])
    # Infinity by infinity may be anything: it widens the interval on both sides.
    unknown = np.isnan(draws)
    low = central(np.where(unknown, -np.inf, draws))[0]
    high = central(np.where(unknown, np.inf, draws))[1]
    word: Word = "undecided"
    if _inside(claim, low, high):
        word = "holds"
    elif _outside(claim, low, high):
        word = "fails"
    return Verdict(word=word, estimate=value, low=low, high=high, seeds=seeds, note=note)


def _parts(quantity: Quantity) -> list[Final | FramesTo]:
    if isinstance(quantity, Difference | Ratio):
        return [quantity.first, quantity.second]
    return [quantity]


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
    part: Final | FramesTo, records: Sequence[RunRecord], rng: np.random.Generator
) -> _Sample | str:
    """What the runs say about one mean; in words why there is none."""
    here = [run for run in records if (run.setting, run.regime) == (part.setting, part.regime)]
    groups = [group for group in grouped(here) if group.ended]
    name = f"{part.setting}, {part.regime}"
    if not groups:
        return f"{name}: not ended" if here else f"{name}: no run"
    group = max(groups, key=lambda one: one.first.frames)
    late = len(group.runs) - len(group.ended)
    note = f"{name}: {late} not ended" if late else ""
    if isinstance(part, FramesTo):
        return _frames_sample(part, group, rng, note)
    values = group.values(part.measure)
    if not values:
        return f"{name}: no {part.measure}"
    centre = float(np.mean(values))
    return _Sample(centre, student_draws(values, rng), len(values), note)


def _frames_sample(
    part: FramesTo, group: Group, rng: np.random.Generator, note: str
) -> _Sample | str:
    curves = [
        [(at, measured[part.measure]) for at, measured in run.curve if part.measure in measured]
        for run in group.ended
    ]
    curves = [curve for curve in curves if curve]
    if not curves:
        return f"{part.setting}, {part.regime}: no curve of {part.measure}"
    crossed = [frames_to(curve, part.threshold) for curve in curves]
    known = [max(1, at) for at in crossed if at is not None]
    if len(known) == len(crossed):
        logs = np.log(known).tolist()
        centre = float(np.exp(np.mean(logs)))
        return _Sample(centre, np.exp(student_draws(logs, rng)), len(known), note)
    least = min([*known, *(curve[-1][0] for curve in curves)])
    draws = np.full(9_999, np.inf)
    draws[: len(draws) // 2] = least  # all that is known: at least this, perhaps never
    never = f"{part.regime}: {len(crossed) - len(known)} of {len(crossed)} seeds never got there"
    notes = "; ".join(one for one in (never, note) if one)
    return _Sample(np.inf, rng.permutation(draws), len(crossed), notes)


def _inside(claim: Claim, low: float, high: float) -> bool:
    """Whether the claim is true of everything from `low` to `high`."""
    if claim.holds == "at least":
        return low >= claim.aim
    if claim.holds == "at most":
        return high <= claim.aim
    return claim.aim - claim.tolerance <= low and high <= claim.aim + claim.tolerance


def _outside(claim: Claim, low: float, high: float) -> bool:
    """Whether it is false of everything from `low` to `high`."""
    if claim.holds == "at least":
        return high < claim.aim
    if claim.holds == "at most":
        return low > claim.aim
    return high < claim.aim - claim.tolerance or low > claim.aim + claim.tolerance


def _refuse(claim: Claim, field: str, expected: str, got: object) -> None:
    raise BackplayError(f"claim {claim.text!r}, {field}", expected=expected, got=show(got))
