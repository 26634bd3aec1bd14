"""What a report knows of runs: plain data, and runs that differ in nothing but their seed.

Comes in: what was read of run directories. Goes out: records, and groups of them. Does not know:
files, training, or how anything is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

_SHARES = {"success", "optimal", "within", "win", "wins", "won", "solved", "share"}


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """One run, however far it has come."""

    path: str
    """Its directory."""
    kind: str
    """Of its job: "maze", "grid", … or "train" for a run of no experiment."""
    setting: str
    """What it is measured on, in words."""
    regime: str
    """Where its episodes start, in a word."""
    seed: int
    frames: int
    """Its budget; 0 where nothing is trained."""
    seconds: float = 0.0
    """Wall time so far."""
    finished: bool
    curve: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    """Frames and what was measured from the true start at each evaluation."""
    starts: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Frames, steps back from the end (a bin's least), tries and wins."""
    measures: dict[str, float | None] = field(default_factory=dict)
    """What it came to at the end; empty before."""
    result: dict[str, Any] = field(default_factory=dict)
    """All of its result; empty before the end."""
    provenance: dict[str, Any] = field(default_factory=dict)
    """Command, versions, machine, commit."""
    notes: tuple[str, ...] = ()
    """What could not be read."""

    @property
    def name(self) -> str:
        """The last part of its path."""
        return PurePath(self.path).name

    @property
    def reached(self) -> int:
        """Frames at its last evaluation or count of starts."""
        return max([at for at, _ in self.curve] + [at for at, *_ in self.starts], default=0)


@dataclass(frozen=True)
class Group:
    """Runs that differ in nothing but their seed, lowest first."""

    runs: list[RunRecord]

    @property
    def first(self) -> RunRecord:
        """Of the lowest seed."""
        return self.runs[0]

    @property
    def setting(self) -> str:
        """What all of them are measured on."""
        return self.first.setting

    @property
    def regime(self) -> str:
        """Where the episodes of all of them start."""
        return self.first.regime

    @property
    def ended(self) -> list[RunRecord]:
        """Those that have a result."""
        return [run for run in self.runs if run.finished]

    def values(self, measure: str) -> list[float]:
        """The measure at the end, of each run that ended with it."""
        found = (run.measures.get(measure) for run in self.ended)
        return [value for value in found if value is not None]


def grouped(records: Iterable[RunRecord]) -> list[Group]:
    """Runs of the same kind, setting, regime and frames, side by side by setting."""
    found: dict[tuple[str, str, str, int], list[RunRecord]] = {}
    for run in records:
        found.setdefault((run.kind, run.setting, run.regime, run.frames), []).append(run)
    settings = list(dict.fromkeys((kind, setting) for kind, setting, _, _ in found))
    keys = sorted(found, key=lambda key: settings.index(key[:2]))  # stable: the rest as first seen
    return [Group(sorted(found[key], key=lambda run: run.seed)) for key in keys]


def measures_of(records: Iterable[RunRecord]) -> list[str]:
    """Every measure that a run ended with, as first seen."""
    return list(
        dict.fromkeys(
            name for run in records for name, value in run.measures.items() if value is not None
        )
    )


def twice(groups: Sequence[Group]) -> list[RunRecord]:
    """Runs whose seed their group has already: another copy, or another version of the same."""
    again = []
    for group in groups:
        seeds: set[int] = set()
        for run in group.runs:
            again += [run] * (run.seed in seeds)
            seeds.add(run.seed)
    return again


def is_share(measure: str, values: Iterable[float]) -> bool:
    """Whether a measure is a part of a whole: its name says so, and its values are 0 to 1."""
    words = set(measure.lower().replace("_", " ").split())
    return bool(words & _SHARES) and all(0 <= value <= 1 for value in values)
