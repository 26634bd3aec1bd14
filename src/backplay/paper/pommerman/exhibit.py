"""What runs of Pommerman have to show: a game, wins and actions over time, the maps won.

Comes in: records of runs. Goes out: films, tables for each setting, figures. What a run counted
in its metrics is read from its directory again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from backplay.envs.pommerman.draw import picture
from backplay.envs.pommerman.layout import DTYPE
from backplay.envs.pommerman.recordings import play_again
from backplay.envs.pommerman.validity import check_actions, validate
from backplay.errors import BackplayError
from backplay.paper.films import Filmed, films, moments
from backplay.paper.pommerman.actions import Counts, action_counts, draw_actions
from backplay.paper.pommerman.claims import MAPS_WON
from backplay.paper.pommerman.curves import TITLE as WINS
from backplay.paper.pommerman.curves import WORDS as WINS_WORDS
from backplay.paper.pommerman.curves import draw_wins
from backplay.paper.pommerman.maps import each_map_tables, maps_tables
from backplay.report.exhibit import Exhibit
from backplay.report.records import RunRecord, grouped
from backplay.runs import open_run

ACTIONS = "Actions over time (appendix A.7)"
NAMES = ("pass", "up", "down", "left", "right", "bomb")
TILE = 16  # pixels along a cell of the board
_ENDS = {"win": "wins", "tie": "ties", "loss": "loses"}


def exhibit(records: Sequence[RunRecord]) -> Exhibit:
    """All of it, as far as the runs have it."""
    counted = {
        f"{group.setting}: {group.regime}": [_actions_of(run) for run in group.runs]
        for group in grouped(records)
    }
    drawn = {WINS: draw_wins(grouped(records)), ACTIONS: draw_actions(counted, NAMES)}
    return Exhibit(
        figures={title: figure for title, figure in drawn.items() if figure is not None},
        words={WINS: WINS_WORDS},
        tables=(*maps_tables(records, MAPS_WON), *each_map_tables(records)),
        films=films(records, "game", _game),
    )


def _actions_of(record: RunRecord) -> Counts:
    try:
        return action_counts(open_run(Path(record.path)).metrics())
    except BackplayError:  # the record's notes say it already
        return []


def _game(record: RunRecord, kept: dict[str, Any]) -> Filmed:
    """A game, played again by its rules from what all four did."""
    first, actions = np.array(kept["first"], DTYPE), check_actions(kept["actions"])
    validate(first)
    rows = np.repeat(first[None], len(actions) + 1, 0)
    play_again(rows, actions)
    pictures = [picture(rows[at], TILE) for at in moments(len(actions))]
    end = _ENDS.get(kept["result"], kept["result"])
    return pictures, f"seat {kept['seat']} {end} after {len(actions)} steps on the first map."
