"""What curricula remember of episodes: a row of numbers for each demonstration, mean lengths.

Comes in: plain data, finished episodes. Goes out: rows and means after these episodes. A row is
made when a demonstration first has an episode, so nobody has to say beforehand how many
demonstrations there are or how long. Does not know: what the numbers mean to a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from backplay.curricula.curriculum import (
    Curriculum,
    later,
    real_number,
    whole_number,
)
from backplay.errors import ensure
from backplay.records import Episode

MEAN_OVER = 50  # episodes, about, that a mean length remembers

Row = tuple[float, ...]


class Seen(NamedTuple):
    """An episode from a demonstration's state, as rules look at it."""

    demo: int
    back: int
    """Steps from its start to the end."""
    length: int
    """Of the demonstration."""
    success: bool


def seen(episodes: Iterable[Episode]) -> Iterator[Seen]:
    """The episodes that tell something about a place on a demonstration, in order."""
    for episode in episodes:
        if episode.start is not None and episode.back > 0:
            demo, step = episode.start
            yield Seen(demo, episode.back, step + episode.back, bool(episode.success))


@dataclass(frozen=True)
class Memory:
    """A clock, and a row of numbers for each demonstration that was seen."""

    frames: int = 0
    """Frames of training so far."""
    rows: tuple[Row, ...] = ()
    """By demonstration; what the numbers are, the rule says."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", whole_number("frames", self.frames))
        object.__setattr__(self, "rows", as_rows(self.rows))


@dataclass(frozen=True)
class PerDemonstration(Curriculum):
    """A rule with a row of numbers for each demonstration, moved by every episode from it.

    A subclass says which row a demonstration begins with (`first`), how an episode moves it
    (`moved`), and which weights it stands for (`weights`).
    """

    state: Memory = field(default_factory=Memory, kw_only=True)
    """What it has seen."""

    @property
    def frames(self) -> int:
        """The clock: frames of training so far."""
        return self.state.frames

    @property
    def first(self) -> Row:
        """The row of a demonstration that was not seen yet."""
        raise NotImplementedError

    def moved(self, row: Row, episode: Seen) -> Row:
        """The row after one more episode."""
        raise NotImplementedError

    def row(self, demo: int) -> Row:
        """The present row of a demonstration."""
        return self.state.rows[demo] if demo < len(self.state.rows) else self.first

    def update(self, episodes: Sequence[Episode], frames: int) -> Self:
        """The same with the rows moved by these episodes."""
        rows = list(self.state.rows)
        for one in seen(episodes):
            rows.extend([self.first] * (one.demo + 1 - len(rows)))
            rows[one.demo] = self.moved(rows[one.demo], one)
        return replace(self, state=Memory(later(self.frames, frames), tuple(rows)))


def as_rows(rows: object) -> tuple[Row, ...]:
    """Rows of a state, refused unless they are finite numbers."""
    listed = tuple(rows) if isinstance(rows, list | tuple) else (None,)
    made = []
    for row in listed:
        ensure(
            isinstance(row, list | tuple), "state", "a row of numbers for each demonstration", row,
            do="Leave it to update().",
        )  # fmt: skip
        made.append(tuple(real_number("state", x, at_least=-(2.0**53)) for x in row))
    return tuple(made)


def as_means(lengths: object) -> tuple[float, float]:
    """Two mean lengths, refused unless they are numbers from 0 on."""
    pair = tuple(lengths) if isinstance(lengths, list | tuple) else ()
    ensure(len(pair) == 2, "lengths", "two mean lengths", lengths, do="Leave it to update().")
    return real_number("lengths", pair[0]), real_number("lengths", pair[1])


def mean_lengths(means: tuple[float, float], episodes: Iterable[Episode]) -> tuple[float, float]:
    """Mean lengths from the initial state and from elsewhere, moved by these episodes."""
    moved = list(means)
    for episode in episodes:
        if episode.start is not None:
            kind = int(episode.start.step > 0)
            moved[kind] += (episode.length - moved[kind]) / (MEAN_OVER if moved[kind] else 1)
    return moved[0], moved[1]


def chance_of_share(share: float, means: tuple[float, float]) -> float:
    """The chance of an episode of the first kind so that these take `share` of the frames."""
    first, second = means
    if not first or not second:
        return share
    return share * second / (share * second + (1.0 - share) * first)
