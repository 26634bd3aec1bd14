"""A run directory that exists: its parts, and how to write them so that a kill loses little.

Comes in: states, metrics, a result. Goes out: the same, or an error. Whoever writes holds the lock;
readers need none. Does not know: how a directory is made, nor what any of it means.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backplay.data.files import opened_folder, read_file, sync_folder
from backplay.errors import BackplayError, ensure, show
from backplay.runs import checkpoints, documents, lines, lock, provenance
from backplay.runs.checkpoints import Checkpoint, Loaded
from backplay.runs.files import damaged, is_broken, reason, unread

CONFIG, PROVENANCE, RESULT = "config.json", "provenance.json", "result.json"
EXTENDED = "extended.json"
METRICS, CLOCK, CHECKPOINTS = "metrics.jsonl", "clock.jsonl", "checkpoints"
PROCESSES, DIGESTS = "processes.jsonl", "demonstrations"
_RACES = 10  # how often a reader looks again while a writer removes what it found


@dataclass(frozen=True)
class Run:
    """A run directory that exists."""

    path: Path
    config: dict[str, Any]
    """What was asked for, as `create` got it."""

    @property
    def job(self) -> dict[str, Any]:
        """The job that it carries out, as `train.job.to_json` wrote it; the longer one if any."""
        do = "Remove it: the run then ends where it was first to end."
        longer = self._document(EXTENDED, do)
        job: Any = (longer or self.config).get("job")
        if isinstance(job, dict):
            return job
        if "maze" not in self.config and "env" not in self.config:  # as versions up to 0.1.0 had it
            raise damaged(self.path / CONFIG, "no job")
        command = self.provenance.get("command")
        raise BackplayError(
            f"{self.path} has no job: an earlier version of backplay made it",
            do=f"Make it again in another directory; it was made by: {command}",
        )

    @property
    def demonstrations(self) -> list[Path]:
        """The run's own copies of its demonstrations, the same that it began with."""
        files = self._copies()
        wanted = self.config.get(DIGESTS, [])
        if not isinstance(wanted, list):
            raise damaged(self.path / CONFIG, f"no list of {DIGESTS}")
        ensure(
            len(files) == len(wanted), f"{self.path} has lost its demonstrations",
            f"{len(wanted)} files", got=f"{len(files)}", do="Copy them back.",
        )  # fmt: skip
        for file, digest in zip(files, wanted, strict=True):
            try:
                found = hashlib.sha256(read_file(file)).hexdigest()
            except OSError as error:
                raise unread(file, error) from error
            if found != digest:
                raise damaged(file, "another file than the run began with", do="Copy it back.")
        return files

    def _copies(self) -> list[Path]:
        folder = self.path / DIGESTS
        try:
            with opened_folder(folder) as handle:
                names = [name for name in os.listdir(handle) if re.fullmatch(r"\d+\.npz", name)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise unread(folder, error) from error
        return [folder / name for name in sorted(names, key=lambda name: (len(name), name))]

    @property
    def provenance(self) -> dict[str, Any]:
        """The command, versions and machine it was made with; empty if nobody wrote that down."""
        do = "Remove it: the run goes on without, and nobody knows where it came from."
        return self._document(PROVENANCE, do) or {}

    @property
    def result(self) -> dict[str, Any] | None:
        """What was measured at the end; None while there is none."""
        do = "Remove it and resume the run: it is measured again from the last checkpoint."
        return self._document(RESULT, do)

    @property
    def seconds(self) -> float:
        """Wall time spent on it, as of the last tick."""
        file = self.path / CLOCK
        line = lines.last(file)
        seconds: Any = 0.0 if line is None else line.get("seconds")
        if type(seconds) not in (int, float) or not 0 <= seconds < float("inf"):
            raise damaged(file, f"{show(seconds)} seconds", do="Remove it: it only tells the time.")
        return float(seconds)

    @property
    def checkpoint(self) -> Path:
        """The newest checkpoint's file, or where one would be."""
        found = self._checkpoints()
        return found[0] if found else self.path / CHECKPOINTS / checkpoints.name(0)

    def locked(self) -> AbstractContextManager[None]:
        """Keeps others from working here; BackplayError at once if somebody does.

        Files that killed writers left unfinished are removed. The system takes the lock back when
        the process ends, however it ends.
        """
        return lock.held(self.path)

    def save(self, state: dict[str, Any]) -> Path:
        """Adds a checkpoint: a tree of plain data and arrays, with the frames at `frames`.

        It vouches for the metrics so far. The one before is kept, older ones are removed. If it
        fails, what was saved before is untouched.
        """
        metrics = lines.mark(self.path / METRICS)
        sync_folder(self.path)  # a checkpoint is never there without its metrics
        checkpoint = Checkpoint(state, documents.digest(self.config), metrics)
        is_first = not (self.path / CHECKPOINTS).exists()
        saved = checkpoints.write(self.path / CHECKPOINTS, checkpoint)
        if is_first:
            sync_folder(self.path)
        return saved

    def load(self) -> Loaded | None:
        """The newest checkpoint that is sound; None if there is none at all."""
        found = self._newest(lambda _: None)
        return found[0] if found else None

    def resume(self) -> Loaded | None:
        """The newest checkpoint that is sound and whose metrics are; later metrics are cut off.

        None if there is no checkpoint: the run begins again, without metrics. If nothing can be
        resumed, that is an error, and nothing is changed.
        """
        file = self.path / METRICS
        found = self._newest(lambda checkpoint: lines.misfit(file, checkpoint.metrics))
        if found is None and self._has_saved():
            raise BackplayError(
                f"{self.path} has lost its checkpoints", expected="one to go on from", got="none",
                do="Copy them back, or start a new run in another directory.",
            )  # fmt: skip
        lines.cut(file, found[1].metrics.bytes if found else 0)
        return found[0] if found else None

    def extend(self, job: dict[str, Any]) -> None:
        """Lets the run go on as this job, the same but for its frames; whoever asks has the lock.

        The result goes first: a run that is killed between the two ends once more where it ended.
        """
        (self.path / RESULT).unlink(missing_ok=True)
        sync_folder(self.path)
        documents.write(self.path / EXTENDED, {"job": job}, documents.digest(self.config))

    def append_metrics(self, values: dict[str, Any]) -> None:
        """Adds one line to the metrics; NaN and the infinities, which JSON lacks, become null."""
        lines.append(self.path / METRICS, values)

    def metrics(self) -> list[dict[str, Any]]:
        """The metrics so far; a last line that a crash cut short is left out."""
        return lines.read(self.path / METRICS)

    def begin_process(self, notes: Sequence[str] = ()) -> None:
        """Notes who works on the run from here on: command, versions, machine, what was odd."""
        lines.append(self.path / PROCESSES, {**provenance.gather(), "notes": list(notes)})

    def processes(self) -> list[dict[str, Any]]:
        """Who has worked on the run, in order; elsewhere it may have been rounded otherwise."""
        return lines.read(self.path / PROCESSES)

    def tick(self, frames: int, seconds: float) -> None:
        """Notes the wall time spent until so many frames, which are saved."""
        lines.append(self.path / CLOCK, {"frames": frames, "seconds": round(seconds, 3)})

    def finish(self, result: dict[str, Any]) -> None:
        """Writes what was measured at the end; NaN and the infinities become null."""
        body = documents.plain(result)
        documents.write(self.path / RESULT, body, documents.digest(self.config))

    def _has_saved(self) -> bool:
        """Whether there must have been a checkpoint."""
        return (self.path / RESULT).exists() or _has_lines(self.path / CLOCK)

    def _document(self, name: str, do: str) -> dict[str, Any] | None:
        try:
            return documents.read(self.path / name, documents.digest(self.config), do)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unread(self.path / name, error) from error
        except (ValueError, RecursionError) as error:
            raise damaged(self.path / name, error) from error

    def _newest(
        self, why_not: Callable[[Checkpoint], str | None]
    ) -> tuple[Loaded, Checkpoint] | None:
        """The newest sound checkpoint that `why_not` has nothing against."""
        for _ in range(_RACES):
            found = self._checkpoints()
            if not found:
                return None
            notes: list[str] = []
            try:
                for path in found:
                    checkpoint, why = self._read(path, why_not)
                    if checkpoint is not None:
                        return Loaded(checkpoint.state, notes, path), checkpoint
                    notes.append(f"{path} is damaged and was passed over: {why}")
            except FileNotFoundError:  # a writer has removed it meanwhile
                continue
            break
        raise BackplayError(
            f"{self.path} cannot be resumed", expected="a checkpoint as backplay wrote it",
            got="; ".join(notes) or "files that come and go",
            do="Copy the run again from where it came. Nothing was changed.",
        )  # fmt: skip

    def _read(
        self, path: Path, why_not: Callable[[Checkpoint], str | None]
    ) -> tuple[Checkpoint | None, str]:
        """The checkpoint in a file, or why there is none."""
        try:
            checkpoint = checkpoints.read(path)
        except FileNotFoundError as error:
            if not path.is_symlink():
                raise
            return None, reason(error)
        except OSError as error:
            if not is_broken(error):  # passing it over would lose what is only out of reach
                raise unread(path, error) from error
            return None, reason(error)
        except ValueError as error:
            return None, reason(error)
        if checkpoint.of_config != documents.digest(self.config):
            return None, f"it is of a run with another {CONFIG}"
        why = why_not(checkpoint)
        return (checkpoint, "") if why is None else (None, why)

    def _checkpoints(self) -> list[Path]:
        try:
            return checkpoints.newest_first(self.path / CHECKPOINTS)
        except OSError as error:
            raise unread(self.path / CHECKPOINTS, error) from error


def _has_lines(file: Path) -> bool:
    try:
        return b"\n" in read_file(file)
    except OSError:
        return False
