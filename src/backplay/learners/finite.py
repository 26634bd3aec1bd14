"""Numbers that are none stop a run: named where they come in, before anything learns from them.

Comes in: what envs answer, and what came of an update. Goes out: nothing, or an error that names
the field, the env and the step. Does not know: what is done about it; what was saved stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import isfinite, nn

from backplay.errors import BackplayError, show
from backplay.learners.observations import Arrays

__all__ = ["NotFiniteError", "require_finite", "require_finite_weights"]


class NotFiniteError(BackplayError):
    """NaN or an infinity where a number belongs."""


def require_finite(
    name: str, batch: Arrays | np.ndarray, step: int, first: int | np.ndarray = 0
) -> None:
    """Raises unless all numbers of a batch [envs, ...] are finite.

    Args:
        name: what they are, e.g. "observation".
        batch: of one step in all envs.
        step: which one, of this rollout.
        first: the number of the first env among those of all workers, or the number of each.
    """
    if isinstance(batch, dict):
        for key, part in batch.items():
            require_finite(f"{name}[{key!r}]", part, step, first)
        return
    if batch.dtype.kind not in "fc" or np.isfinite(batch).all():
        return
    env, *place = (int(i) for i in np.argwhere(~np.isfinite(batch))[0])
    where = f"{name}{place}" if place else name
    number = first[env] if isinstance(first, np.ndarray) else first + env
    raise NotFiniteError(
        f"{where} of env {number}, step {step} of the rollout",
        expected="a finite number", got=str(batch[(env, *place)]),
        do="Mend the env. What was saved before is sound; --resume goes on from there.",
    )  # fmt: skip


def require_finite_weights(network: nn.Module, metrics: Mapping[str, Any] | None = None) -> None:
    """Raises unless the metrics of an update and the weights after it are finite."""
    found = {name: value for name, value in (metrics or {}).items() if not np.isfinite(value)}
    wrong = [name for name, part in network.named_parameters() if not bool(isfinite(part).all())]
    if found or wrong:
        words = ", ".join(
            [*(f"{k} {v}" for k, v in found.items()), *(f"weights {w}" for w in wrong)]
        )
        raise NotFiniteError(
            "This update left the numbers", expected="finite losses and weights",
            got=show(words, 300),
            do="Lower the learning rate or the scale of the rewards; what was saved is sound.",
        )  # fmt: skip
