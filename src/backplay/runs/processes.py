"""Processes that carry out run directories, each on a leash, and pools of them.

Comes in: planned runs and a command. A process has one thread, a process group of its own (the
Ctrl-C of a terminal reaches only its parent) and its words in `process.log` of the run directory.

The leash is its standard input, a pipe that nobody writes to: it ends when the parent does, however
that happens, and a process whose leash ends kills itself. So none outlives its parent, and the lock
of its run is free again. `Pool` is what a sweep needs: processes of this machine, or anything else
that can do as they do.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from backplay.data.files import PASSING, open_to_append


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


LOG = "process.log"
STOPPED = (129, 130, 143)
"""The exit codes of a process that has saved and stopped because a signal told it to."""
REFUSED = 2
"""The exit code of a process that cannot do what is asked for, however often it tries."""
BUSY = 75
"""The exit code of a process that found another one at work on its run, or no room to work."""

_NO_PROCESS = 1  # the exit code of a process that could not be started
_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA", "VECLIB")}


def process_command(path: Path) -> list[str]:
    """What carries out a run directory on this machine."""
    return [sys.executable, "-m", "backplay.cli.leashed", str(path)]


class RunProcess:
    """A process that works in a run directory."""

    def __init__(self, path: Path, command: Sequence[str]) -> None:
        """Starts `command`; OSError if the system has no room for it."""
        self._log = path / LOG
        with os.fdopen(open_to_append(self._log), "r+b") as log:
            self._said = log.seek(0, os.SEEK_END)
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
                env={**os.environ, **_ONE_THREAD},
            )

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    def code(self) -> int | None:
        """Its exit code, less than 0 for a signal; None while it works."""
        return self._process.poll()

    def wait(self) -> int:
        """Its exit code, as soon as there is one."""
        return self._process.wait()

    def stop(self) -> None:
        """Asks it to save and stop."""
        self._process.terminate()

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()
        self._process.wait()

    def words(self) -> str:
        """Why it ended, in one line."""
        code = self.code()
        if code is not None and code < 0:
            return f"killed by {_signal(-code)}"
        try:
            with self._log.open("rb") as log:
                log.seek(max(self._said, log.seek(0, os.SEEK_END) - 4096))
                said = log.read().decode(errors="replace").split("\n")
        except OSError:
            said = []
        last = next((line.strip() for line in reversed(said) if line.strip()), "")
        return last.removeprefix("backplay: ") or f"exit code {code}"


class Ended(NamedTuple):
    """A process that works no more."""

    name: str
    """Of its run."""
    code: int
    """0 done, 2 refused, 75 in use, 128 + n stopped by a signal; with all others it died."""
    words: str
    """Why, in one line."""


class Pool(Protocol):
    """Processes that carry out runs."""

    @property
    def size(self) -> int:
        """How many runs it takes at once."""

    def start(self, run: Planned) -> None:
        """Begins a run, or resumes it; never raises for what is the run's own trouble."""

    def ended(self) -> list[Ended]:
        """The processes that have ended since this was asked last."""

    def stop(self) -> None:
        """Asks all to save and stop; they end when they have."""

    def kill(self) -> None:
        """Ends all at once."""

    def close(self) -> None:
        """Lets go of all that was taken; kills who still works."""


class LocalPool:
    """A process on this machine for each run under way."""

    def __init__(
        self, size: int, command: Callable[[Path], Sequence[str]] = process_command
    ) -> None:
        """`size` processes at most; `command(path)` is what carries out a run directory."""
        self._size = size
        self._command = command
        self._processes: dict[str, RunProcess] = {}
        self._unborn: list[Ended] = []

    @property
    def size(self) -> int:
        return self._size

    @property
    def pids(self) -> dict[str, int]:
        """The process of each run under way."""
        return {name: process.pid for name, process in self._processes.items()}

    def start(self, run: Planned) -> None:
        try:
            self._processes[run.name] = RunProcess(run.path, self._command(run.path))
        except OSError as error:
            code = BUSY if error.errno in PASSING else _NO_PROCESS
            self._unborn.append(Ended(run.name, code, f"no process: {error}"))

    def ended(self) -> list[Ended]:
        found, self._unborn = self._unborn, []
        for name, process in list(self._processes.items()):
            code = process.code()
            if code is not None:
                found.append(Ended(name, code, process.words()))
                del self._processes[name]
        return found

    def stop(self) -> None:
        for process in self._processes.values():
            process.stop()

    def kill(self) -> None:
        for process in self._processes.values():
            process.kill()

    def close(self) -> None:
        self.kill()
        self._processes.clear()


def end_with_parent() -> None:
    """Called in a process: from now on its process ends when its standard input does."""

    def wait() -> None:
        try:
            while os.read(0, 4096):
                pass
        finally:
            os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, daemon=True, name="leash").start()


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
