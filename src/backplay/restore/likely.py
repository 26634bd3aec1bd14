"""Numbers in a state that no env like this one has: clocks before their beginning, huge constants.

Comes in: an attribute's name, the number that a state has for it, what stands there now. Goes out:
whether it can be. Does not know: envs.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["CLOCKS", "NUMBERS", "is_likely"]

CLOCKS = (("_elapsed_steps", "_max_episode_steps"), ("step_count", "max_steps"))
"""Attributes that count the steps of an episode, and those that limit them."""
NUMBERS = frozenset((int, float))
_COUNTERS = frozenset(counter for counter, _ in CLOCKS)
_LARGEST = 1e100


def is_likely(name: str, value: float, now: Any) -> bool:
    """Whether a number from a state can be one of an env that has `now` there."""
    if name in _COUNTERS:
        return value >= 0
    return not _is_huge(value) or (type(now) in NUMBERS and _is_huge(now))


def _is_huge(value: float) -> bool:
    return _LARGEST < abs(value) < math.inf
