"""Walks and the starts on them, as lists: who comes from where, which are drawn, which are kept.

Comes in: walks in the order in which they were listed, starts. Goes out: some of them. Does not
know: what came of episodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

import numpy as np

from backplay.records import Start, Walk


def some_of(starts: Sequence[Start], n: int, rng: np.random.Generator) -> list[Start]:
    """At most `n` of the starts, each at most once."""
    return [starts[i] for i in rng.choice(len(starts), min(n, len(starts)), replace=False)]


def in_turn(
    came_from: Mapping[int, int], starts: Sequence[Start], n: int, rng: np.random.Generator
) -> list[Start]:
    """At most `n` of the starts, drawn so that demonstrations have turns."""
    before: Counter[int] = Counter()
    ranked = []
    for i in rng.permutation(len(starts)).tolist():
        demo = came_from.get(starts[i].demo, starts[i].demo)
        ranked.append((before[demo], starts[i]))
        before[demo] += 1
    return [start for _, start in sorted(ranked, key=itemgetter(0))[:n]]


def origins(walks: Iterable[Walk]) -> dict[int, int]:
    """The demonstration that each walk comes from, by its id."""
    found: dict[int, int] = {}
    for walk in walks:  # one sets out from a demonstration, or from a walk listed before
        found[walk.demo] = found.get(walk.start.demo, walk.start.demo)
    return found


def needed(known: Sequence[Walk], new: Sequence[Walk], starts: Iterable[Start]) -> tuple[Walk, ...]:
    """The new walks, those that the starts lie on, and those that any of these set out from."""
    wanted = {start.demo for start in starts} | {walk.demo for walk in new}
    kept = []
    for walk in reversed(known):  # a walk sets out from one of a lower id
        if walk.demo in wanted:
            wanted.add(walk.start.demo)
            kept.append(walk)
    return tuple(reversed(kept))
