"""One file of arrays and JSON: written whole or not at all, read with distrust.

The file is a zip of a manifest, one JSON tree and plain `.npy` arrays, so other tools can open it.
Reading it checks every size before anything is allocated, and a digest over the whole content. It
never unpickles and never imports anything a file names.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from backplay.data import packing, trees
from backplay.data.arrays import from_buffer
from backplay.data.files import read_file, write_atomically
from backplay.errors import BackplayError, DemonstrationError, ensure

_VERSION = 1
_MANIFEST, _TREE, _ARRAY = "manifest.json", "tree.json", "arrays/{}.npy"
_MAX_BYTES = 4 * 2**30
_MAX_TEXT = _MAX_BYTES // 16  # JSON takes many times its length in memory
_MAX_MANIFEST = 4096
_SMALL, _RATIO = 2**28, 128  # bytes that any file may hold; how many times its size beyond them


def write(path: str | Path, kind: str, tree: trees.Tree) -> None:
    """Writes `tree` to `path` atomically, as a file of the given kind."""
    write_atomically(Path(path), to_bytes(kind, tree))


def to_bytes(kind: str, tree: trees.Tree) -> bytes:
    """The content of a file of the given kind."""
    try:
        text, arrays = packing.pack(tree)
    except (TypeError, ValueError, RecursionError) as error:
        raise BackplayError(
            "Nothing was written",
            expected="numbers, text, arrays and containers of them",
            got=str(error)[:200],
            do="Files hold plain data only; use an env whose observations and actions are.",
        ) from error
    size = len(text) + sum(array.nbytes for array in arrays)
    ensure(
        len(text) <= _MAX_TEXT and size <= _MAX_BYTES, "Nothing was written",
        f"at most {_MAX_BYTES} bytes, {_MAX_TEXT} of them as JSON",
        got=f"{size} bytes, {len(text)} of them as JSON",
        do='Record a shorter episode, or use restorer="replay", whose states take no room.',
    )  # fmt: skip
    manifest = {"kind": kind, "version": _VERSION, "sha256": _digest(text, arrays)}
    packed = _zipped(manifest, text, arrays, zipfile.ZIP_DEFLATED)
    if size > most_content(len(packed)):  # as small a file as no reader believes
        packed = _zipped(manifest, text, arrays, zipfile.ZIP_STORED)
    return packed


def _zipped(manifest: dict[str, Any], text: str, arrays: list[np.ndarray], method: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr(_MANIFEST, json.dumps(manifest))
        archive.writestr(_TREE, text)
        for i, array in enumerate(arrays):
            with archive.open(_ARRAY.format(i), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def most_content(size: int) -> int:
    """How many bytes a file of this size may hold when it is unpacked."""
    return min(_MAX_BYTES, _SMALL + _RATIO * size)


def read(path: str | Path | io.BytesIO, kind: str, max_bytes: int = _MAX_BYTES) -> trees.Tree:
    """The tree in a file of the given kind; DemonstrationError if it is damaged or no such file.

    `max_bytes` bounds what the content may take in memory.
    """
    where = "This data" if isinstance(path, io.BytesIO) else str(path)
    try:
        data = path.getbuffer() if isinstance(path, io.BytesIO) else _whole(Path(path), max_bytes)
        max_bytes = min(max_bytes, most_content(len(data)))
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            text, arrays = _read_members(archive, where, kind, max_bytes)
    except FileNotFoundError as error:
        raise DemonstrationError(
            f"There is no file {path}", do="Check the path; bp.record and save write one."
        ) from error
    except DemonstrationError:
        raise
    except Exception as error:  # zipfile, zlib and numpy raise a dozen kinds on hostile bytes
        raise _damaged(where, f"{type(error).__name__}: {str(error)[:200]}") from error
    return packing.unpack(text, arrays)


def _whole(path: Path, most: int) -> bytearray:
    return read_file(path, links=True, most=most)


def _read_members(
    archive: zipfile.ZipFile, where: str, kind: str, max_bytes: int
) -> tuple[str, list[np.ndarray]]:
    members = {info.filename: info for info in archive.infolist()}
    expected = {_MANIFEST, _TREE} | {_ARRAY.format(i) for i in range(len(members) - 2)}
    if len(members) != len(archive.infolist()) or members.keys() != expected:
        raise _damaged(where, f"the members {', '.join(list(members)[:6])[:200]}")
    if sum(info.file_size for info in members.values()) > max_bytes:
        raise _damaged(
            where, f"content of more than {max_bytes} bytes, which is more than it can hold"
        )

    def content(name: str, limit: int = max_bytes) -> bytes:
        info = members[name]
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("another compression than deflate")
        if info.file_size > limit:
            raise ValueError(f"{name} of {info.file_size} bytes, more than {limit}")
        with archive.open(info) as member:
            # With a count, or zipfile would unpack all that is there before it looks at the size.
            return member.read(info.file_size + 1)

    manifest = json.loads(content(_MANIFEST, _MAX_MANIFEST))
    found = (manifest.get("kind"), manifest.get("version")) if isinstance(manifest, dict) else None
    if found != (kind, _VERSION):
        raise DemonstrationError(
            f"{where} is no {kind} this version can read",
            expected=f"{kind}, format {_VERSION}",
            got=str(found)[:100],
            do="Record it again, or use the version of backplay that wrote it.",
        )
    text = content(_TREE, _MAX_TEXT).decode("utf-8")
    arrays = [_array(content(_ARRAY.format(i))) for i in range(len(members) - 2)]
    if manifest.get("sha256") != _digest(text, arrays):
        raise _damaged(where, "content that is not what was written")
    return text, arrays


def _array(data: bytes) -> np.ndarray:
    """The array in the bytes of a `.npy` file, which must be exactly as long as its header says."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    reader = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, fortran_order, dtype = reader(file, max_header_size=10_000)
    if fortran_order or len(shape) < 1:
        raise ValueError("an array that is laid out otherwise")
    # Over a bytearray the array can be written to, as it could when it was recorded.
    return from_buffer(bytearray(data), dtype, shape, file.tell(), len(data) - file.tell())


def _digest(text: str, arrays: list[np.ndarray]) -> str:
    digest = hashlib.sha256(text.encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _damaged(where: str, got: Any) -> DemonstrationError:
    return DemonstrationError(
        f"{where} is damaged or no file of backplay's",
        expected="a zip of a manifest, a tree and its arrays, unchanged since it was written",
        got=got,
        do="Copy it again from where it came, or record it again.",
    )
