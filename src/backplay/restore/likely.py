"""Numbers in a state that no env like this one has: clocks before their beginning, huge constants.

Comes in: the attributes in a state, and those that stand there now. Goes out: the first that cannot
be, by its name. Does not know: envs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["CLOCKS", "unlikely"]

CLOCKS = (("_elapsed_steps", "_max_episode_steps"), ("step_count", "max_steps"))
"""Attributes that count the steps of an episode, and those that limit them."""
_COUNTERS = tuple(counter for counter, _ in CLOCKS)
_LARGEST = 1e100


def unlikely(saved: dict[str, Any], now: dict[str, Any]) -> str | None:
    """The first attribute of a state whose number cannot be one of an env that has `now`."""
    for counter in _COUNTERS:
        count = saved.get(counter, 0)
        if not isinstance(count, int | np.integer) or count < 0:
            return counter
    for name, value in saved.items():
        kind = type(value)
        beyond = (kind is float or kind is int) and not -_LARGEST <= value <= _LARGEST
        if beyond and _is_huge(value) and not _is_huge(now.get(name)):
            return name
    return None


def _is_huge(value: Any) -> bool:
    return type(value) in (int, float) and _LARGEST < abs(value) < math.inf
