"""Two sets of runs side by side: differences with intervals, the chance that one beats the other.

Comes in: groups of records, from two places. Goes out: numbers and cells of text. Does not know:
what differs between the two, or how any of it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from backplay.report.records import Group, is_share
from backplay.report.statistics import (
    Estimate,
    bootstrap,
    bootstrap_difference,
    central,
    iqm,
    probability_of_improvement,
    student_draws,
    student_interval,
)
from backplay.report.texts import Cells, estimate, number


class Pair(NamedTuple):
    """The same kind of run from both places."""

    first: Group
    second: Group

    @property
    def name(self) -> str:
        """The regime, or both."""
        one, other = self.first.regime, self.second.regime
        return one if one == other else f"{one} / {other}"


class Compared(NamedTuple):
    """What came of a pair, or of all."""

    setting: str
    regime: str
    frames: int | None
    seeds: tuple[int, int]
    first: Estimate
    second: Estimate
    difference: Estimate
    """The second less the first."""
    improvement: Estimate
    """The chance that a seed of the second has more than one of the first."""


def paired(first: Sequence[Group], second: Sequence[Group]) -> list[Pair]:
    """Groups of the same kind, setting, regime and frames.

    Where there are none such, groups of the same kind and setting that are alone in it: so folders
    of two regimes, or two budgets, can be compared.
    """
    exact = _matched(
        first, second, lambda one: (one.first.kind, one.setting, one.regime, one.first.frames)
    )
    return exact or _matched(first, second, lambda one: (one.first.kind, one.setting))


def compare(pairs: Sequence[Pair], measure: str, rng: np.random.Generator) -> list[Compared]:
    """A row for each pair that has ended with the measure on both sides; if several, one for all.

    Means with Student's interval; over all, interquartile means with a bootstrap by setting.
    """
    both = [(pair, pair.first.values(measure), pair.second.values(measure)) for pair in pairs]
    both = [(pair, x, y) for pair, x, y in both if x and y]
    rows = [_row(pair, x, y, rng) for pair, x, y in both]
    if len(both) > 1:
        rows.append(_overall([x for _, x, _ in both], [y for _, _, y in both], rng))
    return rows


def compare_cells(rows: Sequence[Compared], measure: str, names: tuple[str, str]) -> Cells:
    """The table, a head first."""
    one, other = names
    share = is_share(measure, [value for row in rows for value in (row.first[0], row.second[0])])
    unit, less = ("share", "points") if share else ("", "")
    head = ("setting", "regime", "frames", "seeds", one, other)
    cells: Cells = [(*head, f"{other} − {one}", f"P({other} > {one})")]
    for row in rows:
        cells.append(
            (
                row.setting, row.regime,
                "–" if not row.frames else number(row.frames, "frames"),
                f"{row.seeds[0]} / {row.seeds[1]}",
                estimate(row.first, unit), estimate(row.second, unit),
                estimate(row.difference, less), estimate(row.improvement, "share"),
            )
        )  # fmt: skip
    return cells


def labelled(groups: Sequence[Group], name: str) -> list[Group]:
    """The same groups, with a name behind their regime."""
    return [
        Group([replace(run, regime=f"{run.regime} ({name})") for run in group.runs])
        for group in groups
    ]


def _matched(
    first: Sequence[Group], second: Sequence[Group], key: Callable[[Group], tuple[object, ...]]
) -> list[Pair]:
    """Pairs of groups that are the only ones with their key on each side."""
    pairs = []
    for group in first:
        alike = [one for one in first if key(one) == key(group)]
        others = [one for one in second if key(one) == key(group)]
        if len(alike) == len(others) == 1:
            pairs.append(Pair(group, others[0]))
    return pairs


def _row(pair: Pair, x: list[float], y: list[float], rng: np.random.Generator) -> Compared:
    low: float | None = None
    high: float | None = None
    if min(len(x), len(y)) > 1:
        low, high = central(student_draws(y, rng) - student_draws(x, rng))
    value = float(np.mean(y) - np.mean(x))
    frames = {pair.first.first.frames, pair.second.first.frames}
    return Compared(
        pair.first.setting, pair.name, frames.pop() if len(frames) == 1 else None,
        (len(x), len(y)), student_interval(x), student_interval(y), Estimate(value, low, high),
        probability_of_improvement([y], [x], rng),
    )  # fmt: skip


def _overall(x: list[list[float]], y: list[list[float]], rng: np.random.Generator) -> Compared:
    """Everything together, resampled by setting."""
    flat = [[value for values in side for value in values] for side in (x, y)]
    first, second = (float(iqm(values)) for values in flat)
    if max(map(len, (*x, *y))) < 2:  # nothing to resample
        ends: list[tuple[float | None, float | None]] = [(None, None)] * 3
    else:
        ends = [bootstrap(side, iqm, rng) for side in (x, y)]
        ends.append(bootstrap_difference(y, x, iqm, rng))
    return Compared(
        "all", "interquartile mean", None, (len(flat[0]), len(flat[1])),
        Estimate(first, *ends[0]), Estimate(second, *ends[1]),
        Estimate(second - first, *ends[2]), probability_of_improvement(y, x, rng),
    )  # fmt: skip
