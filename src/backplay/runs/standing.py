"""Where a run stands, read from its files alone: the same whoever works on it, and where.

Comes in: planned runs. Goes out: a `Standing` of each, and how long all will still take. Only the
ends of the files are read, so that looking once a second costs nothing. Whoever reads does not
lock: a line that is being written is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from backplay.runs.documents import json_object
from backplay.runs.processes import Planned
from backplay.runs.run import CLOCK, METRICS, RESULT

_BLOCK = 2**16
EARLY = 0.02  # before this share of a run its seconds are mostly compiling and the first evaluation
_TICKS = 8  # the speed is that of so many entries of the clock


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where one run stands."""

    name: str
    frames: int
    total: int
    """Frames it will have at its end."""
    seconds: float
    """Worked on it so far, all processes it has had together."""
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


def read_standing(planned: Planned) -> Standing:
    """Where the run of `planned` stands; a run that has not begun stands at frame 0."""
    last: dict[str, Any] = {}
    success = None
    for line in _backwards(planned.path / METRICS):
        last = last or line
        success = _number(_part(line, "evaluation").get("success"))
        if success is not None:
            break
    ticks = list(islice(_backwards(planned.path / CLOCK), _TICKS))
    return Standing(
        name=planned.name,
        frames=int(_number(last.get("frames")) or 0),
        total=planned.frames,
        seconds=(_number(ticks[0].get("seconds")) or 0.0) if ticks else 0.0,
        speed=_speed(ticks),
        success=success,
        starts=str(last.get("starts") or ""),
        finished=(planned.path / RESULT).exists(),
    )


def time_left(
    runs: Sequence[Planned], standings: Mapping[str, Standing], at_once: int
) -> float | None:
    """Seconds until all runs are finished, so many at once; None if nobody can say.

    What was expected is corrected by what the runs so far have taken. No end comes before that of
    the longest run.
    """
    pairs = [(run, standings[run.name]) for run in runs]
    measured = [(t, s) for t, s in pairs if s.share >= EARLY and s.seconds > 0 < t.seconds]
    spent = sum(standing.seconds for _, standing in measured)
    expected = sum(run.seconds * standing.share for run, standing in measured)
    ratio = spent / expected if expected > 0 and spent > 0 else 1.0
    left = [ratio * run.seconds * (1 - standing.share) for run, standing in pairs]
    if any(run.seconds <= 0 and not standing.finished for run, standing in pairs):
        return None
    return max(sum(left) / max(1, at_once), max(left, default=0.0))


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
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(handle, "rb") as file:
            at = file.seek(0, os.SEEK_END)
            rest = b""
            torn = True  # what follows the last newline
            while at > 0:
                size = min(_BLOCK, at)
                at = file.seek(at - size)
                rest, *lines = (file.read(size) + rest).split(b"\n")
                for line in reversed(lines):
                    if not torn:
                        yield json_object(line)
                    torn = False
            if not torn:
                yield json_object(rest)
    except (OSError, ValueError):
        return


def _part(line: dict[str, Any], name: str) -> dict[str, Any]:
    part = line.get(name)
    return part if isinstance(part, dict) else {}


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
