"""Who carries out tasks: processes of this machine, or anything else that can do as they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from backplay.runs.sweep.task import Task
from backplay.runs.sweep.worker import Worker, work_command

_NO_PROCESS = 1  # the exit code of a worker that could not be started


class Ended(NamedTuple):
    """A worker that works no more."""

    name: str
    """Of its task."""
    code: int
    """0 done, 2 refused, 75 in use, 130 stopped as it was told to; with all others it died."""
    words: str
    """Why, in one line."""


class Crew(Protocol):
    """Workers that carry out tasks."""

    @property
    def size(self) -> int:
        """How many tasks it takes at once."""

    def start(self, task: Task) -> None:
        """Begins a task, or goes on with it; never raises for what is the task's own trouble."""

    def ended(self) -> list[Ended]:
        """The workers that have ended since this was asked last."""

    def stop(self) -> None:
        """Asks all to save and stop; they end when they have."""

    def kill(self) -> None:
        """Ends all at once."""

    def close(self) -> None:
        """Lets go of all that was taken; kills who still works."""


class Local:
    """A process on this machine for each task under way."""

    def __init__(self, size: int, command: Callable[[Path], Sequence[str]] = work_command) -> None:
        """`size` processes at most; `command(path)` is what carries out a run directory."""
        self._size = size
        self._command = command
        self._workers: dict[str, Worker] = {}
        self._unborn: list[Ended] = []

    @property
    def size(self) -> int:
        return self._size

    @property
    def pids(self) -> dict[str, int]:
        """The process of each task under way."""
        return {name: worker.pid for name, worker in self._workers.items()}

    def start(self, task: Task) -> None:
        try:
            self._workers[task.name] = Worker(task.path, self._command(task.path))
        except OSError as error:
            self._unborn.append(Ended(task.name, _NO_PROCESS, f"no process: {error}"))

    def ended(self) -> list[Ended]:
        found, self._unborn = self._unborn, []
        for name, worker in list(self._workers.items()):
            code = worker.code()
            if code is not None:
                found.append(Ended(name, code, worker.words()))
                del self._workers[name]
        return found

    def stop(self) -> None:
        for worker in self._workers.values():
            worker.stop()

    def kill(self) -> None:
        for worker in self._workers.values():
            worker.kill()

    def close(self) -> None:
        self.kill()
        self._workers.clear()
