"""All experiments by name, and the jobs they consist of by kind: one line for each folder.

    experiment("maze-table").jobs(0.05, 5)      # imports backplay.paper.maze and no other folder
    job_class("maze")

A folder below `paper` has a `job.py` with its class as JOB, whose kind is the folder's name, and an
`experiments.py` with EXPERIMENTS. Both are light: what trains and what draws is imported by the
job when it begins and when it exhibits. Comes in: a name, a kind, records of runs. Goes out: the
experiment, the class, what the runs have to show.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, cast

from backplay.errors import BackplayError, show
from backplay.paper.experiment import Experiment
from backplay.report.exhibit import Exhibit, together
from backplay.report.records import RunRecord
from backplay.train.job import Job

FOLDERS: dict[str, tuple[str, ...]] = {
    "maze": (
        "maze-table", "maze-curves", "maze-cloning", "maze-new", "maze-budget", "maze-default",
        "maze-paper", "maze-far", "imitation", "maze-reverse", "maze-unseen",
    ),
    "grid_worlds": ("grid-worlds", "grid-worlds-apart"),
    "theory": ("theory",),
    "pommerman": (
        "pommerman-4", "pommerman-100", "pommerman-dense", "pommerman-paper", "pommerman-why",
        "pommerman-imitation",
    ),
    "demo": ("demo",),
    "sparse_tasks": ("mountaincar", "mountaincar-gail", "keycorridor", "pointmaze", "obstructed"),
    "advice": ("advise",),
    "curricula_bench": (
        "curricula", "curricula-choose", "curricula-cut", "curricula-longer",
        "curricula-observed", "curricula-heads",
    ),
}  # fmt: skip
"""The experiments of each folder."""
_ELSEWHERE = {"env": "backplay.train.env_job"}
"""The module of the kind of job that is no experiment: what `backplay train` makes."""
_FORMER = {"grid": "grid_worlds", "gym": "sparse_tasks"}  # kinds in files of version 0.1.0


def names() -> list[str]:
    """Of all experiments."""
    return [name for folder in FOLDERS.values() for name in folder]


def experiment(name: str) -> Experiment:
    """The experiment of that name; BackplayError with a guess if there is none."""
    for folder, inside in FOLDERS.items():
        if name in inside:
            module: Any = importlib.import_module(f"backplay.paper.{folder}.experiments")
            found: Sequence[Experiment] = module.EXPERIMENTS
            return next(one for one in found if one.name == name)
    close = get_close_matches(name, names(), n=1)
    raise BackplayError(
        "experiment",
        expected=f"one of {', '.join(names())}",
        got=repr(name),
        do=f"Did you mean {close[0]!r}?" if close else "See backplay experiments.",
    )


def experiments() -> list[Experiment]:
    """All of them; this imports every folder."""
    return [experiment(name) for name in names()]


def job_class(kind: Any) -> type[Job]:
    """The class of the jobs of that kind; BackplayError if there is none."""
    module = _module_of(kind)
    if module is None:
        raise BackplayError(
            "kind of job", expected=", ".join([*FOLDERS, *_ELSEWHERE]), got=show(kind),
            do="It may come from another version of backplay.",
        )  # fmt: skip
    return cast(type[Job], importlib.import_module(module).JOB)


def exhibit(records: Sequence[RunRecord]) -> Exhibit:
    """What runs of all kinds have to show; a kind that nobody knows has nothing."""
    kinds = dict.fromkeys(record.kind for record in records)
    return together(
        job_class(kind).exhibit([record for record in records if record.kind == kind])
        for kind in kinds
        if _module_of(kind) is not None
    )


def _module_of(kind: Any) -> str | None:
    """The module with the class of jobs of a kind."""
    folder = _FORMER.get(kind, kind) if isinstance(kind, str) else None
    if folder in FOLDERS:
        return f"backplay.paper.{folder}.job"
    return _ELSEWHERE.get(folder) if folder else None
