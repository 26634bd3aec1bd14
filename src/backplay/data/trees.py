"""Trees of plain data: copy them and compare them; `packing` turns them into JSON plus arrays.

A tree is None, bool, int, float, str, bytes, a numpy array or scalar, or a tuple, list, dict, set
or deque of trees; an observation, an action and a saved state all are. Two more leaves exist for
states: `RandomStream` (where a random number generator stood) and `Attributes` (the data inside an
object that stays where it is). Nothing here knows what a tree means; reading one never runs code.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from backplay.data.streams import RandomStream as RandomStream
from backplay.data.streams import read_stream as read_stream
from backplay.data.streams import set_stream as set_stream

Tree = Any
"""A tree of plain data, as the module's first paragraph defines it."""

ATOMS = (type(None), bool, int, float, str, bytes)
_REAL = (int, float, np.integer, np.floating, np.bool_)


class Attributes(NamedTuple):
    """The data attributes of an object of the named class, to be put back into such an object."""

    kind: str
    values: dict[str, Tree]


class _Left(NamedTuple):
    """Stands for a value that is no data (a function, a space, a window): it is left as it is."""


LEFT = _Left()


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


def first_difference(a: Tree, b: Tree) -> str | None:
    """Where `a` and `b` first differ, as a readable line, or None if they are equal to the bit.

    NaN equals NaN, 0.0 does not equal -0.0. Arrays must agree in dtype and shape too; 1, 1.0 and
    np.float64(1) are the same, and so are a tuple and a list.
    """
    return _difference(a, b, "", set())


def _difference(a: Tree, b: Tree, path: str, equal: set[tuple[int, int]]) -> str | None:
    """As above, at `path`; `equal` holds the ids of the containers that were compared before."""
    if a is b or (id(a), id(b)) in equal:
        return None
    where = f"{path}: " if path else ""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        try:
            return _array_difference(np.asarray(a), np.asarray(b), where)
        except ValueError:  # nested lists of different lengths beside an array
            return f"{where}{type(a).__name__} and {type(b).__name__}"
    if isinstance(a, set) and isinstance(b, set):
        return _difference(sorted(a, key=repr), sorted(b, key=repr), path, set())
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return f"{where}keys {sorted(map(str, a))} and {sorted(map(str, b))}"
        pairs = [(f"{path}[{key!r}]", a[key], b[key]) for key in a]
    elif isinstance(a, list | tuple | deque) and isinstance(b, list | tuple | deque):
        if len(a) != len(b):
            return f"{where}lengths {len(a)} and {len(b)}"
        pairs = [(f"{path}[{i}]", x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))]
    else:
        return None if _same_leaf(a, b) else f"{where}{a!r} and {b!r}"
    for name, x, y in pairs:
        found = _difference(x, y, name, equal)
        if found:
            return found
    equal.add((id(a), id(b)))
    return None


def _same_leaf(a: Tree, b: Tree) -> bool:
    if isinstance(a, np.generic) and type(a) is type(b):
        return _array_difference(np.asarray(a), np.asarray(b), "") is None
    if isinstance(a, _REAL) and isinstance(b, _REAL) and a == 0 and b == 0:
        return math.copysign(1, a) == math.copysign(1, b)
    return bool(a == b) or bool(a != a and b != b)


def _array_difference(a: np.ndarray, b: np.ndarray, where: str) -> str | None:
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{where}{a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)}"
    if a.tobytes() == b.tobytes():  # the common case
        return None
    unequal = np.asarray(_unequal(a, b))
    count = int(np.count_nonzero(unequal))
    if not count:
        return None
    at = tuple(int(i) for i in np.argwhere(unequal)[0]) if a.ndim else ()
    return f"{where}{count} of {a.size} values, first at {list(at)}: {a[at]!r} and {b[at]!r}"


def _unequal(a: np.ndarray, b: np.ndarray) -> Any:
    """Which values differ; NaN equals NaN, and 0.0 does not equal -0.0."""
    if a.dtype.kind == "c":
        return _unequal(a.real, b.real) | _unequal(a.imag, b.imag)
    if a.dtype.kind != "f":
        return a != b
    return ((a != b) | (np.signbit(a) != np.signbit(b))) & ~(np.isnan(a) & np.isnan(b))
