"""The reverse curriculum of many demonstrations: a part for each, or one set for all."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from reverse_rounds import LAST, LENGTHS, begin, new_ids, played

from backplay.curricula import ReverseCurriculum, check_curriculum, from_json, to_json
from backplay.errors import BackplayError
from backplay.records import Start


def origin(curriculum: ReverseCurriculum, start: Start) -> int:
    walks = {walk.demo: walk for walk in curriculum.walks}
    while start.demo in walks:
        start = walks[start.demo].start
    return start.demo


def crowded(evenly: bool, rounds: int) -> Any:
    """Rounds in which starts on or from the first demonstration alone survive."""
    now = begin(evenly=evenly, new_states=48)
    for number in range(1, rounds + 1):
        episodes = [
            e for tally in now.starts
            for e in played(tally.start, 1 if origin(now, tally.start) == 0 else 2, 2)
        ]  # fmt: skip
        now = now.update(episodes, number * now.round_frames)
        yield now


def test_who_survives_crowds_out_the_others_unless_all_have_their_part() -> None:
    def share(evenly: bool) -> float:
        found = [origin(now, t.start) for now in crowded(evenly, 30) for t in now.starts[:12]]
        return found.count(0) / len(found)

    assert share(evenly=False) > 0.6
    assert 0.25 < share(evenly=True) < 0.55  # a third of the walks, and all survivors


def test_evenly_every_demonstration_has_as_many_walks_from_its_own_starts() -> None:
    before = begin(evenly=True, new_states=48)
    assert set(before.archive) == LAST
    for now in crowded(True, 20):
        new = [walk for walk in now.walks if walk.demo in new_ids(now, now.round)]
        assert Counter(origin(now, Start(w.demo, 1)) for w in new) == {0: 2, 1: 2, 2: 2}
        tried = {tally.start for tally in before.starts}
        for walk in new:
            if walk.start.demo not in {w.demo for w in new}:
                # Survivors or what was too easy; without any, its archive.
                own = {s for s in tried if origin(before, s) == origin(now, walk.start)}
                assert walk.start in (own or before.archive)
        old = [origin(now, tally.start) for tally in now.starts[12:]]
        held = Counter(
            origin(now, s) for s in now.archive if s not in [t.start for t in now.starts[:12]]
        )
        assert all(old.count(demo) >= min(2, held[demo]) for demo in range(3))
        before = now
    check_curriculum(before, LENGTHS, draws=5_000)
    assert from_json(to_json(before)) == before


def test_evenly_every_demonstration_has_as_many_new_starts() -> None:
    for now in crowded(True, 20):
        chosen = [origin(now, tally.start) for tally in now.starts[:12]]
        assert Counter(chosen) == {0: 4, 1: 4, 2: 4}


def test_evenly_the_archive_has_a_part_for_every_demonstration_and_all_ends() -> None:
    now = begin(evenly=True, new_states=48, archive_size=9)
    for number in range(1, 21):
        episodes = [
            e for tally in now.starts
            for e in played(tally.start, 1 if origin(now, tally.start) == 0 else 2, 2)
        ]  # fmt: skip
        now = now.update(episodes, number * now.round_frames)
        assert set(now.archive) >= LAST
        held = Counter(origin(now, start) for start in now.archive)
        assert held[0] in (3, 4)
        assert held[1] == held[2] == 1


def test_where_all_was_too_easy_walks_set_out_from_what_was_new() -> None:
    now = begin(evenly=True, new_states=48)
    for number in range(1, 21):
        before = now
        tried = {tally.start for tally in before.starts}
        episodes = [e for start in tried for e in played(start, 2, 2)]
        now = before.update(episodes, number * before.round_frames)
        new = new_ids(now, now.round)
        for walk in now.walks:
            if walk.demo in new and walk.start.demo not in new:
                own = {s for s in tried if origin(before, s) == origin(now, walk.start)}
                fresh = own - set(before.archive)
                assert fresh
                assert walk.start in fresh


def test_a_round_adds_the_ends_of_as_many_demonstrations_as_it_is_told() -> None:
    lengths = [5, 7, 9, 11, 13, 15]
    one, many = (
        ReverseCurriculum.begin(lengths, new_ends=count, new_states=10, walk_steps=5, seed=2)
        for count in (1, 40)
    )
    assert len(one.archive) == 1
    assert set(many.archive) == {Start(demo, length - 1) for demo, length in enumerate(lengths)}
    with pytest.raises(BackplayError, match="new_ends"):
        ReverseCurriculum.begin(lengths, new_ends=0)
