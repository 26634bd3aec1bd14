"""Reverse curriculum generation: rounds, survivors, walks and the archive; and walks' own rules."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from reverse_rounds import LAST, LENGTHS, begin, half_won, new_ids, played, some_rounds

from backplay.curricula import ReverseCurriculum, check_curriculum, from_json, to_json
from backplay.errors import BackplayError
from backplay.records import Episode, Start, Walk

# A round ----------------------------------------------------------------------------------------


def test_the_first_round_grows_from_the_last_state_of_a_demonstration() -> None:
    found = set()
    for seed in range(30):
        first = begin(seed)
        (last,) = first.archive
        found.add(last)
        assert [walk.demo for walk in first.walks] == list(new_ids(first, 0)) == [3, 4, 5, 6, 7]
        assert first.walks[0].start == last
        starts = [tally.start for tally in first.starts]
        assert last in starts  # drawn from the archive, if not as a new start
        assert len(set(starts)) == len(starts)
        assert len(starts) in (12, 13)
        assert all(s == last or (s.demo in range(3, 8) and 1 <= s.step <= 8) for s in starts)
        assert all(tally.tries == tally.wins == 0 for tally in first.starts)
    assert found == LAST


def test_the_paper_numbers_are_the_defaults() -> None:
    first = ReverseCurriculum.begin([40] * 100)
    assert len(first.walks) == 200
    assert all(walk.steps == 50 for walk in first.walks)
    assert len(first.starts) in (200, 201)
    _, last = list(some_rounds(first, 3))[-1]
    assert len(last.starts) == 300
    assert (first.lowest, first.highest, first.round_frames) == (0.1, 0.9, 102_400)


def test_starts_in_the_band_survive() -> None:
    """By hand: of ten tries 0, 1, 5, 9 or 10 won; the sixth start was not tried."""
    first = begin()
    starts = [tally.start for tally in first.starts[:6]]
    episodes = [
        e for start, wins in zip(starts, (0, 1, 5, 9, 10), strict=False)
        for e in played(start, wins, 10)
    ]  # fmt: skip
    episodes.append(Episode(None, 0.0, 1, True))
    episodes.append(Episode(Start(2, 0), 0.0, 1, True))  # of no start of the set
    # They may come in several updates, the last of them with the end of the round.
    half = first.update(episodes[::2], 99)
    assert half.round == 0
    assert half.walks == first.walks
    assert [t.tries for t in half.starts] == [5] * 5 + [0] * (len(first.starts) - 5)
    second = half.update(episodes[1::2], 100)
    assert second.round == 1
    survivors = starts[1:4]
    added = [start for start in second.archive if start not in (*survivors, *first.archive)]
    assert set(second.archive) == {*first.archive, *survivors, *added}
    assert set(added) <= LAST
    sources = {*survivors, *(LAST & {*second.archive})}
    for walk in second.walks:
        if walk.demo in new_ids(second, 1):
            assert walk.start in sources or (
                walk.start.demo in range(new_ids(second, 1)[0], walk.demo)
                and 1 <= walk.start.step <= 8
            )


def test_without_survivors_walks_set_out_from_what_was_too_easy_or_from_the_archive() -> None:
    """Four starts tried: all too easy, or most of them too hard, or one in the band."""
    _, before = list(some_rounds(begin(), 5))[-1]
    tried = [tally.start for tally in before.starts[:4]]

    def sources(*wins: int) -> set[Start]:
        episodes = [e for s, won in zip(tried, wins, strict=True) for e in played(s, won, 2)]
        now = before.update(episodes, 600)
        new = new_ids(now, 6)
        return {w.start for w in now.walks if w.demo in new and w.start.demo not in new}

    assert len(sources(2, 2, 2, 0) & set(tried[:3])) > 0
    assert sources(2, 2, 2, 0) <= {*tried[:3], *LAST}
    assert sources(2, 0, 0, 0) <= {*before.archive, *LAST}
    assert len(sources(2, 0, 0, 0) - LAST) > 0
    assert sources(2, 2, 2, 1) <= {tried[3], *LAST}


def test_walks_set_out_from_anywhere_known_with_equal_chances() -> None:
    """The second of two walks: from the one source, or from one of the 4 states of the first."""
    counts: Counter[Any] = Counter()
    for seed in range(3000):
        second = begin(seed, new_states=8, walk_steps=4).walks[1]
        counts[second.start.step if second.start.demo == 3 else "source"] += 1
    assert counts.keys() == {"source", 1, 2, 3, 4}
    assert all(abs(count - 600) < 4 * 600**0.5 for count in counts.values())


def test_the_set_is_drawn_from_survivors_walks_and_archive() -> None:
    seen: Counter[str] = Counter()
    before = begin()
    for good, now in some_rounds(before, 60):
        sources = {*good, *(s for s in now.archive if s in LAST)}
        starts = [tally.start for tally in now.starts]
        assert len(set(starts)) == len(starts) <= 18
        fresh = [s for s in starts[:12] if s.demo in new_ids(now, now.round) and s.step >= 1]
        assert all(s in sources for s in starts[:12] if s not in fresh)
        assert all(s in now.archive for s in starts[12:])
        seen.update(walks=len(fresh), survivors=12 - len(fresh), old=len(starts) - 12)
    # 40 states of walks beside about 9 survivors and the added one
    assert 0.6 < seen["walks"] / (seen["walks"] + seen["survivors"]) < 0.95
    assert seen["old"] > 300


def test_exactly_the_walks_that_something_needs_are_listed() -> None:
    known: dict[int, Walk] = {}
    sizes = []
    for _, now in some_rounds(begin(archive_size=30), 80):
        for walk in now.walks:
            assert known.setdefault(walk.demo, walk) == walk  # an id means one walk for ever
        wanted = {*new_ids(now, now.round)}
        waiting = [s.demo for s in (*now.archive, *(t.start for t in now.starts))] + [*wanted]
        while waiting:
            demo = waiting.pop()
            if demo >= len(LENGTHS):
                wanted.add(demo)
                waiting.append(known[demo].start.demo)
        assert [walk.demo for walk in now.walks] == sorted(wanted)
        assert len(now.archive) <= 30
        sizes.append(len(now.walks))
    assert len(known) > 300
    assert len({walk.seed for walk in known.values()}) == len(known)
    assert max(sizes) < 150


def test_the_archive_forgets_who_survived_longest_ago() -> None:
    order: list[Start] = list(begin(archive_size=10).archive)
    for good, now in some_rounds(begin(archive_size=10), 20):
        latest = [s for s in now.archive if s in good or s in LAST]
        assert now.archive[-len(latest) :] == tuple(latest)
        older = [s for s in order if s not in latest]
        kept = now.archive[: -len(latest)]
        assert list(kept) == older[len(older) - len(kept) :]
        assert len(now.archive) == min(10, len(older) + len(latest))
        order = list(now.archive)


# The clock --------------------------------------------------------------------------------------


def test_frames_are_totals() -> None:
    first = begin()
    second = first.update(half_won(first), 250)
    assert second.round == 2  # a long rollout skips a round
    assert second.update([], 250) == second
    assert second.update([], 299).round == 2
    assert second.update([], 300).round == 3
    with pytest.raises(BackplayError, match="at least 250"):
        second.update([], 249)


def test_initial_states_only_at_the_end() -> None:
    first = begin(until=250)
    assert not first.update([], 249).done
    last = first.update([], 250)
    assert last.done
    assert last.describe() == "initial state"
    assert (last.walks, last.starts, last.archive) == ((), (), ())
    demo, step = last.sample(LENGTHS, 200, np.random.default_rng(0))
    assert set(demo.tolist()) == {0, 1, 2}
    assert not step.any()
    assert last.update(half_won(first), 900).done
    assert begin(until=0).done


def test_rounds_follow_from_the_seed_alone() -> None:
    def third(seed: int) -> ReverseCurriculum:
        return list(some_rounds(begin(seed), 3, seed=7))[-1][1]

    assert third(0) == third(0)
    assert third(0).walks != third(1).walks
    assert third(0).describe() == f"round 3: 18 starts, {len(third(0).archive)} in the archive"


# A curriculum like any other --------------------------------------------------------------------


@pytest.mark.parametrize("until", [None, 10**5])
def test_it_keeps_the_rules(until: int | None) -> None:
    curriculum = list(some_rounds(begin(until=until), 5))[-1][1]
    check_curriculum(begin(until=until), LENGTHS, draws=5_000)
    check_curriculum(curriculum, LENGTHS, draws=5_000)


def test_every_start_of_the_set_is_as_likely() -> None:
    curriculum = list(some_rounds(begin(), 4))[-1][1]
    demo, step = curriculum.sample(LENGTHS, 18_000, np.random.default_rng(0))
    counts = Counter(zip(demo.tolist(), step.tolist(), strict=True))
    assert counts.keys() == {tuple(tally.start) for tally in curriculum.starts}
    assert all(abs(count - 1000) < 5 * 1000**0.5 for count in counts.values())
    share = curriculum.demo_weights(LENGTHS)
    on = [[t.start.step for t in curriculum.starts if t.start.demo == d] for d in range(3)]
    np.testing.assert_allclose(share, [len(steps) / 18 for steps in on])
    assert curriculum.weights(2, 30)[29] == 1.0


@pytest.mark.parametrize("lengths", [(5, 9), (5, 9, 31), (9, 5, 30)])
def test_other_demonstrations_are_refused(lengths: Any) -> None:
    with pytest.raises(BackplayError, match="begun with"):
        begin().sample(lengths, 1, np.random.default_rng(0))
    with pytest.raises(BackplayError, match="begun with"):
        begin().weights(1, 10)


def test_it_goes_on_from_json_exactly() -> None:
    here = there = begin()
    for good, _ in some_rounds(here, 4):
        frames = here.frames + 100
        episodes = [e for start in good for e in played(start, 1, 2)]
        here, there = here.update(episodes, frames), there.update(episodes, frames)
        there = from_json(to_json(there))
        assert here == there


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"starts": []}, "got no starts"),
        ({"starts": [[[999, 1], 0, 0]]}, "a start that no demonstration and no walk has"),
        ({"starts": [[[0, 5], 0, 0]]}, "a start that no demonstration"),
        ({"starts": [[[3, 9], 0, 0]]}, "a start that no demonstration"),
        ({"starts": [[[0, 4], 1, 2]]}, "other wins than tries"),
        ({"archive": [[1, -1]]}, "a start that no demonstration"),
        ({"walks": []}, "a start that no demonstration"),
        ({"walks": [[2, [0, 4], 8, 1]]}, "a walk out of order"),
        ({"walks": [[4, [3, 1], 8, 1]]}, "a walk out of order or from nowhere"),
        ({"walks": [[3, [0, 4], 0, 1]]}, "a walk that cannot be walked"),
        ({"lowest": 0.95}, "lowest: expected a number from 0 to 0.9"),
        ({"walk_steps": 0}, "walk_steps"),
        ({"evenly": 1}, "evenly"),
        ({"until": -1}, "until"),
        ({"demo_lengths": [0]}, "length of a demonstration"),
    ],
)
def test_damaged_json_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BackplayError, match=message):
        from_json(json.dumps({**json.loads(to_json(begin())), **changes}))


# The idea ---------------------------------------------------------------------------------------


def test_starts_follow_what_an_agent_can_do() -> None:
    """On a line, an agent that wins up to a distance: the survivors are at that distance."""
    curriculum = ReverseCurriculum.begin([10], round_frames=1, new_states=1000, walk_steps=20)
    places: dict[int, list[int]] = {0: list(range(10, -1, -1))}
    for number in range(1, 41):
        for walk in curriculum.walks:
            began = places[walk.start.demo][walk.start.step]
            moves = np.random.default_rng(walk.seed).choice([-1, 1], walk.steps)
            places[walk.demo] = [began, *np.maximum(1, began + moves.cumsum()).tolist()]
        skill = min(number, 30)  # wins nearer than this, half the time up to 3 beyond, then never
        far = [(start, places[start.demo][start.step]) for start, *_ in curriculum.starts]
        wins = {start: 4 if d < skill else 2 if d < skill + 3 else 0 for start, d in far}
        episodes = [e for start, won in wins.items() for e in played(start, won, 4)]
        curriculum = curriculum.update(episodes, number)
    survivors = {start: d for start, d in far if wins[start] == 2}
    assert set(survivors.values()) == {30, 31, 32}
    assert len(survivors) > 20
    assert set(survivors) <= set(curriculum.archive[-len(survivors) - 1 :])
    assert {d // 10 for d in (places[s.demo][s.step] for s in curriculum.archive)} == {0, 1, 2, 3}
