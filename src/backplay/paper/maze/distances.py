"""How far from the goal episodes start, over time: the reverse curriculum's progress, and others'.

Comes in: records of runs, whose lines of metrics hold deciles of the starts' distances. Goes out: a
figure, a panel for each setting. Does not know: who drew the starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from backplay.errors import BackplayError
from backplay.report.axes import dress_frames, panels
from backplay.report.records import RunRecord
from backplay.runs import open_run

STARTS = "How far from the goal episodes start"
SHOWN = ("florensa", "backplay", "uniform", "standard")
COLOURS = dict(zip(SHOWN, ("#c23b22", "#0b6bcb", "#3f7d3a", "#8a94a3"), strict=True))

Deciles = list[tuple[int, list[int]]]


def deciles(record: RunRecord) -> Deciles:
    """Frames, and the deciles of the distances of starts then; empty where nothing was kept."""
    try:
        lines = open_run(Path(record.path)).metrics()
    except BackplayError:  # the record's notes say it already
        return []
    found: Deciles = []
    for line in lines:
        at, kept = line.get("frames"), line.get("start_distances")
        if type(at) is int and isinstance(kept, list) and _are_deciles(kept):
            found.append((at, kept))
    return found


def draw_distances(records: Sequence[RunRecord]) -> Figure | None:
    """Median of the starts' distances over frames, and the band between 10 and 90 %."""
    settings: dict[str, dict[str, Deciles]] = {}
    for record in records:
        kept = deciles(record) if record.kind == "maze" and record.regime in SHOWN else []
        if kept and record.regime not in settings.get(record.setting, {}):  # one seed is enough
            settings.setdefault(record.setting, {})[record.regime] = kept
    if not settings:
        return None
    figure, cells = panels(len(settings))
    for axes, (setting, regimes) in zip(cells, settings.items(), strict=True):
        for regime, kept in regimes.items():
            at, rows = np.array([at for at, _ in kept]), np.array([row for _, row in kept])
            colour = COLOURS[regime]
            axes.plot(at, rows[:, 5], color=colour, label=regime, linewidth=1.2)
            axes.fill_between(at, rows[:, 1], rows[:, 9], color=colour, alpha=0.15, linewidth=0)
        dress_frames(axes, setting, "steps to the goal")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, fontsize=8)
    return figure


def _are_deciles(kept: list[object]) -> bool:
    return len(kept) == 11 and all(type(n) is int for n in kept)
