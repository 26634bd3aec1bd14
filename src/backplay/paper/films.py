"""Episodes of finished runs as films: what was learned.

Comes in: records of runs of one kind, whose results keep an episode with the likeliest actions, and
who draws it. Goes out: pictures that move, one for each setting and regime. An episode that cannot
be drawn here has none: a page does not fail because of a film.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.envs.films import as_gif
from backplay.report.records import RunRecord
from backplay.report.sheet import Picture

MOST = 24  # films of a kind
STEPS = 60  # pictures of an episode at most: a long one is shown in strides
FPS = 12.0

Filmed = tuple[list[NDArray[np.uint8]], str]
"""The pictures, and how it ended in words."""
Draw = Callable[[RunRecord, Any], Filmed]
"""From a run and what its result keeps of an episode."""


def films(records: Sequence[RunRecord], kept: str, draw: Draw) -> tuple[Picture, ...]:
    """An episode of the first finished run of each setting and regime, if it can be drawn.

    Args:
        records: of runs.
        kept: the entry of a result that keeps the episode.
        draw: draws it.
    """
    made: dict[tuple[str, str], Picture] = {}
    for record in records:
        key = (record.setting, record.regime)
        if record.finished and key not in made and len(made) < MOST and record.result.get(kept):
            film = _film(record, record.result[kept], draw)
            if film is not None:
                made[key] = film
    return tuple(made.values())


def _film(record: RunRecord, kept: Any, draw: Draw) -> Picture | None:
    try:
        pictures, words = draw(record, kept)
        data = as_gif(pictures, FPS)
    except Exception:  # a damaged result, a package that is missing, a screen that is not there
        return None
    words = f"seed {record.seed}, likeliest actions: {words}"
    return Picture(f"{record.setting}, {record.regime}", "image/gif", data, words)


def moments(length: int) -> list[int]:
    """Which of the states 0 to `length` of an episode are shown: evenly spread, and the last."""
    stride = -(-(length + 1) // STEPS)
    return sorted({*range(0, length + 1, stride), length})
