"""Trees of plain data: copy them, compare them, turn them into JSON plus arrays and back.

A tree is None, bool, int, float, str, bytes, a numpy array or scalar, or a tuple, list, dict, set or
deque of trees; an observation, an action and a saved state all are. Two more leaves exist for states:
`RandomStream` (where a random number generator stood) and `Attributes` (the data inside an object that
stays where it is). Nothing here knows what a tree means, and reading one never runs code.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from backplay.errors import DemonstrationError

Tree = Any
"""A tree of plain data, as the module's first paragraph defines it."""

ATOMS = (type(None), bool, int, float, str, bytes)
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_DTYPE_KINDS = "biufcSU"


class RandomStream(NamedTuple):
    """Where a random number generator stood."""

    kind: str
    state: Tree


class Attributes(NamedTuple):
    """The data attributes of an object of the named class, to be put back into such an object."""

    kind: str
    values: dict[str, Tree]


class _Left(NamedTuple):
    """Stands for a value that is no data (a function, a space, a window): it is left as it is."""


LEFT = _Left()


def read_stream(generator: Any) -> RandomStream | None:
    """Where `generator` stands, or None if it is no random number generator we know."""
    if isinstance(generator, np.random.Generator):
        return RandomStream(
            type(generator.bit_generator).__name__, copy(dict(generator.bit_generator.state))
        )
    if isinstance(generator, np.random.RandomState):
        return RandomStream("RandomState", copy(generator.get_state(legacy=False)))
    if isinstance(generator, random.Random):
        return RandomStream("Random", generator.getstate())
    return None


def set_stream(current: Any, stream: RandomStream) -> Any:
    """The generator `current` moved to `stream`, in place where it can be, else a new one."""
    if stream.kind == "Random":
        generator = current if isinstance(current, random.Random) else random.Random()
        generator.setstate(stream.state)
        return generator
    if stream.kind == "RandomState":
        legacy = current if isinstance(current, np.random.RandomState) else np.random.RandomState()
        legacy.set_state(stream.state)
        return legacy
    same = isinstance(current, np.random.Generator) and (
        type(current.bit_generator).__name__ == stream.kind
    )
    if not same:
        current = np.random.Generator(getattr(np.random, stream.kind)())
    current.bit_generator.state = stream.state
    return current


def copy(tree: Tree) -> Tree:
    """A copy that shares no array and no container with `tree`."""
    kind = type(tree)
    if kind in ATOMS or isinstance(tree, np.generic):
        return tree
    if isinstance(tree, np.ndarray):
        return np.array(tree)
    if isinstance(tree, dict):
        return {key: copy(value) for key, value in tree.items()}
    if kind is list:
        return [copy(value) for value in tree]
    if kind is deque:
        return deque((copy(value) for value in tree), tree.maxlen)
    if kind is set:
        return set(tree)
    if kind is RandomStream or kind is Attributes:
        return kind(tree.kind, copy(tree[1]))
    if kind is _Left:
        return tree
    if isinstance(tree, tuple):
        return tuple([copy(value) for value in tree])
    raise TypeError(f"not plain data: {kind.__module__}.{kind.__qualname__}")


def first_difference(a: Tree, b: Tree, path: str = "") -> str | None:
    """Where `a` and `b` first differ, as a readable line, or None if they are equal to the bit.

    NaN equals NaN. Arrays must agree in dtype and shape too; 1, 1.0 and np.float64(1) are the same.
    """
    where = f"{path}: " if path else ""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _array_difference(np.asarray(a), np.asarray(b), where)
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return f"{where}keys {sorted(map(str, a))} and {sorted(map(str, b))}"
        pairs = [(f"{path}[{key!r}]", a[key], b[key]) for key in a]
    elif isinstance(a, list | tuple | deque) and isinstance(b, list | tuple | deque):
        if len(a) != len(b):
            return f"{where}lengths {len(a)} and {len(b)}"
        pairs = [
            (f"{path}[{i}]", x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))
        ]
    else:
        same = a is b or bool(a == b) or (a != a and b != b)
        return None if same else f"{where}{a!r} and {b!r}"
    for name, x, y in pairs:
        found = first_difference(x, y, name)
        if found:
            return found
    return None


def _array_difference(a: np.ndarray, b: np.ndarray, where: str) -> str | None:
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{where}{a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)}"
    if a.tobytes() == b.tobytes():  # the common case, and the only one that tells 0.0 from -0.0
        return None
    unequal = a != b
    if a.dtype.kind in "fc":
        unequal &= ~(np.isnan(a) & np.isnan(b))
    count = int(np.count_nonzero(unequal))
    if not count:
        return None
    at = tuple(int(i) for i in np.argwhere(unequal)[0]) if a.ndim else ()
    return f"{where}{count} of {a.size} values, first at {list(at)}: {a[at]!r} and {b[at]!r}"


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
        if array.dtype.kind not in _DTYPE_KINDS:
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
            return _write(value, write, put)
        if pool[index] is None:
            pool[index] = _write(value, inner, put)
        return {"$shared": index}

    def inner(value: Tree) -> Any:  # inside the pool nothing is shared: no references to unfold
        return _write(value, inner, put)

    body = write(tree)
    text = json.dumps({"tree": body, "shared": pool}, separators=(",", ":"))
    return text, [np.stack(group) for group in rows]


def _shared_containers(tree: Tree, depth: int = 4) -> dict[int, None]:
    """Ids of the containers that are reached more than once, down to `depth` levels."""
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

    visit(tree, depth)
    return repeated


def _write(value: Tree, write: Callable[[Tree], Any], put: Callable[[np.ndarray], list[int]]) -> Any:
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
        return {"$set": [write(child) for child in sorted(value, key=repr)]}
    if kind is RandomStream:
        return {"$stream": [value.kind, write(value.state)]}
    if kind is Attributes:
        return {"$attributes": [value.kind, write(value.values)]}
    if kind is _Left:
        return {"$left": 0}
    if kind is dict:
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: write(child) for key, child in value.items()}
        return {"$dict": [[write(key), write(child)] for key, child in value.items()]}
    raise TypeError(f"not plain data: {kind.__module__}.{kind.__qualname__}")


def unpack(text: str, arrays: list[np.ndarray]) -> Tree:
    """The tree that `pack` wrote. Raises DemonstrationError if the two do not make one."""
    try:
        document = json.loads(text)
        if not isinstance(document, dict) or document.keys() != {"tree", "shared"}:
            raise ValueError("no tree in it")
        if not isinstance(document["shared"], list):
            raise ValueError("its shared part is no list")
        pool = [_read(entry, arrays, []) for entry in document["shared"]]
        return _read(document["tree"], arrays, pool)
    except (ValueError, TypeError, IndexError, KeyError, RecursionError, OverflowError) as error:
        raise DemonstrationError(
            "This data cannot be read",
            expected="JSON that refers to the arrays stored beside it",
            got=f"{type(error).__name__}: {str(error)[:200]}",
            do="The file is damaged or was not written by backplay: record it again.",
        ) from error


def _read(value: Any, arrays: list[np.ndarray], pool: list[Tree]) -> Tree:
    if isinstance(value, list):
        return [_read(child, arrays, pool) for child in value]
    if not isinstance(value, dict):
        return value
    if not (len(value) == 1 and next(iter(value)).startswith("$")):
        if any(key.startswith("$") for key in value):
            raise ValueError("a tag beside other keys")
        return {key: _read(child, arrays, pool) for key, child in value.items()}
    ((tag, body),) = value.items()
    if tag == "$array":
        return _row(body, arrays)
    if tag == "$scalar":
        return _row(body, arrays)[()]
    if tag == "$bytes":
        row = _row(body, arrays)
        if row.dtype != np.uint8 or row.ndim != 1:
            raise ValueError("bytes that are no bytes")
        return row.tobytes()
    if tag == "$shared":
        return pool[_index(body, len(pool))]
    if tag == "$left":
        return LEFT
    if tag == "$tuple":
        return tuple([_read(child, arrays, pool) for child in _list(body)])
    if tag == "$set":
        return {_read(child, arrays, pool) for child in _list(body)}
    if tag == "$dict":
        pairs = [_list(pair, 2) for pair in _list(body)]
        return {_read(key, arrays, pool): _read(child, arrays, pool) for key, child in pairs}
    first, rest = _list(body, 2)
    if tag == "$deque":
        if first is not None:
            _index(first, 2**31)
        return deque([_read(child, arrays, pool) for child in _list(rest)], first)
    if tag == "$stream":
        return _checked_stream(RandomStream(first, _read(rest, arrays, pool)))
    if tag == "$attributes":
        values = _read(rest, arrays, pool)
        if not isinstance(first, str) or not isinstance(values, dict):
            raise ValueError("attributes that are no attributes")
        return Attributes(first, values)
    raise ValueError(f"the unknown tag {tag[:20]!r}")


def _checked_stream(stream: RandomStream) -> RandomStream:
    """`stream` itself, after setting a generator of its kind to it once."""
    if stream.kind not in (*_BIT_GENERATORS, "RandomState", "Random"):
        raise ValueError("an unknown random number generator")
    set_stream(None, stream)
    return stream


def _row(place: Any, arrays: list[np.ndarray]) -> np.ndarray:
    group, row = _list(place, 2)
    array = arrays[_index(group, len(arrays))]
    return np.asarray(array[_index(row, len(array))])


def _index(value: Any, length: int) -> int:
    if type(value) is not int or not 0 <= value < length:
        raise ValueError(f"the index {str(value)[:20]} where there are {length} entries")
    return value


def _list(value: Any, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise ValueError("something else where a list belongs")
    return value
