"""Two sets of runs side by side: differences with intervals, the chance that one beats the other.

Comes in: groups of records, from two places. Goes out: what they were asked for differently, then
numbers, as cells of text. Does not know: how any of it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from backplay.report.means import draws_of, mean_of
from backplay.report.page import flat
from backplay.report.records import Group, is_share, short
from backplay.report.statistics import (
    Estimate,
    FloatArray,
    central,
    probability_of_improvement,
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
    """Groups that were asked for the same; of the others, of the same setting, regime and frames.

    Where there are none such, groups of the same kind and setting that are alone in it: so folders
    of two regimes, or two budgets, can be compared.
    """
    same = _matched(first, second, lambda one: (*_named(one), one.first.asked))
    taken = {id(group) for pair in same for group in pair}
    left, right = ([one for one in side if id(one) not in taken] for side in (first, second))
    alike = same + _matched(left, right, _named)
    places = {id(group): place for place, group in enumerate(first)}
    alike.sort(key=lambda pair: places[id(pair.first)])
    return alike or _matched(first, second, lambda one: _named(one)[:2])


def difference_cells(pairs: Sequence[Pair], names: tuple[str, str]) -> Cells:
    """What the two sides were asked for differently, a head first; alone if nothing differs.

    What differs in the same way in all settings is said once.
    """
    rows: dict[tuple[str, str, str], list[str]] = {}
    for pair in pairs:
        sides = [_known(group) for group in pair]
        for name in dict.fromkeys((*sides[0], *sides[1])):
            first, second = (side.get(name, "–") for side in sides)
            kinds = {side.get(f"{name.partition('.')[0]}.kind") for side in sides}
            own = len(kinds) > 1 and "–" in (first, second)  # what only one kind has
            if first != second and not own:
                rows.setdefault((name, first, second), []).append(pair.first.setting)
    found: Cells = [("what differs", *names, "in")]
    for row, settings in rows.items():
        every = len(settings) == len(pairs)
        found.append((*row, "all" if every else "; ".join(dict.fromkeys(settings))))
    return found


def compare(pairs: Sequence[Pair], measure: str, rng: np.random.Generator) -> list[Compared]:
    """A row for each pair that has ended with the measure on both sides; if several, one for all.

    Means with Student's interval. In the row for all every pair counts the same, however many seeds
    it has; a pair with one seed on a side has no interval, and then neither have all.
    """
    both = [
        pair for pair in pairs if pair.first.values(measure) and pair.second.values(measure)
    ]  # fmt: skip
    rows = [_row(pair, measure, rng) for pair in both]
    if len(both) > 1:
        rows.append(_overall(both, measure, rng))
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
                estimate(row.difference, less),
                # One seed on a side says nothing of how others would do.
                "–" if row.improvement.low is None else estimate(row.improvement, "share"),
            )
        )  # fmt: skip
    return cells


def labelled(groups: Sequence[Group], name: str) -> list[Group]:
    """The same groups, with a name behind their regime."""
    return [
        Group([replace(run, regime=f"{run.regime} ({name})") for run in group.runs], group.apart)
        for group in groups
    ]


def _known(group: Group) -> dict[str, str]:
    """What the runs of a group were asked for and made with, by name."""
    run = group.first
    known = {"regime": run.regime, "frames": f"{run.frames:,}"}
    known |= {name: short(value) for name, value in run.asked.items() if name not in known}
    made = [flat({"versions": one.provenance.get("versions", {})}) for one in group.runs]
    commits = (str(one.provenance["commit"]) for one in group.runs if "commit" in one.provenance)
    known |= {"commit": " ".join(dict.fromkeys(commit[:12] for commit in commits))}
    for name in dict.fromkeys(name for one in made for name in one):
        known[f"{name}, version"] = " ".join(dict.fromkeys(one.get(name, "–") for one in made))
    return known


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


def _named(group: Group) -> tuple[object, ...]:
    return group.first.kind, group.first.setting, group.regime, group.first.frames


def _row(pair: Pair, measure: str, rng: np.random.Generator) -> Compared:
    x, y = pair.first.values(measure), pair.second.values(measure)
    draws = [_draws(group, measure, rng) for group in pair]
    frames = {group.first.frames for group in pair}
    return Compared(
        pair.first.setting, pair.name, frames.pop() if len(frames) == 1 else None,
        (len(x), len(y)), mean_of(pair.first, measure), mean_of(pair.second, measure),
        _estimate(float(np.mean(y) - np.mean(x)), _less(draws)),
        probability_of_improvement([y], [x], rng),
    )  # fmt: skip


def _overall(pairs: Sequence[Pair], measure: str, rng: np.random.Generator) -> Compared:
    """The mean over pairs, of each side and of the differences."""
    sides = [[pair[i].values(measure) for pair in pairs] for i in (0, 1)]
    first, second = (float(np.mean([np.mean(values) for values in side])) for side in sides)
    draws = [_mean([_draws(pair[i], measure, rng) for pair in pairs]) for i in (0, 1)]
    seeds = tuple(sum(map(len, side)) for side in sides)
    return Compared(
        "all", "mean of the above", None, (seeds[0], seeds[1]),
        _estimate(first, draws[0]), _estimate(second, draws[1]),
        _estimate(second - first, _less(draws)),
        probability_of_improvement(sides[1], sides[0], rng),
    )  # fmt: skip


def _draws(group: Group, measure: str, rng: np.random.Generator) -> FloatArray | None:
    """What the mean may be; None with one seed, which says nothing about others."""
    return draws_of(group, measure, rng) if len(group.values(measure)) > 1 else None


def _mean(parts: Sequence[FloatArray | None]) -> FloatArray | None:
    known = [part for part in parts if part is not None]
    return np.mean(known, axis=0) if len(known) == len(parts) else None


def _less(draws: Sequence[FloatArray | None]) -> FloatArray | None:
    """The second less the first."""
    first, second = draws
    return None if first is None or second is None else second - first


def _estimate(value: float, draws: FloatArray | None) -> Estimate:
    return Estimate(value, None, None) if draws is None else Estimate(value, *central(draws))
