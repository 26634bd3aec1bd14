"""Jobs: one run as data, and the work it turns into.

    job = MazeJob(regime="backplay", frames=2_048_000)
    again = from_json(to_json(job))          # equal
    work = job.begin()
    lines = [work.line(progress) for progress in work.training.run()]
    result = work.result()

A job is a frozen dataclass of plain fields: text, numbers, truth values, tuples and mappings of
these. `begin` builds what it needs from them and from the files of its run. A job owns what is
particular to its kind: what it costs (`seconds`) and what its runs have to show (`exhibit`).

`work.training` is our loop, or anybody's with the names of `train.running.Running`. One that cannot
be saved in the middle returns None as its state, and a run that is killed then begins again:

    class OneLearn:
        exact_resume, frames, total_frames = True, 0, 100_000

        def run(self):
            for self.frames in range(10_000, 110_000, 10_000):
                model.learn(10_000, reset_num_timesteps=False)
                yield Progress(frames=self.frames, total_frames=self.total_frames)

        def state(self): return None
        def load_state(self, state): raise AssertionError("nothing was saved")

Comes in: a job, or JSON that says it is one. Goes out: JSON, or the job. Does not know: disks,
screens, what kinds of jobs there are: `paper.catalogue` does.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast, runtime_checkable

from backplay.errors import BackplayError, ensure, show
from backplay.train.evaluate import Evaluation
from backplay.train.progress import Progress, by_steps_back

if TYPE_CHECKING:
    from backplay.learners.workers import Workers
    from backplay.report.exhibit import Exhibit
    from backplay.report.records import RunRecord

Say = Callable[[str], None]
"""Shows one line of progress."""

_HEAD = ("name", "setting", "regime", "seed", "frames")


class Work:
    """A job in progress; by itself one that trains nothing: its result is made in one go."""

    training: Any = None
    """Who trains, see `running.Running`; None where nothing is trained."""

    def line(self, progress: Progress) -> dict[str, Any]:
        """What metrics keep of one update: plain data, no wall time.

        `frames`, `starts`, `train_success`, `learner`; `by_steps_back` with rows [steps back,
        tries, wins]; where the update was followed by an evaluation, `evaluation`: measures by
        name, numbers all.
        """
        raise AssertionError("nothing is trained")

    def result(self) -> dict[str, Any]:
        """What came of it: `measures`, numbers or None by name, and more plain data."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Where nothing is trained: what the one checkpoint keeps."""
        return {}

    def close(self) -> None:
        """Frees what it holds."""


class TrainedWork(Work):
    """Work around our training loop, or around a network that was cloned and is trained no further.

    A kind of job adds its `measured` and its `result`.
    """

    network: Any
    """Where nothing is trained: what was cloned."""
    lengths: Sequence[int]
    """The steps of each demonstration."""
    width = 4
    """Steps back that are counted together."""

    def line(self, progress: Progress) -> dict[str, Any]:
        """What came of the update, and at evaluations from the true start."""
        line = progress_line(progress)
        line["by_steps_back"] = by_steps_back(progress.episodes, self.lengths, self.width)
        if progress.evaluation is not None:
            line["evaluation"] = self.measured(progress.evaluation)
            line["evaluated"] = len(progress.evaluation.successes)
        return line

    def measured(self, found: Evaluation) -> dict[str, Any]:
        """What an evaluation from the true start came to, numbers by name."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Where nothing is trained: what was cloned."""
        weights = self.network.state_dict()
        return {"learner": {"network": {k: v.numpy().copy() for k, v in weights.items()}}}

    def close(self) -> None:
        """Closes the envs."""
        if self.training is not None:
            self.training.close()


@runtime_checkable
class Job(Protocol):
    """One run of an experiment, as data."""

    kind: ClassVar[str]
    """As `paper.catalogue` knows it: the name of its folder."""
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

    @property
    def seconds(self) -> float:
        """What it takes on one core, roughly; 0 where nobody knows.

        Measured on two cores that other work shared: half or twice as much elsewhere is likely.
        """

    def begin(
        self,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> Work:
        """Builds envs and learner; may take seconds.

        Args:
            on_progress: told what happens, in words.
            workers: with whom to train, if not alone.
            files: the run's own copies of those it was prepared with.
        """

    @classmethod
    def exhibit(cls, records: Sequence[RunRecord]) -> Exhibit:
        """Films, figures and tables of runs of this kind; `Exhibit()` where there are none."""


def to_json(job: Job) -> dict[str, Any]:
    """The job as plain data; what a report needs of it stands beside its fields."""
    if not is_dataclass(job) or isinstance(job, type) or not isinstance(job, Job):
        raise BackplayError("job", expected="a frozen dataclass that is a Job", got=show(job))
    head = {name: getattr(job, name) for name in _HEAD}
    inside = {field.name: _as_lists(getattr(job, field.name)) for field in fields(job)}
    return {"kind": job.kind, **head, "fields": inside}


def from_json(data: Any) -> Job:
    """The job that `to_json` wrote; BackplayError if it is damaged or of an unknown kind."""
    if not isinstance(data, dict) or data.keys() != {"kind", *_HEAD, "fields"}:
        got = sorted(map(str, data)) if isinstance(data, dict) else data
        raise _damaged(f"the entries kind, {', '.join(_HEAD)}, fields", got)
    # The catalogue imports experiments, which import this module: hence at the last moment.
    made = importlib.import_module("backplay.paper.catalogue").job_class(data["kind"])
    inside = data["fields"]
    names = {field.name for field in fields(made)}
    # A field that came later has its default, which does as was done before it came.
    if not isinstance(inside, dict) or not inside.keys() <= names:
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


def require_one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raises unless a field is one of these texts."""
    ensure(isinstance(value, str) and value in allowed, name, " or ".join(allowed), value)


def require_whole(job: object, **least: int) -> None:
    """Raises unless these fields are whole numbers, each from its least on."""
    for name, minimum in least.items():
        value = getattr(job, name)
        fits = type(value) is int and minimum <= value < 2**53
        ensure(fits, name, f"a whole number from {minimum} on", value)


def _as_lists(value: Any) -> Any:
    return [_as_lists(item) for item in value] if isinstance(value, tuple) else value


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(item) for item in value) if isinstance(value, list) else value


def _damaged(expected: str, got: object) -> BackplayError:
    return BackplayError(
        "This is no job", expected=expected, got=show(got), do="Make the run anew."
    )
