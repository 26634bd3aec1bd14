"""What a run can show: the states of its demonstrations, and what its policy does from each.

Comes in: a job in progress, whose kind knows how its states are drawn. Goes out: pictures, and
episodes as they are played. Does not know: pages, files, curricula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Drawn = NDArray[np.uint8] | str
"""Pixels [height, width, 3], or a text where there are none."""


class Moment(NamedTuple):
    """One state of an episode that is being played."""

    draw: Callable[[], Drawn]
    """To be called before the next moment is asked for."""
    total: float
    """The return so far."""
    success: bool | None
    """At the end alone: whether it counts as one."""


class Scenes:
    """The demonstrations of a run and its policy, in pictures."""

    @property
    def lengths(self) -> Sequence[int]:
        """The steps of each demonstration."""
        raise NotImplementedError

    def picture(self, demo: int, step: int) -> Drawn:
        """A state of a demonstration."""
        raise NotImplementedError

    def play(self, demo: int, step: int, *, greedy: bool, seed: int) -> Iterator[Moment]:
        """An episode of the policy from that state, the state itself first.

        With the likeliest actions, or with actions that are drawn from a stream of this seed.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Frees what it holds."""
