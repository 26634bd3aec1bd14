"""One run that a sweep has to see to its end, before it is begun."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A prepared run directory, and what it is expected to take."""

    name: str
    """Unique in its sweep."""
    path: Path
    """The run directory."""
    frames: int
    """Frames to train for; 0 where nothing is trained."""
    seconds: float = 0.0
    """What it is expected to take on one core; 0 where nobody knows."""
