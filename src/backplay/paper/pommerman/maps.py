"""On how many maps runs won how often, beside the paper's count: a table.

Comes in: records of runs whose result holds `training.sampled.maps_won` (maps won at least so
often, by share) and `by_map` (the share won on each). Goes out: tables. Does not know: the game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backplay.report.exhibit import Table
from backplay.report.records import Group, RunRecord, grouped
from backplay.report.texts import Cells

_NOTE = (
    "How many maps were won at least so often, from their first state with drawn actions; means"
    " over the seeds that have ended."
)
_PAPER = (
    " The paper's table counts maps between two shares, whatever its caption says (its rows do not"
    " grow); here they are added up."
)


def maps_cells(groups: Sequence[Group], paper: Mapping[str, int] | None = None) -> Cells:
    """A row for each share of games, a column for each group with a count; a head alone if none.

    Args:
        groups: of one setting.
        paper: its counts, by share.
    """
    counted = [(group, found) for group in groups if (found := _counts(group))]
    shares = dict.fromkeys(share for _, found in counted for one in found for share in one)
    total = max((_maps(run) for group, _ in counted for run in group.ended), default=0)
    head = ["won at least", *(["the paper"] if paper else [])]
    seeds = [f"{len(found)} seed{'s' if len(found) > 1 else ''}" for _, found in counted]
    ends = (f"{group.regime}, {n}" for (group, _), n in zip(counted, seeds, strict=True))
    rows: Cells = [(*head, *ends)]
    for share in shares if total else ():
        theirs = [f"{paper[share]} of 100" if share in paper else "–"] if paper else []
        ours = [f"{np.mean([one.get(share, 0) for one in f]):.3g} of {total}" for _, f in counted]
        rows.append((f"{share} of the games", *theirs, *ours))
    return rows


def maps_tables(
    records: Sequence[RunRecord], paper: Mapping[str, Mapping[str, int]]
) -> list[Table]:
    """A table for each setting that counted maps; the paper's counts are by setting."""
    groups = grouped(records)
    found = []
    for setting in dict.fromkeys(group.setting for group in groups):
        theirs = paper.get(setting)
        cells = maps_cells([group for group in groups if group.setting == setting], theirs)
        if len(cells) > 1:
            note = _NOTE + (_PAPER if theirs else "")
            found.append(Table(f"Maps won: {setting}", note, cells))
    return found


def _counts(group: Group) -> list[dict[str, int]]:
    """Of each run that has ended and counted."""
    found = []
    for run in group.ended:
        won = _sampled(run).get("maps_won")
        if isinstance(won, Mapping) and all(type(count) is int for count in won.values()):
            found.append({str(share): count for share, count in won.items()})
    return found


def _maps(run: RunRecord) -> int:
    by_map = _sampled(run).get("by_map")
    return len(by_map) if isinstance(by_map, list) else 0


def _sampled(run: RunRecord) -> Mapping[str, Any]:
    training = run.result.get("training")
    sampled = training.get("sampled") if isinstance(training, Mapping) else None
    return sampled if isinstance(sampled, Mapping) else {}
