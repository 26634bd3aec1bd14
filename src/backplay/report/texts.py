"""Numbers, tables of results and tables of claims as text.

Comes in: claims with verdicts, groups of records. Goes out: cells, a head first. Does not know:
whether they end up on a page or in a terminal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from backplay.report.claims import Claim, Difference, Final, FramesTo, Ratio
from backplay.report.judging import Verdict
from backplay.report.means import mean_of
from backplay.report.records import Group, RunRecord, is_share, measures_of
from backplay.report.statistics import Estimate, bootstrap, iqm

Judged = tuple[Claim, Verdict]
Cells = list[tuple[str, ...]]
CLAIMS_HEAD = ("claim", "where", "holds if", "paper", "ours", "seeds", "verdict")
COLUMNS = 8  # measures that stand side by side at most; more are in rows
TILES = 8  # numbers on the first screen at most
PREFERRED = ("success", "wins", "optimal")
"""Measures that say most about runs, the first of all first."""
_SIGNS = {"at least": ("≥", ">"), "at most": ("≤", "<")}


def claims_cells(judged: Sequence[Judged], records: Sequence[RunRecord]) -> Cells:
    """Text, place, target, the paper's number, ours with its interval, seeds, verdict."""
    rows: Cells = [CLAIMS_HEAD]
    for claim, verdict in judged:
        unit = _unit(claim, records)
        paper = "–" if claim.paper is None else number(claim.paper, unit)
        if verdict.estimate is None:
            ours = "–"
        else:
            ours = estimate(Estimate(verdict.estimate, verdict.low, verdict.high), unit)
        seeds = f"{verdict.seeds}" if verdict.seeds else "–"
        holds = target(claim, unit)
        rows.append((claim.text, claim.where, holds, paper, ours, seeds, verdict_words(verdict)))
    return rows


def target(claim: Claim, unit: str) -> str:
    """How the quantity must lie: `≥ 95%`, `> 1.1`, `76% ± 5 points`."""
    aim = number(claim.aim, unit)
    if claim.holds == "near":
        around = number(claim.tolerance, "points" if unit == "share" else unit).lstrip("+")
        return f"{aim} ± {around}"
    return f"{_SIGNS[claim.holds][claim.strict]} {aim}"


def verdict_words(verdict: Verdict) -> str:
    """The word, and with few seeds the side they point to."""
    if verdict.points is None:
        return verdict.word
    return f"{verdict.word}, points to {verdict.points!r}".replace("'", "“", 1).replace("'", "”")


def results_cells(groups: Sequence[Group]) -> Cells:
    """What groups with a run that has ended came to: means and intervals over seeds.

    A row for each group. Where that would be more than `COLUMNS` measures, or settings that have
    none in common, a row for each measure of each group.
    """
    ended = [group for group in groups if group.ended]
    measures = measures_of(run for group in ended for run in group.ended)
    units = {name: _measure_unit(name, ended) for name in measures}
    if len(measures) > COLUMNS or not _in_common(ended, measures):
        return _in_rows(ended, units)
    names = [name.replace("_", " ") for name in measures]
    rows: Cells = [("setting", "regime", "seeds", "frames", *names, "minutes")]
    for group in ended:
        minutes = float(np.mean([run.seconds for run in group.ended])) / 60
        cells = [_mean_cell(group, name, units[name]) for name in measures]
        seeds = f"{len(group.ended)}"
        rows.append((group.setting, group.regime, seeds, _frames(group), *cells, f"{minutes:.1f}"))
    return rows


def main_measure(groups: Sequence[Group]) -> str | None:
    """The share that says most about runs and that all of them ended with, if there is one."""
    ended = [group for group in groups if group.ended]
    return next((m for m in PREFERRED if ended and all(one.values(m) for one in ended)), None)


def headline(groups: Sequence[Group]) -> tuple[str, list[tuple[str, str]]]:
    """What came out in a number for each regime, and words for it; nothing where none says it.

    Over several settings, their mean, of the regimes that have runs in all of them.
    """
    measure = main_measure(groups)
    ended = [group for group in groups if group.ended]
    settings = len({group.setting for group in ended})
    cards = []
    for regime, own in _once_in_each(ended).items():
        if measure:
            means = [float(np.mean(group.values(measure))) for group in own]
            cards.append((regime, number(round(float(np.mean(means)), 2), "share")))
    if measure is None or not 0 < len(cards) <= TILES:
        return "", []
    over = f"{settings} settings and all seeds" if settings > 1 else "seeds"
    name = measure.replace("_", " ").capitalize()
    return f"{name} from the true start at the end, mean over {over}:", cards


def overall_cells(groups: Sequence[Group], rng: np.random.Generator) -> Cells:
    """Each regime over all settings that have runs; a head alone where there is no comparing them.

    Only regimes with as many seeds in every setting, two at least: else a setting would weigh more.
    """
    ended = [group for group in groups if group.ended]
    settings = dict.fromkeys(group.setting for group in ended)
    measure = main_measure(groups)
    rows: Cells = [("regime", "settings", "seeds in each", f"{measure}, interquartile mean")]
    if measure is None or len(settings) < 2:
        return rows
    for regime, own in _once_in_each(ended).items():
        strata = [group.values(measure) for group in own]
        counts = {len(values) for values in strata}
        if len(counts) != 1 or min(counts) < 2:
            continue
        found = Estimate(float(iqm(np.concatenate(strata))), *bootstrap(strata, iqm, rng))
        share = all(is_share(measure, values) for values in strata)
        counted = f"{len(settings)}", f"{counts.pop()}"
        rows.append((regime, *counted, estimate(found, "share" if share else "")))
    return rows


def _once_in_each(groups: Sequence[Group]) -> dict[str, list[Group]]:
    """The groups of each regime that has one in every setting, and no second of other frames."""
    settings = sorted({group.setting for group in groups})
    by_regime: dict[str, list[Group]] = {}
    for group in groups:
        by_regime.setdefault(group.regime, []).append(group)
    return {
        regime: own
        for regime, own in by_regime.items()
        if sorted(group.setting for group in own) == settings
    }


def words_in(cells: Cells) -> int:
    """How many of the first columns of a table of results are words, set to the left."""
    return 3 if cells[0][2] == "measure" else 2


def _in_rows(groups: Sequence[Group], units: Mapping[str, str]) -> Cells:
    rows: Cells = [("setting", "regime", "measure", "value", "seeds", "frames")]
    for group in groups:
        for name, unit in units.items():
            values = group.values(name)
            if values:
                value, words = _mean_cell(group, name, unit), name.replace("_", " ")
                counts = f"{len(values)}", _frames(group)
                rows.append((group.setting, group.regime, words, value, *counts))
    return rows


def _in_common(groups: Sequence[Group], measures: Sequence[str]) -> bool:
    """Whether there is a measure in every setting, or nothing to share."""
    by_setting: dict[str, set[str]] = {}
    for group in groups:
        found = by_setting.setdefault(group.setting, set())
        found |= {name for name in measures if group.values(name)}
    return not measures or bool(set.intersection(*by_setting.values()))


def _frames(group: Group) -> str:
    """As many as were trained, a little more than were asked for; these if nobody says."""
    trained = [run.result.get("frames") for run in group.ended]
    whole = [frames for frames in trained if isinstance(frames, int)]
    frames = max(whole, default=group.first.frames)
    return number(frames, "frames") if frames else "–"


def estimate(found: Estimate, unit: str) -> str:
    """`76% [70, 82]`: the number and its interval."""
    value, low, high = found.within(0.0, 1.0) if unit == "share" else found
    text = number(value, unit)
    if low is None or high is None:
        return text
    ends = (number(end, unit).removesuffix("%").removesuffix(" points") for end in (low, high))
    return f"{text} [{', '.join(ends)}]"


def number(value: float, unit: str = "") -> str:
    """A number in its unit: "share", "points" (a difference of shares), "frames" or none."""
    if math.isinf(value):
        return ("never" if unit == "frames" else "∞") if value > 0 else "-∞"
    if unit == "share":
        return f"{_tenths(100 * value)}%"
    if unit == "points":
        return f"{'+' if value >= 0 else ''}{_tenths(100 * value)} points"
    if unit == "frames":
        value = float(f"{value:.3g}")  # first: 999,999.9 are a million
        for size, letter in ((1e6, " M"), (1e3, "k")):
            if abs(value) >= size:
                return f"{value / size:.3g}{letter}"
        return f"{value:.0f}"
    return "0" if abs(value) < 5e-4 else f"{value:.3g}"


def _tenths(value: float) -> str:
    """With one digit behind the point, if that is not 0."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def in_columns(cells: Sequence[Sequence[str]], left: int = 1) -> str:
    """A table for a terminal."""
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def _mean_cell(group: Group, measure: str, unit: str) -> str:
    values = group.values(measure)
    if not values:
        return "–"
    some = f" ({len(values)} seeds)" if len(values) < len(group.ended) else ""
    return estimate(mean_of(group, measure), unit) + some


def _measure_unit(measure: str, groups: Sequence[Group]) -> str:
    values = [value for group in groups for value in group.values(measure)]
    return "share" if is_share(measure, values) else ""


def _unit(claim: Claim, records: Sequence[RunRecord]) -> str:
    """In what the quantity of a claim is counted."""
    quantity = claim.quantity
    if isinstance(quantity, Ratio):
        return ""
    part = quantity.first if isinstance(quantity, Difference) else quantity
    if isinstance(part, FramesTo):
        return "" if part.epochs else "frames"
    assert isinstance(part, Final)
    found = (run.measures.get(part.measure) for run in records)
    if not is_share(part.measure, [value for value in found if value is not None]):
        return ""
    return "points" if isinstance(quantity, Difference) else "share"
