"""Files that grow by lines of JSON: append, read, vouch for what is there, cut back to it.

Comes in: plain data, one object per line. Goes out: the lines, without a last one that a crash cut
short. Readers may read while one writer writes. Does not know: what the lines say.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from backplay.data.files import failed, open_to_append, read_file
from backplay.runs.documents import json_object, plain
from backplay.runs.files import damaged, unread

_BLOCK = 2**20
Line = dict[str, Any]


class Mark(NamedTuple):
    """So many bytes at the beginning of a file, and their checksum."""

    bytes: int
    sha256: str


def append(path: Path, values: Line) -> None:
    """Adds one line, or nothing if that fails; a line that was cut short before is removed."""
    data = memoryview(f"{json.dumps(plain(values), allow_nan=False)}\n".encode())
    with _opened(path) as handle:
        end = _cut_torn(handle)
        try:
            written = 0
            while written < len(data):
                written += os.write(handle, data[written:])
        except BaseException:
            os.ftruncate(handle, end)
            raise


def read(path: Path) -> list[Line]:
    """All whole lines; none if there is no file."""
    data = _bytes(path)
    while True:
        try:
            return [json_object(line) for line in data.split(b"\n")[:-1]]
        except (ValueError, RecursionError) as error:
            again = _bytes(path)  # a writer may have cut it back while it was read
            if again == data:
                raise damaged(path, error) from error
            data = again


def last(path: Path) -> Line | None:
    """The last whole line."""
    lines = _bytes(path).split(b"\n")[-2:-1]
    try:
        return json_object(lines[0]) if lines else None
    except (ValueError, RecursionError) as error:
        raise damaged(path, error, do="Remove it: it holds nothing but wall time.") from error


def mark(path: Path) -> Mark:
    """Vouches for all whole lines, which are on the disk from then on."""
    if not path.exists():
        return Mark(0, hashlib.sha256().hexdigest())
    with _opened(path) as handle:
        end = _cut_torn(handle)
        os.fsync(handle)
        return Mark(end, _digest(handle, end))


def misfit(path: Path, wanted: Mark) -> str | None:
    """Why a file does not begin with what a mark vouches for, or None if it does."""
    data = memoryview(_bytes(path))
    if len(data) < wanted.bytes:
        return f"{path.name} has {len(data)} bytes of the {wanted.bytes} that belong to it"
    if hashlib.sha256(data[: wanted.bytes]).hexdigest() != wanted.sha256:
        return f"{path.name} differs from what it was"
    return None


def cut(path: Path, size: int) -> None:
    """Leaves the first `size` bytes."""
    if not path.exists():
        return
    with _opened(path) as handle:
        if os.fstat(handle).st_size > size:
            os.ftruncate(handle, size)
            os.fsync(handle)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """A file to append to; whatever the system refuses is a BackplayError."""
    try:
        handle = open_to_append(path)
        try:
            yield handle
        finally:
            os.close(handle)
    except OSError as error:
        raise failed(path, error) from error


def _cut_torn(handle: int) -> int:
    """Removes a last line without its end; the size then."""
    size = end = os.fstat(handle).st_size
    while end:
        begin = max(0, end - _BLOCK)
        found = os.pread(handle, end - begin, begin).rfind(b"\n")
        end = begin + found + 1
        if found >= 0:
            break
    if end < size:
        os.ftruncate(handle, end)
    return end


def _digest(handle: int, size: int) -> str:
    digest, at = hashlib.sha256(), 0
    while at < size:
        block = os.pread(handle, min(_BLOCK, size - at), at)
        if not block:
            break
        digest.update(block)
        at += len(block)
    return digest.hexdigest()


def _bytes(path: Path) -> bytearray:
    try:
        return read_file(path)
    except FileNotFoundError:
        return bytearray()
    except OSError as error:
        raise unread(path, error) from error
