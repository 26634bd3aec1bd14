"""When an episode counts as a success, if the user does not say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def default_rule(demos: Sequence[Demonstration]) -> SuccessRule:
    """The rule for people who name none. The first of these that can be applied decides:

    1. the environment says so: `info["is_success"]` or `info["success"]`;
    2. the demonstration terminated: the episode terminated too, with a last reward of the same sign
       (reaching the goal pays, falling into the lava does not; or every step costs, the last too);
    3. the demonstration was cut or timed out: the episode earned at least what the demonstration
       earned from the same state on.
    """
    signs = {np.sign(demo.rewards[-1]) for demo in demos if demo.terminated}
    ends_by_itself = all(demo.terminated for demo in demos)
    returns_to_go = [demo.returns_to_go for demo in demos]
    least = min(float(returns[0]) for returns in returns_to_go)

    def succeeded(end: Ending) -> bool:
        for key in ("is_success", "success"):
            if key in end.info:
                return bool(end.info[key])
        if ends_by_itself:
            return end.terminated and np.sign(end.reward) in signs
        needed = least if end.start is None else returns_to_go[end.start.demo][end.start.step]
        return bool(end.total_reward >= needed - 1e-9 * max(1.0, abs(needed)))

    return succeeded
