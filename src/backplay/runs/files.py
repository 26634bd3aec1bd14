"""Files of a run directory: what killed writers left of them, and errors that say what is wrong.

Comes in: paths, and what reading them raised. Goes out: errors. Does not know: what the files hold.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from backplay.data.files import PASSING, failed, opened_folder
from backplay.errors import BackplayError, BusyError, show

_BROKEN = (errno.EIO, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.ENXIO)
_OURS = r"(config|provenance|result|extended)\.json|\d+\.npz|\d+\.safetensors"
_LEFTOVER = re.compile(rf"\.({_OURS})\.[0-9a-f]{{12}}")  # as `data.files` names them
UNFINISHED = ".backplay-unfinished"
"""Stands first in a directory that is being made: only then may `create` clear what it finds."""
FOLDERS = ("demonstrations", "checkpoints")


def is_leftover(path: Path) -> bool:
    """Whether this is the unfinished file of a killed writer."""
    return _LEFTOVER.fullmatch(path.name) is not None and path.is_file() and not path.is_symlink()


def remove_leftovers(path: Path) -> None:
    """Removes what killed writers left in a run directory that nobody else works in."""
    remove_files(path, _LEFTOVER, links=True)
    for name in FOLDERS:
        remove_files(path / name, _LEFTOVER)
    if (path / "config.json").exists():  # it was made
        remove_files(path, re.compile(re.escape(UNFINISHED)), links=True)


def remove_files(folder: Path, names: re.Pattern[str], *, links: bool = False) -> None:
    """Removes the files of a folder whose names fit; no folder and no link, unless to it itself."""
    with suppress(OSError), opened_folder(folder, links=links) as handle:
        for name in [name for name in os.listdir(handle) if names.fullmatch(name)]:
            if stat.S_ISREG(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=handle)


def damaged(
    path: Path, why: object, do: str = "Copy it again from where it came."
) -> BackplayError:
    """The error of a file that is not as it was written."""
    return BackplayError(
        f"{path} is damaged", expected="the file as backplay wrote it", got=reason(why), do=do
    )


def unread(path: Path, error: OSError) -> BackplayError:
    """The error of a file that the system does not give: damaged, or out of reach for now."""
    if path.is_symlink():
        return failed(path, error)
    if error.errno in _BROKEN:
        return damaged(path, error)
    kind = BusyError if error.errno in PASSING else BackplayError
    return kind(
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
