"""What moves between the rooms: a snapshot, where an episode starts, a walk, what came of it.

Plain tuples of data. They know nothing of environments, curricula or learners.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

TRUE_START = -1
"""Where episodes are counted by steps back from the end: those from the true start."""


class Snapshot(NamedTuple):
    """One state of an environment and the observation seen in it, recorded together.

    Together, because Gymnasium has no way to ask for the observation of the present state, and an
    ALE screen is stale until the step after a restore.
    """

    state: Any
    """What a restorer saved; only that restorer can read it."""
    observation: Any
    """What the agent saw in this state."""


class Start(NamedTuple):
    """Where an episode begins: a state of a demonstration, or of a walk."""

    demo: int
    """Index of the demonstration; from the number of demonstrations on, the id of a walk."""
    step: int
    """Index of its state; 0 is the initial state, or where the walk set out."""


class Walk(NamedTuple):
    """A random walk from a state, as a recipe: the same recipe gives the same states.

    Whoever holds states walks it. The walk's state i is the one after i actions. An action that
    ends an episode leads back to where the walk set out, clock and all.
    """

    demo: int
    """The id under which its states are starts: no demonstration's, and no other walk's."""
    start: Start
    """Where it sets out: a state of a demonstration, or of a walk with a lower id."""
    steps: int
    """Random actions to take."""
    seed: int
    """Of the actions."""


class Episode(NamedTuple):
    """What came of one episode."""

    start: Start | None
    """Where it began, as drawn; None if nobody drew a start."""
    total_reward: float
    """Sum of the rewards from its start on, not discounted."""
    length: int
    """Steps taken from its start on."""
    success: bool
    """Whether it reached the goal."""
    back: int = 0
    """Steps from its start to the demonstration's end, walked ones included; 0: not known."""
    par: float = 0.0
    """What the demonstration earned from the same start on."""


NEVER = 2**62  # steps
GRACE = 16  # steps that patience adds, so that a start near the end leaves room to act


def steps_allowed(patience: float | None, back: Any) -> Any:
    """The steps after which an episode that starts `back` steps from the end is cut.

    `patience` times what the demonstration took, and 16. None: never, as far as an int can count.
    """
    if patience is None:
        return back * 0 + NEVER
    return GRACE + patience * back


def episodes_of(demos: Any, steps: Any, *columns: Any) -> list[Episode]:
    """Episodes from arrays [k], one for each field: the start's two, then the others in order.

    A fast simulator ends a hundred thousand a second: the collector, which would look through all
    of them again and again as they are made, waits; no Python function is called for each.
    """
    start, episode = partial(tuple.__new__, Start), partial(tuple.__new__, Episode)
    collects = gc.isenabled()
    gc.disable()
    try:
        starts = map(start, zip(demos.tolist(), steps.tolist(), strict=True))
        return list(map(episode, zip(starts, *(c.tolist() for c in columns), strict=True)))
    finally:
        if collects:
            gc.enable()


def episodes_as_rows(episodes: Sequence[Episode]) -> list[list[Any]]:
    """Episodes as plain data: for a file, or for another process."""
    return [
        [
            None if e.start is None else list(e.start),
            float(e.total_reward),
            int(e.length),
            bool(e.success),
            int(e.back),
            float(e.par),
        ]
        for e in episodes
    ]


def rows_as_episodes(rows: Sequence[Sequence[Any]]) -> list[Episode]:
    """What `episodes_as_rows` returned; raises where it is something else."""
    return [
        Episode(start_of(start), _finite(reward), int(length), bool(success), int(back), float(par))
        for start, reward, length, success, back, par in rows
    ]


def _finite(number: Any) -> float:
    if not math.isfinite(number):
        raise ValueError("a return that is no number")
    return float(number)


def start_of(pair: Sequence[Any] | None) -> Start | None:
    """The start of a pair of numbers; None for none, which version 0.1 wrote as an empty list."""
    if pair is None or len(pair) == 0:
        return None
    demo, step = pair
    return Start(int(demo), int(step))


@runtime_checkable
class DrawsStarts(Protocol):
    """Whoever says where episodes start: a curriculum, to those who need know no more of it."""

    def sample(self, lengths: Any, n: int, rng: Any) -> tuple[Any, Any]:
        """`n` starts in demonstrations of these lengths: demo [n], step [n]."""
        ...

    @property
    def patience(self) -> float | None:
        """When hopeless episodes are cut, see `steps_allowed`; None: never."""
        ...
