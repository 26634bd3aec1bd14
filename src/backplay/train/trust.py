"""What a file may ask an environment's constructor for: plain settings, and nothing else.

Comes in: arguments that a demonstration or a run directory names. Goes out: what in them is more
than numbers, truth values and short names, in words. A dotted name may be imported by an env, a
path opened: those need the user's own word, `--env-kwargs` or `--trust` (`trust=True`). Does not
know: who asks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backplay.errors import BackplayError, show

__all__ = ["asked_for", "require_trust"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOST = 10_000  # values in all


def asked_for(kwargs: Mapping[str, Any]) -> list[str]:
    """The arguments that are not plain, as `name=value`; none of a file that only has settings."""
    return [
        f"{show(name, 40)}={show(value)}" for name, value in kwargs.items() if not _plain(value)
    ]


def require_trust(asks: Sequence[str], who: str, *, trust: bool = False) -> None:
    """Refuses what a file asks for, unless the user has said that it may."""
    if asks and not trust:
        raise BackplayError(
            f"{who} asks for more than plain settings",
            expected="numbers, truth values and short names: others may name code or paths",
            got=", ".join(asks)[:600],
            do="If you know where it comes from, say them yourself with --env-kwargs, or pass"
            " --trust (in Python, trust=True). See docs/trust.md.",
        )


def _plain(value: Any) -> bool:
    left = [_MOST]

    def is_plain(part: Any, depth: int) -> bool:
        left[0] -= 1
        if left[0] < 0 or depth > 8:
            return False
        if part is None or isinstance(part, bool | np.bool_):
            return True
        if isinstance(part, int | float | np.integer | np.floating):
            return isinstance(part, int) or math.isfinite(float(part))
        if isinstance(part, np.ndarray):
            return part.dtype.kind in "biuf" and part.size <= left[0]
        if isinstance(part, str):
            return _NAME.fullmatch(part) is not None
        if isinstance(part, dict):
            parts = [x for pair in part.items() for x in pair]
        elif isinstance(part, list | tuple | set):
            parts = list(part)
        else:
            return False
        return all(is_plain(one, depth + 1) for one in parts)

    return is_plain(value, 0)
