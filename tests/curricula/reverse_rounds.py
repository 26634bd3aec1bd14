"""Three demonstrations, and rounds of a reverse curriculum on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from backplay.curricula import ReverseCurriculum
from backplay.records import Episode, Start

LENGTHS = (5, 9, 30)
LAST = {Start(demo, length - 1) for demo, length in enumerate(LENGTHS)}
SMALL = {"round_frames": 100, "new_states": 40, "walk_steps": 8, "new_starts": 12, "old_starts": 6}


def begin(seed: int = 0, **settings: Any) -> ReverseCurriculum:
    return ReverseCurriculum.begin(LENGTHS, seed=seed, **(SMALL | settings))


def played(start: Start, wins: int, tries: int) -> list[Episode]:
    return [Episode(start, 0.0, 3, i < wins) for i in range(tries)]


def half_won(curriculum: ReverseCurriculum) -> list[Episode]:
    """Every start of the set tried twice and won once."""
    return [e for tally in curriculum.starts for e in played(tally.start, 1, 2)]


def some_rounds(curriculum: ReverseCurriculum, rounds: int, seed: int = 0) -> Any:
    """The curriculum after each of so many rounds in which half of its starts did well."""
    rng = np.random.default_rng(seed)
    for number in range(1, rounds + 1):
        starts = [tally.start for tally in curriculum.starts]
        good = [start for start in starts if rng.random() < 0.5]
        episodes = [e for start in good for e in played(start, 1, 2)]
        curriculum = curriculum.update(episodes, number * curriculum.round_frames)
        yield good, curriculum


def new_ids(curriculum: ReverseCurriculum, number: int) -> range:
    count = -(-curriculum.new_states // curriculum.walk_steps)
    first = len(LENGTHS) + number * count
    return range(first, first + count)
