"""When an episode counts as a success, if the user does not say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from backplay.demos import Demonstration
from backplay.records import Start


class Ending(NamedTuple):
    """How an episode ended: what a rule of success may look at."""

    start: Start | None
    total_reward: float
    length: int
    reward: float
    """The last reward."""
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    """The last info."""


SuccessRule = Callable[[Ending], bool]


@dataclass(frozen=True)
class DefaultRule:
    """The rule for people who name none. The first of these that can be applied decides:

    1. the environment says so: `info["is_success"]` or `info["success"]`;
    2. the demonstration terminated: the episode terminated too, with a last reward of the same
       sign (reaching the goal pays, falling into the lava does not; or every step costs, the last
       too);
    3. the demonstration was cut or timed out: the episode earned at least what the demonstration
       earned from the same state on.

    An episode from the environment's own reset belongs to no demonstration: any of them will do.
    """

    signs: tuple[float | None, ...]
    """By demonstration: the sign of its last reward if it terminated, else None."""
    returns_to_go: tuple[tuple[float, ...], ...]
    """By demonstration and step: what it earned from there on."""

    def __call__(self, end: Ending) -> bool:
        for key in ("is_success", "success"):
            if key in end.info:
                return bool(end.info[key])
        if end.start is not None:
            return self._like(end.start.demo, end.start.step, end)
        return any(self._like(demo, 0, end) for demo in range(len(self.signs)))

    def _like(self, demo: int, step: int, end: Ending) -> bool:
        """Whether the episode ended as well as a demonstration that goes on from `step`."""
        sign = self.signs[demo]
        if sign is not None:
            return end.terminated and float(np.sign(end.reward)) == sign
        needed = self.returns_to_go[demo][step]
        return end.total_reward >= needed - 1e-9 * max(1.0, abs(needed))


def default_rule(demos: Sequence[Demonstration]) -> DefaultRule:
    """The default rule for episodes of these demonstrations."""
    return DefaultRule(
        tuple(float(np.sign(demo.rewards[-1])) if demo.terminated else None for demo in demos),
        tuple(tuple(demo.returns_to_go.tolist()) for demo in demos),
    )
