"""Files: read whole, and written whole or not at all.

Comes in: paths and bytes. Goes out: bytes, and errors that say what became of what was there.
Does not know: what the files hold.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from backplay.errors import BackplayError, BusyError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PASSING = (errno.ENOSPC, errno.EDQUOT, errno.ESTALE, errno.EBUSY, errno.EAGAIN, errno.ETIMEDOUT)
"""What may be over in a while: a full disk, a share of the network that is away."""


def write_atomically(path: Path, data: bytes) -> None:
    """Puts `data` at `path`: after a crash the file is the old or the new one, never a mixture."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with opened_folder(path.parent, links=True) as folder:
            write_in(folder, path.name, data)
    except OSError as error:
        raise failed(path, error) from error


def write_in(folder: int, name: str, data: bytes) -> None:
    """As `write_atomically`, in a folder that is open; OSError where the system refuses."""
    temporary = f".{name}.{secrets.token_hex(6)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    with suppress(OSError):  # where the system can
        os.fsync(folder)


def read_file(path: Path, *, links: bool = False, most: int | None = None) -> bytearray:
    """All bytes of a file; OSError if it is none, and never a wait for what is a pipe.

    Args:
        path: where it is.
        links: whether it may be a link to a file.
        most: bytes; a larger one is refused unread.
    """
    follow = 0 if links else os.O_NOFOLLOW
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | follow)
    with os.fdopen(handle, "rb") as file:
        size = _size_of_file(handle)
        if most is not None and size > most:
            raise OSError(errno.EFBIG, f"Larger than {most} bytes")
        try:
            data = bytearray(size)
        except MemoryError as error:
            raise OSError(errno.ENOMEM, "Larger than the memory") from error
        del data[file.readinto(data) :]
        return data


def open_to_append(path: Path) -> int:
    """A handle to read a file and to write at its end, made if it is missing; OSError if no file.

    A link is refused: what it leads to is not ours to write.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
    handle = os.open(path, flags, 0o666)
    try:
        _size_of_file(handle)
    except OSError:
        os.close(handle)
        raise
    return handle


def _size_of_file(handle: int) -> int:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "Not a file")
    return status.st_size


@contextmanager
def opened_folder(path: Path, *, links: bool = False) -> Iterator[int]:
    """A handle of a folder, for `dir_fd`: whatever becomes of its name, it stays the same one.

    OSError if it is none; a link to one is refused unless `links` may be.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except PermissionError:  # one that may be written and not listed
        if not links or not hasattr(os, "O_PATH"):
            raise
        handle = os.open(path, flags | os.O_PATH)
    try:
        yield handle
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Puts what a folder lists on the disk, where the system can."""
    with suppress(OSError), opened_folder(path, links=True) as handle:
        os.fsync(handle)


def failed(path: Path, error: BaseException) -> BackplayError:
    """The error of a write that failed and changed nothing; BusyError where it may work later."""
    number = error.errno if isinstance(error, OSError) else None
    reason = error.strerror if isinstance(error, OSError) else None
    if path.is_symlink():
        return BackplayError(
            f"{path} is a link",
            expected="a file or a folder of the run's own: links are not followed",
            got=reason or error, do="Put there what it leads to, or remove it.",
        )  # fmt: skip
    full = number in _FULL
    kind = BusyError if number in PASSING else BackplayError
    return kind(
        f"{path} cannot be written",
        expected="room on the disk" if full else "a folder that may be written",
        got=f"no space left ({reason})" if full else reason or error,
        do=f"{'Free some' if full else 'Change that'}; nothing was overwritten:"
        " what was saved is untouched.",
    )
