"""Who plays: the names of the agents inside the game, and what a kernel needs to ask them.

Comes in: a name such as `fsmts`, `fsmts:250`, `simple` or `random`. Goes out: a kind and its
options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from backplay.envs.pommerman.agents import FSMTS, OUTSIDE, RANDOM, SIMPLE
from backplay.envs.pommerman.agents.fsmts_options import FsmtsOptions
from backplay.errors import BackplayError, show

NAMES = {"fsmts": FSMTS, "simple": SIMPLE, "random": RANDOM}
OPTIONS = len(FsmtsOptions().row())


@dataclass(frozen=True)
class Player:
    """An agent in a seat."""

    name: str
    kind: int
    options: FsmtsOptions = field(default_factory=FsmtsOptions)

    @cached_property
    def row(self) -> NDArray[np.int32]:
        """Its options as kernels read them."""
        return self.options.row()


LEARNER = Player("learner", OUTSIDE)
"""A seat whose actions come from outside."""


def player(name: str, simulations: int = 50) -> Player:
    """The agent of this name; `fsmts:250` searches with 250 simulations instead."""
    kind, _, number = name.partition(":") if isinstance(name, str) else (name, "", "")
    if kind not in NAMES or (number and kind != "fsmts"):
        close = get_close_matches(str(name), NAMES, n=1)
        raise BackplayError(
            "agent",
            expected=f"{', '.join(NAMES)} or fsmts:SIMULATIONS",
            got=show(name),
            do=f"Did you mean {close[0]!r}?" if close else None,
        )
    try:
        count = int(number) if number else simulations
        if not 1 <= count <= 1_000_000:
            raise ValueError
    except (TypeError, ValueError) as error:
        raise BackplayError(
            "simulations", expected="a whole number from 1 on", got=show(number or simulations),
            do="Write fsmts:250 for 250 of them.",
        ) from error  # fmt: skip
    return Player(name, NAMES[kind], FsmtsOptions(simulations=count))


def players(names: str | Sequence[str], count: int, simulations: int = 50) -> list[Player]:
    """`count` agents from that many names, or from one for all of them."""
    listed = [names] if isinstance(names, str) else list(names)
    if len(listed) == 1:
        listed *= count
    if len(listed) != count:
        raise BackplayError(
            "agents", expected=f"one name for all, or {count} names", got=show(names)
        )
    return [player(name, simulations) for name in listed]
