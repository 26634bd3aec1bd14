"""Trees of plain data as JSON text and arrays, and back: what every file of ours holds.

Comes in: a tree, or what is said to be one that was packed. Goes out: text and arrays, or the tree,
or one error. Reading never runs code. Does not know: what a tree means, files.
"""

from __future__ import annotations

import gc
import json
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from backplay.data.arrays import KINDS
from backplay.data.streams import RandomStream, is_pcg64, new_generator, read_stream
from backplay.data.trees import ATOMS, LEFT, Attributes, Tree, first_difference
from backplay.errors import DemonstrationError, refusing

_NESTED = frozenset((list, dict))  # of JSON
_COLLISIONS = 32


@contextmanager
def _no_collection() -> Iterator[None]:
    """Python does not look for garbage meanwhile: among millions of parts that takes longest."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_no_collection()
def pack(tree: Tree) -> tuple[str, list[np.ndarray]]:
    """`tree` as JSON text and arrays; arrays of one dtype and shape become rows of one array.

    A container that stands in several places (an unchanging table in each of a thousand states) is
    written once.
    """
    groups: dict[tuple[str, tuple[int, ...]], int] = {}
    rows: list[list[np.ndarray]] = []
    shared = {key: i for i, key in enumerate(_shared_containers(tree))}
    pool: list[Any] = [None] * len(shared)

    def put(array: np.ndarray) -> list[int]:
        if array.dtype.kind not in KINDS:
            raise TypeError(f"not plain data: an array of {array.dtype}")
        key = (array.dtype.str, array.shape)
        group = groups.setdefault(key, len(rows))
        if group == len(rows):
            rows.append([])
        rows[group].append(array)
        return [group, len(rows[group]) - 1]

    def write(value: Tree) -> Any:
        index = shared.get(id(value))
        if index is None:
            return _write(value, write, plain, put)
        if pool[index] is None:
            pool[index] = plain(value)
        return {"$shared": index}

    def plain(value: Tree) -> Any:  # inside the pool nothing is shared: no references to unfold
        return _write(value, plain, plain, put)

    body = write(tree)
    text = json.dumps({"tree": body, "shared": pool}, separators=(",", ":"))
    return text, [_stacked(group) for group in rows]


def _stacked(rows: list[np.ndarray]) -> np.ndarray:
    """`np.stack` of arrays of one dtype and shape, which keeps the order of bytes too."""
    stacked = np.empty((len(rows), *rows[0].shape), rows[0].dtype)
    for i, row in enumerate(rows):
        stacked[i] = row
    return stacked


def _shared_containers(tree: Tree) -> dict[int, None]:
    """Ids of the containers that are reached more than once, down to six levels."""
    seen: set[int] = set()
    repeated: dict[int, None] = {}

    def visit(value: Tree, left: int) -> None:
        if not isinstance(value, dict | list | tuple | deque) or not value:
            return
        if id(value) in seen:
            repeated[id(value)] = None
            return
        seen.add(id(value))
        if left:
            for child in value.values() if isinstance(value, dict) else value:
                visit(child, left - 1)

    visit(tree, 6)
    return repeated


def _write(
    value: Tree,
    write: Callable[[Tree], Any],
    plain: Callable[[Tree], Any],
    put: Callable[[np.ndarray], list[int]],
) -> Any:
    """`value` as JSON; `write` does so for what is in it, `plain` without sharing, for keys."""
    kind = type(value)
    if kind is bytes:
        return {"$bytes": put(np.frombuffer(value, np.uint8))}
    if kind in ATOMS:
        return value
    if isinstance(value, np.generic):
        return {"$scalar": put(np.asarray(value))}
    if kind is np.ndarray:
        return {"$array": put(value)}
    if kind is list:
        return [write(child) for child in value]
    if kind is tuple:
        return {"$tuple": [write(child) for child in value]}
    if kind is deque:
        return {"$deque": [value.maxlen, [write(child) for child in value]]}
    if kind is set:
        return {"$set": [plain(child) for child in sorted(value, key=repr)]}
    if kind is RandomStream:
        return {"$stream": [value.kind, write(value.state)]}
    if kind is Attributes:
        return {"$attributes": [value.kind, write(value.values)]}
    if kind is type(LEFT):
        return {"$left": 0}
    if kind is dict:
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: write(child) for key, child in value.items()}
        return {"$dict": [[plain(key), write(child)] for key, child in value.items()]}
    raise TypeError(f"not plain data: {kind.__module__}.{kind.__qualname__}")


@_no_collection()
def unpack(text: str, arrays: list[np.ndarray]) -> Tree:
    """The tree that `pack` wrote. Raises DemonstrationError if the two do not make one."""
    with refusing(
        "This data cannot be read", "JSON that refers to the arrays stored beside it",
        do="The file is damaged or was not written by backplay: record it again.",
        error=DemonstrationError,
    ):  # fmt: skip
        document = json.loads(text)
        if not isinstance(document, dict) or document.keys() != {"tree", "shared"}:
            raise ValueError("no tree in it")
        rows = _Rows(arrays)
        pool = [_read(entry, rows, []) for entry in _list(document["shared"])]
        return _read(document["tree"], rows, pool)


class _Rows:
    """The rows of the arrays, each to be taken once: no file is larger in memory than on paper."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self._arrays = arrays
        self._taken = [bytearray(len(array)) for array in arrays]

    def take(self, place: Any) -> np.ndarray:
        group, row = _list(place, 2)
        if type(group) is not int or type(row) is not int or group < 0 or row < 0:
            raise ValueError("a place in the arrays that is none")
        taken = self._taken[group]
        if taken[row]:
            raise ValueError("an array that stands in two places")
        taken[row] = 1
        return self._arrays[group][row, ...]  # with the dots: of no dimensions it stays an array


def _read(value: Any, rows: _Rows, pool: list[Tree]) -> Tree:
    # A long demonstration is millions of these: what is plain already stays as JSON has made it.
    kind = type(value)
    if kind is list:
        for i, child in enumerate(value):
            if type(child) in _NESTED:
                value[i] = _read(child, rows, pool)
    elif kind is dict:
        if len(value) == 1 and next(iter(value))[:1] == "$":
            return _read_tagged(value, rows, pool)
        if "$" in "".join(value) and any(key[:1] == "$" for key in value):
            raise ValueError("a tag beside other keys")
        for key, child in value.items():
            if type(child) in _NESTED:
                value[key] = _read(child, rows, pool)
    return value


def _read_tagged(value: dict[str, Any], rows: _Rows, pool: list[Tree]) -> Tree:
    ((tag, body),) = value.items()
    if tag == "$array":
        return rows.take(body)
    if tag == "$scalar":
        return rows.take(body)[()]
    if tag == "$bytes":
        row = rows.take(body)
        if row.dtype != np.uint8 or row.ndim != 1:
            raise ValueError("bytes that are no bytes")
        return row.tobytes()
    if tag == "$shared":
        return pool[_index(body, len(pool))]
    if tag == "$left":
        return LEFT
    if tag == "$tuple":
        return tuple([_read(child, rows, pool) for child in _list(body)])
    if tag == "$set":
        return set(_keys([_read(child, rows, []) for child in _list(body)]))
    if tag == "$dict":
        pairs = [_list(pair, 2) for pair in _list(body)]
        keys = _keys([_read(key, rows, []) for key, _ in pairs])
        return dict(zip(keys, [_read(child, rows, pool) for _, child in pairs], strict=True))
    first, rest = _list(body, 2)
    if tag == "$deque":
        if first is not None:
            _index(first, sys.maxsize)
        return deque([_read(child, rows, pool) for child in _list(rest)], first)
    if tag == "$stream":
        stream = RandomStream(first, _read(rest, rows, pool))
        if not is_place(stream):
            raise ValueError("a place where no random number generator can stand")
        return stream
    if tag == "$attributes":
        values = _read(rest, rows, pool)
        if not isinstance(first, str) or not isinstance(values, dict):
            raise ValueError("attributes that are no attributes")
        return Attributes(first, values)
    raise ValueError(f"the unknown tag {tag[:20]!r}")


def is_place(stream: RandomStream) -> bool:
    """Whether a generator can stand where a stream from outside says; raises or says no if not."""
    if stream.kind == "PCG64" and is_pcg64(stream.state):  # by far the most common one
        return True
    return first_difference(read_stream(new_generator(stream)), stream) is None


def _keys(keys: list[Tree]) -> list[Tree]:
    """`keys` themselves, unless they were made to collide, which makes a dict endlessly slow."""
    hashes = Counter(map(hash, keys))
    if hashes and max(hashes.values()) > _COLLISIONS:
        raise ValueError("keys that collide")
    return keys


def _index(value: Any, length: int) -> int:
    if type(value) is not int or not 0 <= value < length:
        raise ValueError(f"the index {str(value)[:20]} where there are {length} entries")
    return value


def _list(value: Any, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise ValueError("something else where a list belongs")
    return value
