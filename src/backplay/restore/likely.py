"""Numbers in a state that no env like this one has: clocks before their beginning, other constants.

Comes in: the attributes in states, and those that stand in an env now. Goes out: the first that
cannot be, by its name. Does not know: demonstrations.
"""

from __future__ import annotations

import dis
import functools
import math
import sys
from collections.abc import Iterator, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

__all__ = ["CLOCKS", "constants", "unlikely"]

CLOCKS = (("_elapsed_steps", "_max_episode_steps"), ("step_count", "max_steps"))
"""Attributes that count the steps of an episode, and those that limit them."""
_LARGEST = 1e100
_PLAIN = (int, float, str, bool)
_BASES = (
    "builtins",
    "typing",
    "abc",
    "collections.abc",
    "gymnasium.core",
    "gymnasium.utils.ezpickle",
)
_BY_NAME = {"setattr", "__dict__", "vars", "__setattr__"}
_SETS = (dis.opmap["STORE_ATTR"], dis.opmap["DELETE_ATTR"])


def unlikely(saved: dict[str, Any], now: dict[str, Any]) -> str | None:
    """The first attribute of a state whose number cannot be one of an env that has `now`."""
    for counter, _ in CLOCKS:
        count = saved.get(counter, 0)
        if not (isinstance(count, int | float | np.number) and count >= 0):
            return counter
    for name, value in saved.items():
        kind = type(value)
        beyond = (kind is float or kind is int) and not -_LARGEST <= value <= _LARGEST
        if beyond and _is_huge(value) and not _is_huge(now.get(name)):
            return name
    return None


def _is_huge(value: Any) -> bool:
    return type(value) in (int, float) and _LARGEST < abs(value) < math.inf


def constants(layers: Sequence[Any]) -> list[frozenset[str]]:
    """Names of the numbers, words and truth values of each layer that constructors alone set.

    Read from the code of all layers and of the packages they are from. Where that sets attributes
    by a name that is computed, or is no Python, or where a class came without its module, as those
    of a script do in a worker process, nothing is said to be constant.
    """
    kinds = {kind for layer in layers for kind in _classes(type(layer))}
    if not all(map(_is_at_home, kinds)):
        return [frozenset()] * len(layers)
    packages = set(map(_package, kinds))
    written = [_written(package) for package in packages]
    if None in written:
        return [frozenset()] * len(layers)
    anywhere = frozenset().union(*(names for names in written if names))
    return [
        frozenset(name for name, value in vars(layer).items() if type(value) in _PLAIN) - anywhere
        for layer in layers
    ]


def _classes(kind: type) -> list[type]:
    """The classes whose code an env of this class runs, without Gymnasium's own bases."""
    return [one for one in kind.__mro__ if one.__module__ not in _BASES]


def _is_at_home(kind: type) -> bool:
    """Whether a class is what its module has under its name; one made in a function is not."""
    found: Any = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is kind


def _package(kind: type) -> str:
    """Where code may set attributes of such an env: its package, but of Gymnasium the module."""
    top = kind.__module__.partition(".")[0]
    return kind.__module__ if top == "gymnasium" else top


@functools.cache
def _written(package: str) -> frozenset[str] | None:
    """What attributes the code of a package sets outside of constructors; None if it may be any."""
    found: set[str] = set()
    for name, module in list(sys.modules.items()):
        if name != package and not name.startswith(f"{package}."):
            continue
        held = [one for one in list(vars(module).values()) if _is_of(one, name)]
        parts = [part for one in held if isinstance(one, type) for part in vars(one).values()]
        for part in (*held, *parts):
            if type(part).__name__ == "cython_function_or_method":
                return None
            for code in _codes(part):
                if _BY_NAME & {*code.co_names}:
                    return None
                found.update(_stored(code))
                for helper in (vars(module).get(called) for called in code.co_names):
                    if isinstance(helper, FunctionType):  # of whatever module
                        found.update(*map(_stored, _nested(helper.__code__)))
    return frozenset(found)


def _is_of(value: Any, module: str) -> bool:
    return isinstance(value, type | FunctionType) and value.__module__ == module


def _codes(part: Any) -> Iterator[CodeType]:
    """The code of a function, a property or the like, of those inside it and those decorated."""
    inside = [getattr(part, name, None) for name in ("__func__", "fget", "fset", "fdel", "func")]
    functions, seen = [part, *inside, getattr(part, "__wrapped__", None)], set()
    while functions:
        function = functions.pop()
        if not isinstance(function, FunctionType) or id(function) in seen:
            continue
        seen.add(id(function))
        functions += [cell.cell_contents for cell in function.__closure__ or () if _is_full(cell)]
        if function.__name__ == "__init__":
            continue
        yield from _nested(function.__code__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _nested(part)


def _is_full(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # a name of the function around it that is not set yet
        return False


def _stored(code: CodeType) -> Iterator[str]:
    """Names of the attributes that a piece of code sets or deletes, of whatever object."""
    high = 0
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        if operation in _SETS:
            yield code.co_names[high << 8 | low]
        high = (high << 8 | low) if operation == dis.EXTENDED_ARG else 0
