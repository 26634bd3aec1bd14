"""Who plays: the names of the agents inside the game, and what a kernel needs to ask them.

Comes in: a name such as `fsmts`, `fsmts:250`, `simple`, `random`, `backplay` (the trained agent
that comes with the library) or `agent.npz` (one in a file). Goes out: a kind and its options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from backplay.envs.pommerman.agents import FSMTS, OUTSIDE, RANDOM, SIMPLE
from backplay.envs.pommerman.agents.fsmts_options import FsmtsOptions
from backplay.errors import BackplayError, ensure, show

if TYPE_CHECKING:
    from backplay.envs.pommerman.learned import Policy

TRAINED = "backplay"
NAMES = {"fsmts": FSMTS, "simple": SIMPLE, "random": RANDOM}
OPTIONS = len(FsmtsOptions().row())


@dataclass(frozen=True)
class Player:
    """An agent in a seat."""

    name: str
    kind: int
    options: FsmtsOptions = field(default_factory=FsmtsOptions)
    policy: Policy | None = None
    """What it learned, if it was trained; then it is asked outside of the kernels."""

    @cached_property
    def row(self) -> NDArray[np.int32]:
        """Its options as kernels read them."""
        return self.options.row()


Names = str | Sequence[str | Player]
"""An agent's name, or several; players may stand for their names."""
LEARNER = Player("learner", OUTSIDE)
"""A seat whose actions come from outside."""


def player(name: str, simulations: int = 50) -> Player:
    """The agent of this name; `fsmts:250` searches with 250 simulations instead."""
    if isinstance(name, str) and (name == TRAINED or name.endswith(".npz")):
        from backplay.envs.pommerman.learned import Policy, shipped

        return Player(name, OUTSIDE, policy=shipped() if name == TRAINED else Policy.load(name))
    kind, _, number = name.partition(":") if isinstance(name, str) else (name, "", "")
    if kind not in NAMES or (number and kind != "fsmts"):
        close = get_close_matches(str(name), [*NAMES, TRAINED], n=1)
        raise BackplayError(
            "agent",
            expected=f"{', '.join(NAMES)}, {TRAINED}, fsmts:SIMULATIONS or FILE.npz",
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


def players(names: Names, count: int, simulations: int = 50) -> list[Player]:
    """`count` agents from that many names, or from one for all of them."""
    listed: list[str | Player] = [names] if isinstance(names, str) else list(names)
    if len(listed) == 1:
        listed *= count
    ensure(len(listed) == count, "agents", f"one name for all, or {count} names", names)
    return [one if isinstance(one, Player) else player(one, simulations) for one in listed]
