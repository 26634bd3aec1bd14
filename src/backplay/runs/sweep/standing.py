"""Where a run stands, read from its files alone: the same whoever works on it, and where.

Comes in: a task. Goes out: a `Standing`. Only the ends of the files are read, so that looking once
a second costs nothing. Whoever reads does not lock: a line that is being written is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from backplay.runs.run import CLOCK, METRICS, RESULT
from backplay.runs.sweep.task import Task

_BLOCK = 2**16
_TICKS = 8  # the speed is that of so many entries of the clock


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where one run stands."""

    name: str
    frames: int
    total: int
    """Frames it will have at its end."""
    seconds: float
    """Worked on it so far, all workers it has had together."""
    speed: float | None
    """Frames per second of late."""
    success: float | None
    """From the true start, in its last evaluation."""
    starts: str
    """Where its training episodes start now, in words."""
    finished: bool

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1."""
        if self.finished:
            return 1.0
        return min(1.0, self.frames / self.total) if self.total else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Until its end at its present speed; None as long as that is unknown."""
        if self.finished:
            return 0.0
        return max(0, self.total - self.frames) / self.speed if self.speed else None


def read_standing(task: Task) -> Standing:
    """Where the run of `task` stands; a run that has not begun stands at frame 0."""
    last: dict[str, Any] = {}
    success = None
    for line in _backwards(task.path / METRICS):
        last = last or line
        success = _number(_part(line, "evaluation").get("success"))
        if success is not None:
            break
    ticks = list(islice(_backwards(task.path / CLOCK), _TICKS))
    return Standing(
        name=task.name,
        frames=int(_number(last.get("frames")) or 0),
        total=task.frames,
        seconds=(_number(ticks[0].get("seconds")) or 0.0) if ticks else 0.0,
        speed=_speed(ticks),
        success=success,
        starts=str(last.get("starts") or ""),
        finished=(task.path / RESULT).exists(),
    )


def _speed(ticks: list[dict[str, Any]]) -> float | None:
    """Frames per second by the clock, its last entry first.

    A run that was killed repeats frames; what it lost is left out.
    """
    points = [(_number(tick.get("frames")), _number(tick.get("seconds"))) for tick in ticks]
    now: tuple[float, float] | None = None
    then = (0.0, 0.0)
    for frames, seconds in points:
        if frames is None or seconds is None:
            break
        if now is None:
            now = then = frames, seconds
        elif frames < then[0] and seconds < then[1]:
            then = frames, seconds
        else:
            break
    if now is None:
        return None
    if then == now:
        then = (0.0, 0.0)
    return (now[0] - then[0]) / (now[1] - then[1]) if now[1] > then[1] else None


def _backwards(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file of JSON objects, the last one first, as far as they can be read."""
    try:
        with path.open("rb") as file:
            at = file.seek(0, os.SEEK_END)
            rest = b""
            torn = True  # what follows the last newline
            while at > 0:
                size = min(_BLOCK, at)
                at = file.seek(at - size)
                rest, *lines = (file.read(size) + rest).split(b"\n")
                for line in reversed(lines):
                    if not torn:
                        yield _object(line)
                    torn = False
            if not torn:
                yield _object(rest)
    except (OSError, ValueError):
        return


def _object(line: bytes) -> dict[str, Any]:
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


def _part(line: dict[str, Any], name: str) -> dict[str, Any]:
    part = line.get(name)
    return part if isinstance(part, dict) else {}


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
