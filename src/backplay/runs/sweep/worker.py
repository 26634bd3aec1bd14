"""One process that carries out one run directory, on a leash.

Comes in: a run directory and a command. The process has one thread, a process group of its own (the
Ctrl-C of a terminal reaches only its parent) and its words in `worker.log` of the run directory.

The leash is its standard input, a pipe that nobody writes to: it ends when the parent does, however
that happens, and a worker whose leash ends kills itself. So no worker outlives its parent, and the
lock of its run is free again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

LOG = "worker.log"
STOPPED = 130
"""The exit code of a worker that has saved and stopped because it was told to."""
REFUSED = 2
"""The exit code of a worker that cannot do what is asked for, however often it tries."""
BUSY = 75
"""The exit code of a worker that found another process at work on its run."""

_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA", "VECLIB")}


def work_command(path: Path) -> list[str]:
    """What carries out a run directory on this machine."""
    return [sys.executable, "-m", "backplay.cli.worker", str(path)]


class Worker:
    """A process that works in a run directory."""

    def __init__(self, path: Path, command: Sequence[str]) -> None:
        """Starts `command`; OSError if the system has no room for it."""
        self._log = path / LOG
        with self._log.open("ab") as log:
            self._said = log.tell()
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


def end_with_parent() -> None:
    """Called in a worker: from now on its process ends when its standard input does."""

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
