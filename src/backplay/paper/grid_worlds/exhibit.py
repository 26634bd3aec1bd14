"""What runs in grid worlds have to show: walks, as films."""

from __future__ import annotations

from collections.abc import Sequence

from backplay.paper.films import films
from backplay.paper.maze.exhibit import walk
from backplay.report.exhibit import Exhibit
from backplay.report.records import RunRecord


def exhibit(records: Sequence[RunRecord]) -> Exhibit:
    """The first walk of each world and regime."""
    return Exhibit(films=films(records, "paths", walk))
