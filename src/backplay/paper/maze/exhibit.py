"""What runs in mazes have to show: walks as films.

Comes in: records of runs, whose results keep boards with paths. Goes out: films.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from backplay.envs.maze import draw
from backplay.paper.films import Filmed, films, moments
from backplay.report.exhibit import Exhibit
from backplay.report.records import RunRecord

SCALE = 9  # pixels along a cell


def exhibit(records: Sequence[RunRecord]) -> Exhibit:
    """The walk in the first maze of each setting and regime."""
    return Exhibit(films=films(records, "paths", _in_first_maze))


def _in_first_maze(record: RunRecord, kept: Sequence[dict[str, Any]]) -> Filmed:
    pictures, words = walk(record, kept)
    return pictures, f"the first maze: {words}"


def walk(record: RunRecord, kept: Sequence[dict[str, Any]]) -> Filmed:
    """The first of some boards, with the demonstration and the path as it grows."""
    one = kept[0]
    path, shape = one["path"], (one["height"], one["width"])
    walls = np.zeros(shape[0] * shape[1], np.bool_)
    walls[one["walls"]] = True
    pictures = [
        draw.picture(
            walls.reshape(shape), one["start"], one["goal"], agent=path[at],
            demonstration=one["demonstration"], path=path[: at + 1], scale=SCALE,
        )
        for at in moments(len(path) - 1)
    ]  # fmt: skip
    extra = len(path) - 1 - one["shortest"]
    reached = path[-1] == one["goal"]
    end = f"{len(path) - 1} steps, {extra} too many" if reached else "never reaches the goal"
    return pictures, f"{end}. Pale: demonstration."
