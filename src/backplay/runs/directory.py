"""Run directories: made whole, opened with distrust.

Comes in: a path, settings, files of demonstrations. Goes out: a `Run`. Does not know: what becomes
of it later.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from backplay.data.files import failed, open_to_append, sync_folder, write_atomically
from backplay.errors import BackplayError
from backplay.runs import documents, lock, provenance
from backplay.runs.files import (
    UNFINISHED,
    damaged,
    is_leftover,
    reason,
    remove_files,
    remove_leftovers,
    unread,
)
from backplay.runs.run import CONFIG, DIGESTS, PROVENANCE, Run

_COPY = re.compile(r"\d+\.npz")


def create(
    path: Path,
    config: dict[str, Any],
    demonstrations: Sequence[Path] = (),
    *,
    command: str | None = None,
) -> Run:
    """A new run directory at `path`, which must not exist, or be empty, or be unfinished.

    Args:
        path: where.
        config: what is asked for, as plain data.
        demonstrations: files to be copied into it; the config then says their checksums, too.
        command: how it is made; by default as this process was started.
    """
    require_free(path)
    if demonstrations:
        config = {**config, DIGESTS: [_digest(file) for file in demonstrations]}
    config = documents.exact(config)
    is_new = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
        os.close(open_to_append(path / UNFINISHED))
    except OSError as error:
        raise failed(path, error) from error
    with lock.held(path):
        require_free(path)  # somebody may have been faster
        try:
            _fill(path, config, demonstrations, command)
        except BaseException:
            _clear(path)
            with suppress(OSError):
                (path / lock.LOCK).unlink()
                (path / UNFINISHED).unlink()
                if is_new:
                    path.rmdir()
            raise
    return Run(path, config)


def require_free(path: Path) -> None:
    """Refuses a path where something is already; what a killed `create` left is nothing."""
    if not path.exists() or (path.is_dir() and (_is_unfinished(path) or not any(path.iterdir()))):
        return
    raise BackplayError(
        f"{path} is not empty",
        expected="a directory that does not exist yet",
        got="a run" if is_run(path) else "other files",
        do=f"Choose another --dir{f', or resume it with --resume {path}' if is_run(path) else ''}.",
    )


def is_run(path: Path) -> bool:
    """Whether there is a run at `path`, sound or not."""
    return (path / CONFIG).exists()


def open_run(path: Path) -> Run:
    """The run directory at `path`."""
    file = path / CONFIG
    try:
        found = documents.load(file)
        if type(found.get("format")) is int and found["format"] != documents.FORMAT:
            raise _other_version(path, found["format"])
        return Run(path, documents.read(file))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BackplayError(
            f"{path} is no run", expected=f"a directory with a {CONFIG}", do="Check the path."
        ) from error
    except OSError as error:
        raise unread(file, error) from error
    except (ValueError, RecursionError) as error:
        raise damaged(file, error) from error


def _fill(
    path: Path, config: dict[str, Any], demonstrations: Sequence[Path], command: str | None
) -> None:
    """Writes all files; the config last, when the others are on the disk."""
    _clear(path)
    for i, file in enumerate(demonstrations):
        write_atomically(path / DIGESTS / f"{i}.npz", _content(file))
    told = documents.plain(provenance.gather(command))
    documents.write(path / PROVENANCE, told, documents.digest(config))
    sync_folder(path)
    documents.write(path / CONFIG, config)
    remove_leftovers(path)
    sync_folder(path.parent)


def _digest(file: Path) -> str:
    return hashlib.sha256(_content(file)).hexdigest()


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise BackplayError(
            f"{file} cannot be copied", expected="a file that can be read", got=reason(error)
        ) from error


def _is_unfinished(path: Path) -> bool:
    """Whether a directory says that `create` is at work, and holds nothing but what it writes."""
    names = {file.name for file in path.iterdir() if not is_leftover(file)}
    if UNFINISHED not in names or not names <= {UNFINISHED, lock.LOCK, PROVENANCE, DIGESTS}:
        return False
    folder = path / DIGESTS
    copies = list(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else []
    return all(_COPY.fullmatch(file.name) or is_leftover(file) for file in copies)


def _clear(path: Path) -> None:
    """Removes what an unfinished `create` wrote."""
    remove_leftovers(path)
    remove_files(path / DIGESTS, _COPY)
    with suppress(OSError):
        (path / PROVENANCE).unlink(missing_ok=True)
        (path / DIGESTS).rmdir()


def _other_version(path: Path, version: object) -> BackplayError:
    return BackplayError(
        f"{path} was made by another version of backplay",
        expected=f"format {documents.FORMAT}",
        got=f"format {version}",
        do="Use the version it was made with.",
    )
