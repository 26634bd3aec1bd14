"""JSON files that know if they were changed: a checksum stands beside what they say.

Comes in: plain data. Goes out: the same, or an error. Numbers that JSON does not have (NaN and the
infinities) become null, unless they are refused. Does not know: what a document is about.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from backplay.data.files import read_file, write_atomically
from backplay.errors import BackplayError, ensure, show
from backplay.runs.files import damaged

FORMAT = 2
_FORMAT, _SUM, _OF = "format", "sha256", "of_config"
Body = dict[str, Any]


def plain(value: Any) -> Any:
    """`value` as JSON has it: tuples and arrays as lists, numbers that are none as None."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_key(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    raise _not_plain(value)


def exact(value: Body) -> Body:
    """`value` as a file gives it back; a number that JSON does not have is refused."""
    try:
        back: Body = json.loads(json.dumps(value, default=plain, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise _not_plain(value, str(error)) from error
    return back


def digest(body: Body) -> str:
    """A checksum of what a document says, however it is laid out."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def write(path: Path, body: Body, of_config: str | None = None) -> None:
    """Writes a document; `of_config` is the digest of the config that it belongs to."""
    for key in (_FORMAT, _SUM, _OF):
        ensure(
            key not in body, f"{path.name}, {key!r}", "another name: this one is kept for the file"
        )
    signed = {_FORMAT: FORMAT, **({} if of_config is None else {_OF: of_config}), **body}
    text = json.dumps({**signed, _SUM: _signature(path, signed)}, indent=2)
    write_atomically(path, f"{text}\n".encode())


def read(path: Path, of_config: str | None = None, do: str | None = None) -> Body:
    """What `write` got; OSError if there is no such file, BackplayError if it was changed."""
    try:
        body = load(path)
        found = body.pop(_SUM, None)
        if found != _signature(path, body):
            raise ValueError("content that differs from what was written")
        if body.pop(_FORMAT) != FORMAT or body.pop(_OF, None) != of_config:
            raise ValueError("a document of another run or format")
    except (ValueError, KeyError, RecursionError) as error:
        raise damaged(path, error, **({} if do is None else {"do": do})) from error
    return body


def load(path: Path) -> Body:
    """The object in a JSON file, unchecked; OSError, ValueError or RecursionError if it is none."""
    return json_object(read_file(path))


def json_object(text: bytes | bytearray) -> Body:
    """The object that is written there; ValueError if it is anything else."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def _signature(path: Path, body: Body) -> str:
    """The checksum of a document, which is another one under another name."""
    return digest({"name": path.name, "body": body})


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int | np.integer):
        return str(key)
    raise _not_plain(key, "as a key")


def _not_plain(value: Any, more: str = "") -> BackplayError:
    return BackplayError(
        "This cannot be written as JSON",
        expected="numbers, text, lists and objects of them",
        got=f"{show(value)} {more}".strip(),
    )
