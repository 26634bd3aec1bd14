"""A whole report of runs: verdicts, tables, figures, the page, each as what goes into a file.

Comes in: records of runs, claims. Goes out: text and bytes by file name. Does not know: where they
are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from backplay.report.claims import Claim, Final
from backplay.report.exhibit import FIGURES, Exhibit, Table
from backplay.report.figures import as_png, as_svg, draw_bars, draw_curves, draw_starts
from backplay.report.judging import Scale, judge
from backplay.report.page import write_page
from backplay.report.records import Group, RunRecord, grouped, measures_of
from backplay.report.sheet import Picture
from backplay.report.texts import Cells, Judged, claims_cells, overall_cells, results_cells

PAGE, RESULT = "index.html", "result.json"
_PREFERRED = ("success", "optimal")
_TITLES = {"success": "reached the goal", "optimal": "on a shortest path"}
CURVES_WORDS = (
    "Measured from the true start. Thick: the mean over seeds. Thin: each seed; from five seeds on"
    " a band, the 95 % interval."
)
_WORDS = {
    "curves": (
        "Learning curves",
        f"{CURVES_WORDS} Dotted: where nothing was trained, what it came to.",
    ),
    "bars": (
        "What runs came to",
        "Bars: mean over seeds; lines: 95 % interval; dots: each seed. Diamonds: the paper.",
    ),
    "starts": (
        "Where episodes started, and whether they reached the goal",
        "Upwards: steps back from the end of the demonstration; the strip above: the true start."
        " Paler: fewer of the episodes at that time. Starts that are on no demonstration are left"
        " out.",
    ),
}
_OVERALL_NOTE = (
    "The mean of the middle half of all runs of a regime. The interval is a bootstrap over seeds"
    " within settings; of few runs it is too narrow."
)


@dataclass(frozen=True)
class Report:
    """What to show and what to write."""

    claims: Cells
    """The table of claims; a head alone where there are none."""
    results: Cells
    """The table of results; a head alone where no run has ended."""
    unfinished: list[str]
    """Paths of runs that have not ended."""
    files: dict[str, bytes]
    """The page, the numbers and the figures by name; the page is `PAGE`."""


def build_report(
    records: Sequence[RunRecord],
    *,
    title: str,
    about: str,
    command: str,
    claims: Sequence[Claim] = (),
    exhibit: Exhibit | None = None,
    figures: Sequence[str] = FIGURES,
    scale: Scale | None = None,
) -> Report:
    """The report of runs, the same for the same runs.

    Args:
        records: of all runs, finished or not.
        title: at the top of the page.
        about: what it is; each line is a paragraph.
        command: what to type to get it again.
        claims: to be judged.
        exhibit: what these runs have to show besides; the files of its figures have their titles.
        figures: which of FIGURES to draw, as far as there is something in them.
        scale: how much of an experiment the runs are; too little decides no claim.
    """
    rng = np.random.default_rng(0)
    exhibit = exhibit or Exhibit()
    judged = [(claim, judge(claim, records, rng, scale=scale)) for claim in claims]
    groups = grouped(records)
    drawn = draw_figures(groups, paper_marks(claims), figures)
    named = [(name, *_WORDS[name], figure) for name, figure in drawn.items()]
    named += [
        (file_of(name), name, exhibit.words.get(name, ""), figure)
        for name, figure in exhibit.figures.items()
    ]
    files: dict[str, bytes] = {}
    pictures = []
    for name, heading, words, figure in named:
        svg = as_svg(figure)
        files |= {f"{name}.png": as_png(figure), f"{name}.svg": svg}
        pictures.append(Picture(heading, "image/svg+xml", svg, words))
    overall = Table("Over all settings", _OVERALL_NOTE, overall_cells(groups, rng))
    if scale and not scale.is_enough:
        about = f"{scale.words}\n{about}"
    page = write_page(
        title, about, records, command=command,
        judged=judged, pictures=pictures, films=exhibit.films,
        tables=[one for one in (*exhibit.tables, overall) if len(one.cells) > 1],
    )  # fmt: skip
    files |= {PAGE: page.encode(errors="replace"), RESULT: b""}
    files[RESULT] = _numbers(judged, records, command, sorted(files))
    return Report(
        claims_cells(judged, records),
        results_cells(groups),
        [run.path for run in records if not run.finished],
        files,
    )


def file_of(title: str) -> str:
    """The name of the files of an extra figure, without their ends."""
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    if not name or name in FIGURES:
        raise ValueError(f"a figure of its own needs a title of its own, not {title!r}")
    return name


def draw_figures(
    groups: Sequence[Group],
    paper: Mapping[tuple[str, str, str], float],
    names: Sequence[str] = FIGURES,
) -> dict[str, Figure]:
    """Those of the named figures that have something in them."""
    found: dict[str, Figure] = {}
    curves = _curve_measures(groups)
    if "curves" in names and curves:
        titles = {name: _TITLES.get(name, name.replace("_", " ")) for name in curves}
        found["curves"] = draw_curves(groups, titles)
    measure = _bar_measure(groups, paper)
    if "bars" in names and measure is not None:
        marks = {key[:2]: value for key, value in paper.items() if key[2] == measure}
        found["bars"] = draw_bars(groups, measure, measure.replace("_", " "), marks)
    if "starts" in names and any(run.starts for group in groups for run in group.runs):
        found["starts"] = draw_starts(groups)
    return found


def paper_marks(claims: Sequence[Claim]) -> dict[tuple[str, str, str], float]:
    """The paper's numbers for what runs measure at their end, by setting, regime and measure."""
    return {
        (claim.quantity.setting, claim.quantity.regime, claim.quantity.measure): claim.paper
        for claim in claims
        if isinstance(claim.quantity, Final) and claim.paper is not None
    }


def _curve_measures(groups: Sequence[Group]) -> list[str]:
    """The two measures of evaluations to draw: success and shortest paths, or the first two."""
    seen = dict.fromkeys(
        name
        for group in groups
        for run in group.runs
        for _, measured in run.curve
        for name in measured
    )
    preferred = [name for name in _PREFERRED if name in seen]
    return preferred or list(seen)[:2]


def _bar_measure(
    groups: Sequence[Group], paper: Mapping[tuple[str, str, str], float]
) -> str | None:
    """The measure with most of the paper's numbers; else success, else the first."""
    measures = measures_of(run for group in groups for run in group.ended)
    if not measures:
        return None
    marks = [measure for _, _, measure in paper]
    order = sorted(
        measures, key=lambda name: (-marks.count(name), name != "success", measures.index(name))
    )
    return order[0]


def _numbers(
    judged: Sequence[Judged], records: Sequence[RunRecord], command: str, files: Sequence[str]
) -> bytes:
    """Everything behind the page, as JSON; a number that is not finite is text."""
    tree = {
        "command": command,
        "files": list(files),
        "claims": [
            {
                "claim": _plain(asdict(claim)), "measured": claim.quantity.words,
                "verdict": _plain(asdict(verdict)),
            }
            for claim, verdict in judged
        ],
        "runs": [
            {
                name: getattr(run, name)
                for name in (
                    "path", "kind", "setting", "regime", "seed", "frames", "seconds", "finished",
                    "measures", "provenance",
                )
            }
            for run in records
        ],
    }  # fmt: skip
    return (json.dumps(tree, indent=1, default=str) + "\n").encode()


def _plain(tree: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _plain(part)
        if isinstance(part, dict)
        else str(part)
        if isinstance(part, float) and not np.isfinite(part)
        else part
        for name, part in tree.items()
    }
