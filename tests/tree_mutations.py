"""Ways to mutate a tree of plain data: a few of its parts become hostile, or a little off."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from backplay.data.trees import Attributes, RandomStream

Rng = np.random.Generator

VALUES: list[Any] = [
    None, True, -1, 0, 1, 7, 2**31, 2**63, -(2**63), 10**12, 10**400, 0.5, -0.0, 1e300,
    float("nan"), float("inf"), "", "x", "evil_env:CartPole-v1", "evil_env.Vehicle",
    "/etc/passwd", "\ud800", b"",
    b"\xff", [], {}, (), [[]], {"a": 1}, {1: 2}, [None] * 3, "attributes", "own", "mujoco",
    np.zeros(0), np.array(3), np.zeros((2, 2), "<U3"), np.float32("nan"), np.int64(-5),
    np.full(4, np.nan), np.full((3, 2), 10**9, np.int32), RandomStream("PCG64", {}),
    RandomStream("os.system", 1), Attributes("Env", {"step": 1}), deque([1], 1), {1, 2},
]  # fmt: skip
DTYPES = ["<i2", "<i4", "<i8", "<u8", "<f4", "<f8", "?", ">i8", "<U2", "S3", "<c16"]


def mutated(tree: Any, rng: Rng) -> Any:
    """A copy of `tree` with something changed in it, now and then in several places."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        tree = _changed(tree, rng)
    return tree


def _changed(tree: Any, rng: Rng) -> Any:
    inside = _parts(tree)
    if not inside or rng.random() < 0.02:
        return _another(tree, rng)
    key = inside[rng.integers(len(inside))]
    if isinstance(tree, dict):
        if rng.random() < 0.03:
            return {k: v for k, v in tree.items() if k is not key}
        return {k: _changed(v, rng) if k is key else v for k, v in tree.items()}
    if isinstance(tree, RandomStream | Attributes):
        return type(tree)(tree.kind, _changed(tree[1], rng))
    items = [_changed(v, rng) if i == key else v for i, v in enumerate(tree)]
    if rng.random() < 0.02:
        items = items[:-1] if rng.random() < 0.5 else items * 2
    return deque(items, tree.maxlen) if isinstance(tree, deque) else type(tree)(items)


def _parts(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return list(tree)
    if isinstance(tree, RandomStream | Attributes):
        return [1]
    return list(range(len(tree))) if isinstance(tree, list | tuple | deque) else []


def _another(value: Any, rng: Rng) -> Any:
    if rng.random() < 0.3:
        return VALUES[rng.integers(len(VALUES))]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc" and value.size:
        return _other_array(value, rng)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + int(rng.choice([-1, 1, 2, -3, 10, 1000, -(10**9), 10**15]))
    if isinstance(value, float):
        return float(rng.choice([value + 1, -value, value * 1e10, np.nan, np.inf, 1e300]))
    return VALUES[rng.integers(len(VALUES))]


def _other_array(array: np.ndarray, rng: Rng) -> np.ndarray:
    case = int(rng.integers(8))
    if case == 0:
        return array.reshape(-1)[: int(rng.integers(array.size))]
    if case == 1:
        with np.errstate(all="ignore"):
            return array.real.astype(DTYPES[rng.integers(len(DTYPES))])
    changed = array.copy()
    flat = changed.reshape(-1)
    at = rng.integers(flat.size, size=int(rng.choice([1, 1, 1, 3])))
    if array.dtype.kind == "b":
        flat[at] = ~flat[at]
    elif array.dtype.kind in "fc":
        flat[at] = rng.choice([np.nan, np.inf, 0.0, -1.0, 1e30])
    elif case < 6:  # a little off: often still a state
        flat[at] += rng.choice(
            np.array([1, -1, 2, 5, -4], array.dtype.str.replace("u", "i"))
        ).astype(array.dtype)
    else:
        info = np.iinfo(array.dtype)
        flat[at] = rng.choice(np.array([info.min, info.max, info.max // 2], array.dtype))
    return changed
