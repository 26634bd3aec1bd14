"""What a Backplay remembers of episodes: which succeeded of late, and how long they were.

Comes in: numbers and finished episodes. Goes out: tuples, refused unless they can be such a memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from backplay.curricula.curriculum import real_number
from backplay.errors import BackplayError, show
from backplay.records import Episode

RECENT = 100  # episodes from the window that show whether it is mastered
MEAN_OVER = 50  # episodes, about, that a mean length remembers


def as_recent(recent: object) -> tuple[bool, ...]:
    """Results of the last episodes, refused unless they are at most 100 of True and False."""
    results = tuple(recent) if isinstance(recent, list | tuple) else (None,)
    if len(results) > RECENT or not all(isinstance(result, bool) for result in results):
        raise BackplayError(
            "recent", expected=f"at most {RECENT} of True and False", got=show(recent),
            do="Leave it to update().",
        )  # fmt: skip
    return results


def as_means(lengths: object) -> tuple[float, float]:
    """Two mean lengths, refused unless they are numbers from 0 on."""
    pair = tuple(lengths) if isinstance(lengths, list | tuple) else ()
    if len(pair) != 2:
        raise BackplayError(
            "lengths", expected="two mean lengths", got=show(lengths), do="Leave it to update()."
        )
    return real_number("lengths", pair[0]), real_number("lengths", pair[1])


def moved(lengths: tuple[float, float], episodes: Sequence[Episode]) -> tuple[float, float]:
    """Mean lengths from the initial state and from elsewhere, moved by these episodes."""
    means = list(lengths)
    for start, length in ((episode.start, episode.length) for episode in episodes):
        if start is not None:
            kind = int(start.step > 0)
            means[kind] += (length - means[kind]) / (MEAN_OVER if means[kind] else 1)
    return means[0], means[1]
