"""One self-contained page about runs: what came out, pictures, tables, claims, how to repeat it.

Comes in: claims with verdicts, records of runs, pictures as bytes. Goes out: the page as text. Does
not know: who trained, or where files are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from backplay.report.axes import colour_of
from backplay.report.exhibit import Table
from backplay.report.records import RunRecord, grouped
from backplay.report.sheet import (
    Picture,
    Tile,
    films_section,
    folded,
    listed,
    pairs,
    paragraph,
    section,
    sheet,
    shown,
    table,
    tiles,
)
from backplay.report.texts import (
    Cells,
    Judged,
    claims_cells,
    headline,
    results_cells,
    words_in,
)

DECIDED = ("holds", "fails", "undecided")
MOST = 30  # rows of results that are not folded
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


def write_page(
    title: str,
    about: str,
    records: Sequence[RunRecord],
    *,
    command: str,
    judged: Sequence[Judged] = (),
    pictures: Sequence[Picture] = (),
    films: Sequence[Picture] = (),
    tables: Sequence[Table] = (),
    first: Sequence[str] = (),
) -> str:
    """The page.

    Args:
        title: of the experiment.
        about: what it is; each line is a paragraph.
        records: of all runs, finished or not.
        command: what to type to get it again.
        judged: claims and what the runs say about them.
        pictures: figures, in the order they are shown.
        films: episodes that move.
        tables: in front of the results.
        first: sections of HTML above all pictures.
    """
    decided = [one for one in judged if one[1].word in DECIDED]
    others = [one for one in judged if one[1].word not in DECIDED]
    return sheet(
        f"backplay: {title}",
        title,
        about.splitlines(),
        [
            *first,
            *(shown(picture) for picture in pictures),
            films_section(films),
            *(_table(one) for one in tables),
            _results(records),
            section("Claims", *_claims(decided, records), note=_CLAIMS_NOTE) if decided else "",
            _again(command),
            _provenance(records),
            _unfinished(records),
            _undecided(others, records, alone=not decided),
        ],
        outcome=_outcome(judged, records),
    )


def _outcome(judged: Sequence[Judged], records: Sequence[RunRecord]) -> str:
    """What came out, for the first screen: a number for each regime, and how many claims hold."""
    words, cards = headline(grouped(records))
    regimes = [regime for regime, _ in cards]
    found = [Tile(name, text, colour_of(name, regimes)) for name, text in cards]
    counts = Counter(
        verdict.word if verdict.word in DECIDED else "left open" for _, verdict in judged
    )
    names = {"holds": "held up", "fails": "refuted", "undecided": "undecided",
             "left open": "left open (too few runs or frames)"}  # fmt: skip
    said = ", ".join(f"{counts[word]} {text}" for word, text in names.items() if counts[word])
    return "\n".join(
        part
        for part in (
            paragraph(words) + tiles(found) if found else "",
            paragraph(f"Of {len(judged)} claims: {said}.") if judged else "",
        )
        if part
    )


def _claims(judged: Sequence[Judged], records: Sequence[RunRecord]) -> list[str]:
    head, *rows = claims_cells(judged, records)
    cells: Cells = [head]
    for (claim, _), (text, *rest) in zip(judged, rows, strict=True):
        cells.append((f"{text}\n{claim.quantity.words}", *rest))
    notes = [f"{claim.text}: {verdict.note}." for claim, verdict in judged if verdict.note]
    return [
        table(cells, left=2, words=True, name="Claims"),
        folded("What else to know", listed(notes)) if notes else "",
    ]


def _undecided(judged: Sequence[Judged], records: Sequence[RunRecord], *, alone: bool) -> str:
    """Claims for which there are too few runs or frames, to be opened."""
    if not judged:
        return ""
    count = f"{len(judged)} claim{'s' if len(judged) > 1 else ''}"
    note = [paragraph(_CLAIMS_NOTE)] if alone else []
    inside = folded(f"{count} left open", *_claims(judged, records), *note)
    return section("Claims that these runs leave open", inside)


def _table(one: Table) -> str:
    words = max((len(row[0]) for row in one.cells), default=0) > 40
    filled = table(one.cells, left=2 if words else one.left, words=words, name=one.title)
    return section(one.title, filled, note=one.note)


def _results(records: Sequence[RunRecord]) -> str:
    cells = results_cells(grouped(records))
    if len(cells) == 1:
        return section("Results", paragraph("No run has ended yet."))
    below = [[cell.replace(" [", "\n[") for cell in row] for row in cells]  # else it is too wide
    filled = table(below if words_in(cells) == 2 else cells, left=words_in(cells), name="Results")
    long = folded(f"{len(cells) - 1} rows", filled) if len(cells) > MOST else filled
    return section("Results", long, note=_RESULTS_NOTE)


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
