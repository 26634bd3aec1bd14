"""On how many maps runs won how often, beside the paper's count, and how often on each: tables.

Comes in: records of runs whose result holds `training.sampled.maps_won` (maps won at least so
often, by share), and `by_map` (the share won on each) of maps trained on and held out. Goes out:
tables. Does not know: the game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
_EACH_NOTE = "The share of games won, from the first state with drawn actions; means over seeds."
FEW = 12  # maps of which each has a row


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


def each_map_tables(records: Sequence[RunRecord]) -> list[Table]:
    """How often each map was won: those trained on, where they are few, and those held out."""
    groups = grouped(records)
    found = []
    for setting in dict.fromkeys(group.setting for group in groups):
        here = [group for group in groups if group.setting == setting]
        for part, title in (("training", "Each map"), ("held_out", "Each map held out")):
            cells = _each_map_cells(here, part)
            if 1 < len(cells) <= FEW + 2:
                found.append(Table(f"{title}: {setting}", _EACH_NOTE, cells))
    return found


def _each_map_cells(groups: Sequence[Group], part: str) -> Cells:
    """A row for each map and one for all; a head alone where nobody measured."""
    shares = {group.regime: _by_map(group, part) for group in groups}
    shares = {regime: each for regime, each in shares.items() if each.size}
    rows: Cells = [("map", *shares)]
    for number in range(max((each.shape[1] for each in shares.values()), default=0)):
        won = (f"{each[:, number].mean():.0%}" for each in shares.values())
        rows.append((str(number + 1), *won))
    if shares:
        rows.append(("all", *(f"{each.mean():.1%}" for each in shares.values())))
    return rows


def _by_map(group: Group, part: str) -> NDArray[np.float64]:
    """The share of games won on each map by each seed that has ended, [seeds, maps]."""
    each = [_sampled(run, part).get("by_map") for run in group.ended]
    return np.array([one for one in each if isinstance(one, list)], np.float64)


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


def _sampled(run: RunRecord, part: str = "training") -> Mapping[str, Any]:
    found = run.result.get(part)
    sampled = found.get("sampled") if isinstance(found, Mapping) else None
    return sampled if isinstance(sampled, Mapping) else {}
