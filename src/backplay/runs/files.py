"""Files of a run directory: read whole, put on the disk, swept up after a killed writer.

Comes in: paths and bytes. Goes out: bytes, and errors that say what became of what was there.
Does not know: what the files hold.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from backplay.data import archive
from backplay.errors import BackplayError, show

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BROKEN = (errno.EIO, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.ENXIO)
_OURS = r"(config|provenance|result)\.json|\d+\.npz|\d+\.safetensors"
_LEFTOVER = re.compile(rf"\.({_OURS})\.[0-9a-f]{{12}}")  # as `archive.write_atomically` names them
FOLDERS = ("demonstrations", "checkpoints")


def read_file(path: Path) -> bytearray:
    """All bytes of a file; OSError if it is none, and never a wait for what is a pipe."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "Not a file")
        try:
            data = bytearray(status.st_size)
        except MemoryError as error:
            raise OSError(errno.ENOMEM, "Larger than the memory") from error
        del data[file.readinto(data) :]
        return data


def write_file(path: Path, data: bytes) -> None:
    """Replaces a file whole or not at all."""
    try:
        archive.write_atomically(path, data)
    except BackplayError as error:
        raise failed(path, error.__cause__ or error) from error


def sync_folder(path: Path) -> None:
    """Puts what a folder lists on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def is_leftover(path: Path) -> bool:
    """Whether this is the unfinished file of a killed writer."""
    return _LEFTOVER.fullmatch(path.name) is not None and path.is_file() and not path.is_symlink()


def remove_leftovers(path: Path) -> None:
    """Removes what killed writers left in a run directory that nobody else works in."""
    for folder in (path, *(path / name for name in FOLDERS)):
        with suppress(OSError):
            for file in [file for file in folder.iterdir() if is_leftover(file)]:
                file.unlink()


def failed(path: Path, error: BaseException) -> BackplayError:
    """The error of a write that failed and changed nothing."""
    number = error.errno if isinstance(error, OSError) else None
    reason = error.strerror if isinstance(error, OSError) else None
    full = number in _FULL
    return BackplayError(
        f"{path} cannot be written",
        expected="room on the disk" if full else "a folder that may be written",
        got=f"no space left ({reason})" if full else reason or error,
        do=f"{'Free some' if full else 'Change that'}; what was saved is untouched.",
    )


def damaged(
    path: Path, why: object, do: str = "Copy it again from where it came."
) -> BackplayError:
    """The error of a file that is not as it was written."""
    return BackplayError(
        f"{path} is damaged", expected="the file as backplay wrote it", got=reason(why), do=do
    )


def unread(path: Path, error: OSError) -> BackplayError:
    """The error of a file that the system does not give: damaged, or out of reach for now."""
    if error.errno in _BROKEN:
        return damaged(path, error)
    return BackplayError(
        f"{path} cannot be read",
        expected="a file that this process may read",
        got=reason(error),
        do="Change that and try again; nothing was changed.",
    )


def is_broken(error: Exception) -> bool:
    """Whether trying again cannot help."""
    return not isinstance(error, OSError) or error.errno in _BROKEN


def reason(why: object) -> str:
    """What is wrong with a file, in a few words."""
    if isinstance(why, OSError):
        return why.strerror or type(why).__name__
    if isinstance(why, Exception):
        return f"{type(why).__name__}: {str(why)[:200]}"
    return why if isinstance(why, str) else show(why)
