"""Arrays from outside: of the right form, or refused before anybody reads them.

Comes in: what a file or a caller says is an array, or bytes that are said to hold one. Goes out:
the array, whose dtype, shape and values are as asked for, or one error. Kernels index with what
stands in arrays, so whatever they read comes through here. Does not know: what the numbers mean.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from backplay.errors import BackplayError, show

__all__ = ["KINDS", "checked_array", "from_buffer"]

KINDS = "biufcSU"
"""The kinds of arrays that are plain data."""
_MAX_EMPTY_ITEM = 2**16  # an empty array of huge items is a trap: a copy of it is not empty
_MAX_DIMENSIONS = 32


def checked_array(
    name: str,
    value: Any,
    dtype: Any,
    shape: tuple[int | None, ...],
    *,
    low: Any = None,
    high: Any = None,
) -> np.ndarray:
    """`value` itself, an array of this dtype and shape; BackplayError if it is anything else.

    Args:
        name: what it is, for the error.
        value: anything.
        dtype: exactly this one.
        shape: None stands for any length.
        low: the smallest value there may be, a number or an array of them; None for any. Numbers
            with a fraction are finite in any case.
        high: the largest, as `low`.
    """
    wanted = np.dtype(dtype)
    if not isinstance(value, np.ndarray) or value.dtype != wanted or not _fits(value.shape, shape):
        dots = ", ".join("any" if extent is None else str(extent) for extent in shape)
        got = f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else show(value)
        raise BackplayError(name, expected=f"{wanted}[{dots}]", got=got)
    if wanted.kind in "fc" and not np.isfinite(value).all():
        raise BackplayError(name, expected="finite numbers", got="NaN or an infinity")
    below = low is not None and bool((value < low).any())
    above = high is not None and bool((value > high).any())
    if below or above:
        raise BackplayError(
            name, expected=f"numbers from {show(low, 40)} to {show(high, 40)}",
            got=f"{value.min()} to {value.max()}",
        )  # fmt: skip
    return value


def _fits(found: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(found) == len(wanted) and all(
        want is None or have == want for have, want in zip(found, wanted, strict=True)
    )


def from_buffer(
    data: bytearray, dtype: np.dtype[Any], shape: Sequence[int], at: int, size: int
) -> np.ndarray:
    """The array in `size` bytes of `data` from `at` on, in their memory; ValueError if it is none.

    The shape must fill exactly these bytes, so nothing is ever larger than what is there.
    """
    if dtype.hasobject or dtype.names or dtype.subdtype or dtype.kind not in KINDS:
        raise ValueError("an array that is not plain numbers or text")
    extents = [extent for extent in shape if type(extent) is int and extent >= 0]
    if len(extents) != len(shape) or len(extents) > _MAX_DIMENSIONS:
        raise ValueError("a shape that is none")
    count = 1
    for extent in extents:
        count *= extent
    if count * dtype.itemsize != size or not 0 <= at <= at + size <= len(data):
        raise ValueError("an array of another size than its header says")
    if not size and (count or dtype.itemsize > _MAX_EMPTY_ITEM):
        raise ValueError("an array of many empty items, or an empty one of huge items")
    array = np.frombuffer(data, dtype, count, at) if size else np.zeros(0, dtype)
    if dtype.kind == "b" and size and array.view(np.uint8).max() > 1:
        raise ValueError("truth values that are neither true nor false")
    if dtype.kind == "U" and size:
        codes = array.view(np.dtype("u4").newbyteorder(dtype.byteorder))
        if codes.max() > sys.maxunicode:
            raise ValueError("text that is no text")
    return array.reshape(extents)
