"""What a report knows of runs: plain data, and runs that differ in nothing but their seed.

Comes in: what was read of run directories. Goes out: records, and groups of them. Does not know:
files, training, or how anything is shown.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

_SHARES = {
    "success", "optimal", "within", "win", "wins", "won", "solved", "share", "beside", "ties",
}  # fmt: skip
_COUNTS = {"steps", "length"}
EPISODES = 100
"""Measured by a run that does not say how many."""
_SHOWN = 3  # differences that a name has at most


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
    evaluated: int = EPISODES
    """Episodes behind each share of the curve."""
    starts: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Frames, steps back from the end (a bin's least, or TRUE_START), tries and wins."""
    measures: dict[str, float | None] = field(default_factory=dict)
    """What it came to at the end; empty before."""
    result: dict[str, Any] = field(default_factory=dict)
    """All of its result; empty before the end."""
    provenance: dict[str, Any] = field(default_factory=dict)
    """Command, versions, machine, commit."""
    asked: dict[str, str] = field(default_factory=dict)
    """What it was asked for beside its seed, by name: settings as JSON, digests of files."""
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

    @property
    def episodes(self) -> int:
        """Behind each share that it measured at its end, as far as it says so."""
        for name in ("episodes", "measured_mazes"):
            count = self.result.get(name)
            if type(count) is int and count > 0:
                return count
        return EPISODES

    def curve_of(self, measure: str) -> list[tuple[int, float]]:
        """Frames and the measure at each evaluation that has it."""
        return [(at, measured[measure]) for at, measured in self.curve if measure in measured]


@dataclass(frozen=True)
class Group:
    """Runs that differ in nothing but their seed, lowest first."""

    runs: list[RunRecord]
    apart: str = ""
    """What sets it apart from other groups of the same setting, regime and frames, if any."""

    @property
    def first(self) -> RunRecord:
        """Of the lowest seed."""
        return self.runs[0]

    @property
    def setting(self) -> str:
        """What all of them are measured on, and what sets them apart."""
        return ", ".join(part for part in (self.first.setting, self.apart) if part)

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
    """Runs that were asked for the same but for their seed, side by side by setting.

    Where groups of one setting, regime and number of frames are left, what they were asked for
    differently is in their setting.
    """
    found: dict[_Named, dict[str, list[RunRecord]]] = {}
    for run in records:
        named = (run.kind, run.setting, run.regime, run.frames)
        asked = json.dumps(run.asked, sort_keys=True)
        found.setdefault(named, {}).setdefault(asked, []).append(run)
    settings = list(dict.fromkeys((kind, setting) for kind, setting, _, _ in found))
    keys = sorted(found, key=lambda key: settings.index(key[:2]))  # stable: the rest as first seen
    return [
        Group(sorted(runs, key=lambda run: run.seed), apart)
        for key in keys
        for apart, runs in _set_apart(list(found[key].values()))
    ]


_Named = tuple[str, str, str, int]


def _set_apart(alike: list[list[RunRecord]]) -> Iterator[tuple[str, list[RunRecord]]]:
    """Each with what it was asked for and another was not; nothing if there is one alone."""
    asked = [runs[0].asked for runs in alike]
    names = dict.fromkeys(name for one in asked for name in one)
    differ = [name for name in names if len({one.get(name) for one in asked}) > 1]
    for runs in alike:
        has = [f"{name} {short(runs[0].asked.get(name, 'none'))}" for name in differ]
        more = [f"{len(has) - _SHOWN} more"] if len(has) > _SHOWN else []
        yield ", ".join(has[:_SHOWN] + more), runs


def short(text: str) -> str:
    """A setting as it is, or a digest of a long one."""
    if len(text) <= 24:
        return text.strip('"')
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def measures_of(records: Iterable[RunRecord]) -> list[str]:
    """Every measure that a run ended with, as first seen."""
    return list(
        dict.fromkeys(
            name for run in records for name, value in run.measures.items() if value is not None
        )
    )


def twice(groups: Sequence[Group]) -> list[tuple[RunRecord, RunRecord]]:
    """Runs of the same group and seed: another copy, or another version of the same."""
    again = []
    for group in groups:
        seeds: dict[int, RunRecord] = {}
        for run in group.runs:
            again += [(seeds[run.seed], run)] if run.seed in seeds else []
            seeds.setdefault(run.seed, run)
    return again


def is_count(measure: str) -> bool:
    """Whether a measure is a number of things, never below 0."""
    return bool(set(measure.lower().replace("_", " ").split()[-1:]) & _COUNTS)


def is_share(measure: str, values: Iterable[float]) -> bool:
    """Whether a measure is a part of a whole: its name says so, and its values are 0 to 1."""
    words = set(measure.lower().replace("_", " ").split())
    return bool(words & _SHARES) and all(0 <= value <= 1 for value in values)
