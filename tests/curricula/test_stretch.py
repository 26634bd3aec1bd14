"""The default schedule: `Backplay.stretch`."""

import pytest
from curriculum_strategies import as_table
from hypothesis import given
from hypothesis import strategies as st

from backplay.curricula import Backplay
from backplay.errors import BackplayError
from backplay.records import Episode, Start


def test_stretch_by_hand() -> None:
    assert as_table(Backplay.stretch(1_000)) == [
        (0, 0, 1 / 16),  # 8 steps of 128
        (100, 1 / 16, 1 / 8),
        (200, 1 / 8, 1 / 4),
        (300, 1 / 4, 1 / 2),
        (400, 1 / 2, 1),
        (500, 1, 1),
    ]
    rule = Backplay.stretch(1_000)
    assert (rule.start_share, rule.by_frames, rule.cut) == (0.5, True, 1.0)
    assert (rule.mastery, rule.latest, rule.bridge, rule.if_silent) == (0.8, 1.6, 0.5, True)
    assert Backplay.stretch(1_000, share_of_budget=0.9).latest == 1.0
    overlapping = Backplay.stretch(120, [16, 5], overlap=0.5, share_of_budget=1.0, first_steps=4)
    assert as_table(overlapping) == [(0, 0, 0.25), (40, 0.125, 0.5), (80, 0.25, 1), (120, 1, 1)]


@given(
    total=st.integers(100, 2**40),
    lengths=st.lists(st.integers(1, 5000), min_size=1, max_size=5),
    share=st.floats(0.5, 1.0),
    overlap=st.floats(0.0, 1.0),
    first=st.integers(1, 50),
    waits=st.booleans(),
)
def test_stretch_covers_the_demonstration_and_then_starts_at_the_beginning(
    total: int, lengths: list[int], share: float, overlap: float, first: int, waits: bool
) -> None:
    curriculum = Backplay.stretch(
        total, lengths, share_of_budget=share, overlap=overlap, first_steps=first, start_share=0.0,
        latest_share=1.0, if_silent=waits,
    )  # fmt: skip
    longest = max(lengths)
    assert curriculum.windows[0].hi * longest <= max(first, 1 if longest == 1 else first)
    assert len(curriculum.windows) == 1 or curriculum.windows[-2].hi == 1.0
    for early, late in zip(curriculum.windows, curriculum.windows[1:-1], strict=False):
        assert late.lo <= early.hi < late.hi == 2 * early.hi  # no gap, and each twice as far
    assert curriculum.update([], total).done
    assert all(curriculum.update([], total).weights(0, n)[0] == 1.0 for n in lengths)


def test_episodes_are_cut_only_once_failures_are_known_to_bring_reward() -> None:
    fresh = Backplay.stretch(1_000)
    failed, succeeded = (Episode(Start(0, 9), -1.0, 4, success) for success in (False, True))
    assert fresh.patience is None
    assert fresh.update([succeeded, failed._replace(total_reward=0.0)], 8).patience is None
    assert fresh.update([failed], 4).patience == 1.0
    assert Backplay.stretch(1_000, cut=None).update([failed], 4).patience is None
    assert Backplay.stretch(1_000, if_silent=False, cut=3).patience == 3.0


def test_stretch_of_a_demonstration_of_one_step() -> None:
    assert as_table(Backplay.stretch(100, [1])) == [(0, 0, 1), (50, 1, 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"total_frames": 0}, "total_frames"),
        ({"total_frames": 1e6}, "total_frames: expected a whole number"),
        ({"total_frames": 5}, "at least 5 frames, one for each window, got 5"),
        ({"total_frames": 100, "demo_lengths": []}, "at least one demonstration"),
        ({"total_frames": 100, "demo_lengths": [0]}, "at least 1 step"),
        ({"total_frames": 100, "share_of_budget": 0.0}, "share_of_budget"),
        ({"total_frames": 100, "share_of_budget": 1.1}, "share_of_budget"),
        ({"total_frames": 100, "overlap": -0.1}, "overlap"),
        ({"total_frames": 100, "first_steps": 0}, "first_steps"),
        ({"total_frames": 100, "start_share": 2}, "start_share"),
        ({"total_frames": 100, "cut": 0.9}, "cut"),
    ],
)
def test_stretch_refuses(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(BackplayError, match=message):
        Backplay.stretch(**arguments)
