"""Checkpoints: one safetensors file each, which is read as it was written or refused.

Comes in: a tree of plain data and arrays, what its run is, how far the metrics had come. Goes out:
the same. The arrays are tensors, the rest is JSON in the header. A checksum over every byte of the
file is looked at before anything else. Does not know: what a tree means, nor the metrics.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from backplay.data import packing
from backplay.data.arrays import from_buffer
from backplay.data.files import failed, opened_folder, read_file, write_in
from backplay.errors import BackplayError, show
from backplay.runs.lines import Mark

FORMAT = 1
KEPT = 2
_BEGIN = b'{"__metadata__":{"sha256":"'
_SUM = slice(8 + len(_BEGIN), 8 + len(_BEGIN) + 64)
_NO_SUM = b"0" * 64
_MAX_HEADER = 100_000_000  # what other readers of the format accept
_ALIGNED = 64
_NAME = re.compile(r"\d{12,18}\.safetensors")
Bytes = bytes | memoryview
_TENSORS = {
    "|b1": "BOOL", "|i1": "I8", "|u1": "U8", "<f2": "F16", "<f4": "F32", "<f8": "F64",
    "<i2": "I16", "<i4": "I32", "<i8": "I64", "<u2": "U16", "<u4": "U32", "<u8": "U64",
}  # fmt: skip
"""What the format calls an array's dtype; the others are stored as bytes."""


@dataclass(frozen=True)
class Loaded:
    """A checkpoint that was read."""

    state: dict[str, Any]
    """What was saved."""
    notes: list[str]
    """Newer checkpoints that were passed over, and why."""
    path: Path
    """Where it is."""


class Checkpoint(NamedTuple):
    """What a file holds."""

    state: dict[str, Any]
    of_config: str
    """The digest of the config of its run."""
    metrics: Mark
    """The metrics that were written before it."""


def name(frames: int) -> str:
    """The file name of the checkpoint at so many frames."""
    return f"{frames:012d}.safetensors"


def newest_first(folder: Path) -> list[Path]:
    """The checkpoints in a folder; none if there is no folder."""
    try:
        with opened_folder(folder) as handle:
            return [folder / name for name in _newest_first(handle)]
    except FileNotFoundError:
        return []


def _newest_first(folder: int) -> list[str]:
    found = [name for name in os.listdir(folder) if _NAME.fullmatch(name)]
    return sorted(found, key=_frames, reverse=True)


def _frames(name: str) -> int:
    return int(name.partition(".")[0])


def write(folder: Path, checkpoint: Checkpoint) -> Path:
    """Adds a checkpoint; only then those it makes needless go."""
    frames = checkpoint.state.get("frames")
    if type(frames) is not int or not 0 <= frames < 10**18:
        raise BackplayError("state['frames']", expected="a whole number from 0", got=show(frames))
    path, data = folder / name(frames), to_bytes(checkpoint)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with opened_folder(folder) as handle:
            write_in(handle, path.name, data)
            # Later ones are of a life that was given up: this one is where the run stands.
            others = _newest_first(handle)
            before = [other for other in others if _frames(other) < frames]
            for needless in {*others} - {path.name, *before[: KEPT - 1]}:
                with suppress(OSError):
                    os.unlink(needless, dir_fd=handle)
    except OSError as error:
        raise failed(folder if folder.is_symlink() else path, error) from error
    return path


def read(path: Path) -> Checkpoint:
    """The checkpoint in a file; OSError, or ValueError that says what is wrong with it."""
    checkpoint = from_bytes(read_file(path))
    if checkpoint.state.get("frames") != int(path.stem):
        raise ValueError("the frames in it are not those of its name")
    return checkpoint


def to_bytes(checkpoint: Checkpoint) -> bytes:
    """The content of a checkpoint's file."""
    try:
        text, arrays = packing.pack(checkpoint.state)
    except (TypeError, ValueError, RecursionError) as error:
        raise BackplayError(
            "Nothing was saved", expected="a state of numbers, text, arrays and containers of them",
            got=str(error)[:200],
        ) from error  # fmt: skip
    metadata = {
        "sha256": _NO_SUM.decode(), "format": str(FORMAT), "config": checkpoint.of_config,
        "metrics": json.dumps(checkpoint.metrics), "tree": text,
        "arrays": json.dumps([[array.dtype.str, array.shape] for array in arrays]),
    }  # fmt: skip
    # By alignment, so that every array stands where its kind of number may stand.
    order = sorted(range(len(arrays)), key=lambda i: -arrays[i].dtype.alignment)
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for i in order:
        begin, end = end, end + arrays[i].nbytes
        header[str(i)] = {**_tensor(arrays[i]), "data_offsets": [begin, end]}
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-(len(head) + 8) % _ALIGNED)
    if len(head) > _MAX_HEADER:
        raise BackplayError(
            "Nothing was saved", expected=f"at most {_MAX_HEADER:,} bytes that are no arrays",
            got=f"{len(head):,}", do="Keep long lists of numbers as arrays.",
        )  # fmt: skip
    head = len(head).to_bytes(8, "little") + head
    parts: list[Bytes] = [head]
    parts += [arrays[i].reshape(-1).view(np.uint8).data for i in order]
    found = _digest(parts).encode()
    return b"".join([head[: _SUM.start], found, head[_SUM.stop :], *parts[1:]])


def from_bytes(data: bytearray) -> Checkpoint:
    """What `to_bytes` got, its arrays in the memory of `data`; ValueError if a byte was changed."""
    head = bytes(data[: _SUM.stop])
    if head[8 : _SUM.start] != _BEGIN:
        raise ValueError("no checkpoint of backplay's")
    parts: list[Bytes] = [head[: _SUM.start], _NO_SUM, memoryview(data)[_SUM.stop :]]
    if _digest(parts).encode() != head[_SUM]:
        raise ValueError("content that differs from what was written")
    try:
        begin = 8 + int.from_bytes(head[:8], "little")
        header = json.loads(data[8:begin])
        metadata = header["__metadata__"]
        if metadata["format"] != str(FORMAT):
            raise ValueError(f"format {metadata['format']}, where this version reads {FORMAT}")
        arrays = []
        for i, (dtype, shape) in enumerate(json.loads(metadata["arrays"])):
            first, last = header[str(i)]["data_offsets"]
            arrays.append(from_buffer(data, np.dtype(dtype), shape, begin + first, last - first))
        state = packing.unpack(metadata["tree"], arrays)
        return Checkpoint(state, metadata["config"], Mark(*json.loads(metadata["metrics"])))
    except Exception as error:  # whatever json and numpy raise on hostile data
        raise ValueError(f"{type(error).__name__}: {str(error)[:200]}") from error


def _tensor(array: np.ndarray) -> dict[str, Any]:
    known = _TENSORS.get(array.dtype.str)
    if known:
        return {"dtype": known, "shape": array.shape}
    return {"dtype": "U8", "shape": [array.nbytes]}


def _digest(parts: Sequence[Bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
