"""The takes of a recording that are kept beside the present one, and which of them is the best.

Comes in: episodes as they were played. Goes out: their actions, and a line on each. Does not know:
environments, disks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backplay.demos.take import Take
from backplay.errors import ensure

MOST = 20


@dataclass(frozen=True)
class KeptTake:
    """A take that can be opened again."""

    actions: tuple[Any, ...]
    total_reward: float
    ended: str
    success: bool | None

    @property
    def merit(self) -> tuple[Any, ...]:
        """Success first, then the return, then being short."""
        return self.success is True, self.total_reward, -len(self.actions)


class Takes:
    """At most so many takes; of more, the worst is let go."""

    def __init__(self) -> None:
        self.kept: list[KeptTake] = []

    def __len__(self) -> int:
        return len(self.kept)

    def keep(self, take: Take, success: bool | None) -> bool:
        """Keeps the whole of a take; whether it was not there already."""
        actions = tuple(take.actions)
        if not actions or any(_same(actions, kept.actions) for kept in self.kept):
            return False
        self.kept.append(KeptTake(actions, sum(take.rewards), ending_of(*take.ends), success))
        if len(self.kept) > MOST:
            del self.kept[min(range(MOST), key=lambda i: self.kept[i].merit)]
        return True

    def at(self, index: int) -> KeptTake:
        """One of them."""
        ensure(index < len(self.kept), "There is no such take")
        return self.kept[index]

    def drop(self, index: int) -> None:
        """Forgets one."""
        self.at(index)
        del self.kept[index]

    def listed(self) -> list[dict[str, Any]]:
        """A line on each; the first of the best is said to be it."""
        best = max((kept.merit for kept in self.kept), default=None)
        first = next((i for i, kept in enumerate(self.kept) if kept.merit == best), None)
        return [
            {
                "length": len(kept.actions), "total": kept.total_reward, "ended": kept.ended,
                "success": kept.success, "best": i == first,
            }
            for i, kept in enumerate(self.kept)
        ]  # fmt: skip


def ending_of(terminated: bool, truncated: bool) -> str:
    """How an episode ended, in a word; empty while it goes on."""
    return "terminated" if terminated else "truncated" if truncated else ""


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    if len(one) != len(other):
        return False
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
