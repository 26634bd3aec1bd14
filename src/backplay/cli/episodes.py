"""Episodes of finished runs as films for a page: what was learned, beside the demonstration.

Comes in: records of runs. Goes out: pictures that move, one for each setting and regime. Knows how
the episodes of each kind of run are drawn; a kind that nobody draws has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from backplay.envs.films import as_gif
from backplay.envs.maze import draw
from backplay.report.records import RunRecord
from backplay.report.sheet import Picture

MOST = 12  # films on a page
STEPS = 60  # pictures of an episode at most: a long one is shown in strides
SCALE, FPS = 9, 12.0


def films(records: Sequence[RunRecord]) -> list[Picture]:
    """The first maze of the first finished run of each setting and regime."""
    first: dict[tuple[str, str], RunRecord] = {}
    for record in records:
        if record.kind == "maze" and record.finished and record.result.get("paths"):
            first.setdefault((record.setting, record.regime), record)
    return [_film(record) for record in list(first.values())[:MOST]]


def _film(record: RunRecord) -> Picture:
    one: dict[str, Any] = record.result["paths"][0]
    path, shape = one["path"], (one["height"], one["width"])
    walls = np.zeros(shape[0] * shape[1], np.bool_)
    walls[one["walls"]] = True
    stride = -(-len(path) // STEPS)
    moments = [*range(0, len(path), stride), len(path) - 1]
    frames = [
        draw.picture(
            walls.reshape(shape),
            one["start"],
            one["goal"],
            agent=path[at],
            demonstration=one["demonstration"],
            path=path[: at + 1],
            scale=SCALE,
        )
        for at in moments
    ]
    reached = path[-1] == one["goal"]
    extra = len(path) - 1 - one["shortest"]
    end = f"{len(path) - 1} steps, {extra} too many" if reached else "never reaches the goal"
    words = f"seed {record.seed}, the first maze, likeliest actions: {end}. Pale: demonstration."
    return Picture(f"{record.setting}, {record.regime}", "image/gif", as_gif(frames, FPS), words)
