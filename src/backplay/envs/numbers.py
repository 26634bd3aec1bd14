"""Whole numbers from outside: within bounds, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from backplay.errors import BackplayError, show


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number between two bounds, or a refusal."""
    fits = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if fits and least <= value and (most is None or value <= most):
        return int(value)
    upper = "on" if most is None else f"to {most}"
    raise BackplayError(name, expected=f"a whole number from {least} {upper}", got=show(value))
