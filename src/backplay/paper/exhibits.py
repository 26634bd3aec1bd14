"""What some runs have to show besides curves and bars: actions over time, panels of studies.

Comes in: records of runs. Goes out: figures by title. What a run counted in its metrics is read
from its directory again. Does not know: who trained it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from backplay.errors import BackplayError
from backplay.paper.pommerman.actions import Counts, action_counts, draw_actions
from backplay.paper.theory.figures import study_figure
from backplay.report.records import RunRecord, grouped
from backplay.runs import open_run

ACTIONS = "Actions over time (appendix A.7)"
NAMES = ("pass", "up", "down", "left", "right", "bomb")  # of Pommerman


def extra_figures(records: Sequence[RunRecord]) -> dict[str, Figure]:
    """Actions chosen over time, and the panels of studies: by title, as far as there are any."""
    found: dict[str, Figure] = {}
    drawn = draw_actions(_counted(records), NAMES)
    if drawn is not None:
        found[ACTIONS] = drawn
    for record in records:
        study = record.result.get("study")
        if record.kind == "theory" and isinstance(study, dict) and study["title"] not in found:
            figure = study_figure(study)  # of the first seed; the others are as good
            if figure is not None:
                found[study["title"]] = figure
    return found


def _counted(records: Sequence[RunRecord]) -> dict[str, list[Counts]]:
    """The actions that runs of Pommerman counted, by setting and regime."""
    groups = grouped(run for run in records if run.kind == "pommerman")
    return {
        f"{group.setting}: {group.regime}": [_actions_of(run) for run in group.runs]
        for group in groups
    }


def _actions_of(record: RunRecord) -> Counts:
    try:
        return action_counts(open_run(Path(record.path)).metrics())
    except BackplayError:  # the record's notes say it already
        return []
