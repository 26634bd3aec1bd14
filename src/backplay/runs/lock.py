"""One process at a time in a run directory.

Comes in: the directory. Goes out: a lock that the system takes back when its holder ends, however
it ends. The file stays; what it says of the holder is for people.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from backplay.data.files import failed, open_to_append
from backplay.errors import BusyError
from backplay.runs.files import remove_leftovers

LOCK = "lock"


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Holds the lock of the directory at `path`; BusyError at once if another process does."""
    handle = _taken(path)
    try:
        with suppress(OSError):  # on a full disk it is a lock without a name in it
            os.ftruncate(handle, 0)
            os.write(handle, json.dumps(_holder()).encode())
        remove_leftovers(path)
        yield
    finally:
        with suppress(OSError):
            os.ftruncate(handle, 0)
        os.close(handle)


def _taken(path: Path) -> int:
    """The locked file, open."""
    while True:
        try:
            handle = open_to_append(path / LOCK)
        except OSError as error:
            raise failed(path / LOCK, error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(handle, path / LOCK):
                return handle
        except OSError as error:
            told = _told(handle)
            os.close(handle)
            if isinstance(error, BlockingIOError):
                raise _in_use(path, told) from error
            raise failed(path / LOCK, error) from error
        os.close(handle)  # of a file that was removed meanwhile


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def _holder() -> dict[str, int | str]:
    return {"pid": os.getpid(), "host": socket.gethostname()}


def _told(handle: int) -> str:
    """Who holds the lock, as far as the file says."""
    try:
        holder = json.loads(os.pread(handle, 4096, 0))
        return f"process {int(holder['pid'])} on {str(holder['host'])[:100]}"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "another process"


def _in_use(path: Path, holder: str) -> BusyError:
    return BusyError(
        f"{path} is in use",
        expected="a run that no process works on",
        got=holder,
        do="Wait until it ends, or stop it.",
    )
