"""Files: read whole, and written whole or not at all.

Comes in: paths and bytes. Goes out: bytes, and errors that say what became of what was there.
Does not know: what the files hold.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from backplay.errors import BackplayError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_atomically(path: Path, data: bytes) -> None:
    """Puts `data` at `path`: after a crash the file is the old or the new one, never a mixture."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent / f".{path.name}.{secrets.token_hex(6)}"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise failed(path, error) from error
    sync_folder(path.parent)


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


def sync_folder(path: Path) -> None:
    """Puts what a folder lists on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def failed(path: Path, error: BaseException) -> BackplayError:
    """The error of a write that failed and changed nothing."""
    number = error.errno if isinstance(error, OSError) else None
    reason = error.strerror if isinstance(error, OSError) else None
    full = number in _FULL
    return BackplayError(
        f"{path} cannot be written",
        expected="room on the disk" if full else "a folder that may be written",
        got=f"no space left ({reason})" if full else reason or error,
        do=f"{'Free some' if full else 'Change that'}; nothing was overwritten:"
        " what was saved is untouched.",
    )
