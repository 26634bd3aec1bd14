"""One self-contained page about runs: what is claimed, what came out, how to make it again.

Comes in: claims with verdicts, records of runs, pictures as bytes. Goes out: the page as text. Does
not know: who trained, or where files are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from backplay.report.records import RunRecord, grouped
from backplay.report.sheet import (
    Picture,
    folded,
    image,
    listed,
    pairs,
    paragraph,
    section,
    sheet,
    shown,
    table,
)
from backplay.report.texts import Cells, Judged, claims_cells, results_cells, words_in

_OF_ONE_RUN = ("begun", "command")  # the provenance of a run that no other shares
_CLAIMS_NOTE = (
    "Square brackets: 95 % interval over seeds (Student's; for differences and ratios, such means"
    " put together). That of a share is at least as wide as chance makes it for the episodes that"
    " were measured; that of frames to a threshold begins at the evaluation before. The interval"
    " decides: a claim holds or fails if all of the interval does, and is undecided if it lies on"
    " both sides of the target or, where the target itself is not enough (> and <), ends on it."
    " Fewer than three seeds decide nothing and only point to a side, unless the number is computed"
    " without chance. Runs with fewer frames than the experiment asks for decide nothing."
)
_RESULTS_NOTE = (
    "Means over the seeds that have ended, from the true start. Square brackets: Student's 95 %"
    " interval over seeds, that of a share at least as wide as chance makes it for the episodes"
    " that were measured. Minutes: wall time of a run, mean."
)


def write_experiment_page(
    title: str,
    about: str,
    judged: Sequence[Judged],
    records: Sequence[RunRecord],
    figures: Sequence[Picture] = (),
    animations: Sequence[Picture] = (),
    *,
    command: str,
    tables: Sequence[str] = (),
) -> str:
    """The page.

    Args:
        title: of the experiment.
        about: what it is; each line is a paragraph.
        judged: claims and what the runs say about them.
        records: of all runs, finished or not.
        figures: in the order they are shown.
        animations: of episodes, such as GIFs.
        command: what to type to get it again.
        tables: sections of HTML to put before the results.
    """
    return sheet(
        f"backplay: {title}",
        title,
        about.splitlines(),
        [
            _claims(judged, records),
            *tables,
            _results(records),
            *(shown(picture) for picture in figures),
            _animations(animations),
            _again(command),
            _provenance(records),
            _unfinished(records),
        ],
    )


def _claims(judged: Sequence[Judged], records: Sequence[RunRecord]) -> str:
    if not judged:
        return ""
    head, *rows = claims_cells(judged, records)
    cells: Cells = [head]
    for (claim, _), (text, *rest) in zip(judged, rows, strict=True):
        cells.append((f"{text}\n{claim.quantity.words}", *rest))
    notes = [f"{claim.text}: {verdict.note}." for claim, verdict in judged if verdict.note]
    return section(
        "Claims",
        table(cells, left=2, words=True, name="Claims"),
        folded("What else to know", listed(notes)) if notes else "",
        note=_CLAIMS_NOTE,
    )


def _results(records: Sequence[RunRecord]) -> str:
    cells = results_cells(grouped(records))
    if len(cells) == 1:
        return section("Results", paragraph("No run has ended yet."))
    return section(
        "Results", table(cells, left=words_in(cells), name="Results"), note=_RESULTS_NOTE
    )


def _animations(animations: Sequence[Picture]) -> str:
    if not animations:
        return ""
    parts = [
        f"<figure><figcaption><b>{escape(one.title)}</b> {escape(one.words)}</figcaption>"
        f"{image(one)}</figure>"
        for one in animations
    ]
    return section("Episodes", '<div class="maps">', *parts, "</div>")


def _again(command: str) -> str:
    return section("How to make it again", f"<pre>{escape(command)}</pre>")


def _provenance(records: Sequence[RunRecord]) -> str:
    """What runs were made with: once for all that were made with the same."""
    alike: dict[str, list[RunRecord]] = {}
    for run in records:
        made = {name: part for name, part in run.provenance.items() if name not in _OF_ONE_RUN}
        alike.setdefault(json.dumps(made, sort_keys=True, default=str), []).append(run)
    parts = []
    for made_with, some in alike.items():
        named = flat(json.loads(made_with)) or {"provenance": "not known"}
        seeds = sorted({run.seed for run in some})
        named["seeds"] = ", ".join(map(str, seeds))
        count = f"{len(some)} run{'s' if len(some) > 1 else ''}"
        rows: Cells = [("run", "seed", *_OF_ONE_RUN)]
        for run in some:
            own = (str(run.provenance.get(name, "–")) for name in _OF_ONE_RUN)
            rows.append((run.path, f"{run.seed}", *own))
        parts += [pairs(named), folded(count, table(rows, left=3, name="Runs"))]
    return section("What it was made with", *parts)


def flat(tree: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """A tree as names and texts: {"versions": {"numpy": "2"}} is {"numpy": "2"}.

    >>> flat({"cores": 2, "versions": {"numpy": "2", "a": {"b": None}}})
    {'cores': '2', 'numpy': '2', 'a b': 'None'}
    """
    found: dict[str, str] = {}
    for name, part in tree.items():
        if isinstance(part, Mapping):
            found |= flat(part, "" if name == "versions" else f"{before}{name} ")
        else:
            found[f"{before}{name}"] = str(part)
    return found


def _unfinished(records: Sequence[RunRecord]) -> str:
    late = [
        f"{run.path}: {run.reached:,} of {run.frames:,} frames"
        for run in records
        if not run.finished
    ]
    notes = [f"{run.path}: {note}" for run in records for note in run.notes]
    if not late and not notes:
        return ""
    parts = [paragraph("Not ended yet, and in no table:"), listed(late)] if late else []
    parts += [paragraph("Could not be read:"), listed(notes)] if notes else []
    return section("What is not finished", *parts)
