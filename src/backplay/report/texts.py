"""Numbers, tables of results and tables of claims as text.

Comes in: claims with verdicts, groups of records. Goes out: cells, a head first. Does not know:
whether they end up on a page or in a terminal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from backplay.report.claims import Claim, Difference, Final, FramesTo, Ratio, Verdict
from backplay.report.records import Group, RunRecord, is_share, measures_of
from backplay.report.statistics import Estimate, student_interval

Judged = tuple[Claim, Verdict]
Cells = list[tuple[str, ...]]
CLAIMS_HEAD = ("claim", "where", "paper", "ours", "seeds", "verdict")
COLUMNS = 8  # measures that a table shows at most; the rest is in the numbers


def claims_cells(judged: Sequence[Judged], records: Sequence[RunRecord]) -> Cells:
    """Text, place, the paper's number, ours with its interval, seeds, verdict."""
    rows: Cells = [CLAIMS_HEAD]
    for claim, verdict in judged:
        unit = _unit(claim, records)
        paper = "–" if claim.paper is None else number(claim.paper, unit)
        if verdict.estimate is None:
            ours = "–"
        else:
            ours = estimate(Estimate(verdict.estimate, verdict.low, verdict.high), unit)
        seeds = f"{verdict.seeds}" if verdict.seeds else "–"
        rows.append((claim.text, claim.where, paper, ours, seeds, verdict_words(verdict)))
    return rows


def verdict_words(verdict: Verdict) -> str:
    """The word, and with one seed the side it points to."""
    if verdict.points is None:
        return verdict.word
    return f"{verdict.word}, points to {verdict.points!r}".replace("'", "“", 1).replace("'", "”")


def results_cells(groups: Sequence[Group]) -> Cells:
    """A row for each group with a run that has ended: means and intervals over seeds."""
    ended = [group for group in groups if group.ended]
    measures = measures_of(run for group in ended for run in group.ended)[:COLUMNS]
    names = [name.replace("_", " ") for name in measures]
    rows: Cells = [("setting", "regime", "seeds", "frames", *names, "minutes")]
    units = {name: _measure_unit(name, ended) for name in measures}
    for group in ended:
        minutes = float(np.mean([run.seconds for run in group.ended])) / 60
        cells = [_mean_cell(group.values(name), units[name]) for name in measures]
        frames = number(group.first.frames, "frames") if group.first.frames else "–"
        seeds = f"{len(group.ended)}"
        rows.append((group.setting, group.regime, seeds, frames, *cells, f"{minutes:.1f}"))
    return rows


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
        return f"{100 * value:.0f}%" if abs(value) in (0, 1) else f"{100 * value:.3g}%"
    if unit == "points":
        return f"{100 * value:+.3g} points"
    if unit == "frames":
        for size, letter in ((1e6, " M"), (1e3, "k")):
            if abs(value) >= size:
                return f"{value / size:.3g}{letter}"
        return f"{value:.0f}"
    return "0" if abs(value) < 5e-4 else f"{value:.3g}"


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


def _mean_cell(values: Sequence[float], unit: str) -> str:
    return estimate(student_interval(values), unit) if values else "–"


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
        return "frames"
    assert isinstance(part, Final)
    found = (run.measures.get(part.measure) for run in records)
    if not is_share(part.measure, [value for value in found if value is not None]):
        return ""
    return "points" if isinstance(quantity, Difference) else "share"
