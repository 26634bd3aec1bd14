"""Jobs: one training run as data, and the work it turns into.

    job = MazeJob(regime="backplay", frames=2_048_000)
    again = from_json(to_json(job))          # equal
    work = job.begin()
    lines = [work.line(progress) for progress in work.training.run()]
    result = work.result()

A job is a frozen dataclass of plain fields: text, numbers, truth values, tuples of these. `begin`
builds what it needs from them alone. Comes in: a job, or JSON that says it is one. Goes out: JSON,
or the job. Does not know: disks, screens, what kinds of jobs do.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

from backplay.errors import BackplayError, show
from backplay.learners.workers import Workers
from backplay.train import Progress, Training

__all__ = [
    "KINDS", "Job", "Say", "Work", "file_name", "from_json", "progress_line", "require",
    "require_one_of", "require_whole", "to_json",
]  # fmt: skip

Say = Callable[[str], None]
"""Shows one line of progress."""

KINDS = {
    "maze": "maze.job.MazeJob",
    "grid": "grid_worlds.job.GridJob",
    "gym": "sparse_tasks.job.GymJob",
    "pommerman": "pommerman.job.PommermanJob",
    "theory": "theory.job.TheoryJob",
}
"""Where the class of each kind lives, below `backplay.paper`."""

_HEAD = ("name", "setting", "regime", "seed", "frames")


class Work(Protocol):
    """A job in progress."""

    @property
    def training(self) -> Training | None:
        """The loop; None where nothing is trained."""
        ...

    def line(self, progress: Progress) -> dict[str, Any]:
        """What metrics keep of one update: plain data, no wall time.

        `frames`, `starts`, `train_success`, `learner`; `by_steps_back` with rows [steps back,
        tries, wins]; where the update was followed by an evaluation, `evaluation`: measures by
        name, numbers all.
        """

    def result(self) -> dict[str, Any]:
        """What came of it: `measures`, numbers or None by name, and more plain data."""

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps: the training's state, or what was made without training."""

    def close(self) -> None:
        """Frees what it holds."""


@runtime_checkable
class Job(Protocol):
    """One run of an experiment, as data."""

    kind: ClassVar[str]
    measures: ClassVar[tuple[str, ...]]
    """What `result()["measures"]` has, where that is known before it is done."""
    curve: ClassVar[tuple[str, ...]]
    """What an `evaluation` on the way has."""

    @property
    def regime(self) -> str:
        """How it is trained."""

    @property
    def seed(self) -> int:
        """Of all that is drawn."""

    @property
    def frames(self) -> int:
        """Of training; 0 where nothing is trained."""

    @property
    def name(self) -> str:
        """Fit for a file, and no other job of its experiment has it: `optimal-backplay-0`."""

    @property
    def setting(self) -> str:
        """What it is measured on, in words.

        Jobs of one experiment with the same setting, regime and frames differ by their seed alone.
        """

    def begin(self, on_progress: Say | None = None, workers: Workers | None = None) -> Work:
        """Builds envs and learner; may take seconds. With whom to train, if not alone."""


def to_json(job: Job) -> dict[str, Any]:
    """The job as plain data; what a report needs of it stands beside its fields."""
    if not is_dataclass(job) or isinstance(job, type) or job.kind not in KINDS:
        raise BackplayError("job", expected=f"a job of the kinds {_listed()}", got=show(job))
    head = {name: getattr(job, name) for name in _HEAD}
    inside = {field.name: _as_lists(getattr(job, field.name)) for field in fields(job)}
    return {"kind": job.kind, **head, "fields": inside}


def from_json(data: Any) -> Job:
    """The job that `to_json` wrote; BackplayError if it is damaged or of an unknown kind."""
    if not isinstance(data, dict) or data.keys() != {"kind", *_HEAD, "fields"}:
        got = sorted(map(str, data)) if isinstance(data, dict) else data
        raise _damaged(f"the entries kind, {', '.join(_HEAD)}, fields", got)
    kind, inside = data["kind"], data["fields"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise BackplayError(
            "kind of job", expected=_listed(), got=show(kind),
            do="It may come from another version of backplay.",
        )  # fmt: skip
    made = _class_of(kind)
    names = {field.name for field in fields(made)}
    if not isinstance(inside, dict) or inside.keys() != names:
        raise _damaged(f"the fields {', '.join(sorted(names))}", inside)
    try:
        job = cast(Job, made(**{name: _as_tuples(value) for name, value in inside.items()}))
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise _damaged("fields of their own types", f"{type(error).__name__}: {error}") from error
    for name in _HEAD:
        said, found = data[name], getattr(job, name)
        if type(said) is not type(found) or said != found:
            raise _damaged(f"{name} {show(found)}, as its fields say", said)
    return job


def file_name(*parts: object) -> str:
    """The parts joined to a name that any file system takes: small letters, digits, - and dots."""
    text = "-".join(str(part) for part in parts).lower()
    return re.sub(r"[^a-z0-9.]+", "-", text).strip("-.")


def progress_line(progress: Progress) -> dict[str, Any]:
    """What every kind of job keeps of an update."""
    return {
        "frames": progress.frames,
        "starts": progress.starts,
        "train_success": progress.train_success,
        "learner": progress.metrics,
    }


def require(holds: bool, name: str, expected: str, got: object) -> None:
    """Raises unless a field of a job is as it should be."""
    if not holds:
        raise BackplayError(name, expected=expected, got=show(got))


def require_one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raises unless a field is one of these texts."""
    require(isinstance(value, str) and value in allowed, name, " or ".join(allowed), value)


def require_whole(job: object, **least: int) -> None:
    """Raises unless these fields are whole numbers, each from its least on."""
    for name, minimum in least.items():
        value = getattr(job, name)
        fits = type(value) is int and minimum <= value < 2**53
        require(fits, name, f"a whole number from {minimum} on", value)


def _class_of(kind: str) -> Any:
    module, _, name = KINDS[kind].rpartition(".")
    return getattr(importlib.import_module(f"backplay.paper.{module}"), name)


def _as_lists(value: Any) -> Any:
    return [_as_lists(item) for item in value] if isinstance(value, tuple) else value


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(item) for item in value) if isinstance(value, list) else value


def _listed() -> str:
    return ", ".join(KINDS)


def _damaged(expected: str, got: object) -> BackplayError:
    return BackplayError(
        "This is no job", expected=expected, got=show(got), do="Make the run anew."
    )
