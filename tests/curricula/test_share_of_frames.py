"""True starts as a share of the frames instead of the episodes."""

from dataclasses import replace

import numpy as np
import pytest

from backplay.curricula import Backplay, Window, check_curriculum, from_json, to_json
from backplay.records import Episode, Start

HALF = Backplay((Window(0, 0, 8),), start_share=0.5, by_frames=True)


def episode(step: int, length: int, success: bool = False) -> Episode:
    return Episode(Start(0, step), 0.0, length, success)


@pytest.mark.parametrize(
    ("share", "lengths", "chance"),
    [
        (0.5, (200.0, 50.0), 0.2),  # 0.2 * 200 steps = 0.8 * 50 steps
        (0.25, (100.0, 100.0), 0.25),
        (0.5, (10.0, 30.0), 0.75),
        (0.0, (10.0, 30.0), 0.0),
        (1.0, (10.0, 30.0), 1.0),
        (0.5, (0.0, 30.0), 0.5),  # no episode from the initial state yet
        (0.5, (30.0, 0.0), 0.5),
    ],
)
def test_the_chance_by_hand(share: float, lengths: tuple[float, float], chance: float) -> None:
    assert replace(HALF, start_share=share, lengths=lengths).start_chance == pytest.approx(chance)
    assert replace(HALF, start_share=share, lengths=lengths, by_frames=False).start_chance == share


def test_the_chance_leaves_the_uniform_share_alone() -> None:
    curriculum = replace(HALF, uniform_share=0.5, lengths=(1.0, 99.0))
    assert curriculum.start_chance == 0.5  # not 0.99
    assert curriculum.weights(0, 10).sum() == pytest.approx(1.0)


def test_mean_lengths_follow_the_last_episodes() -> None:
    once = HALF.update([episode(0, 200), episode(7, 20), Episode(None, 0.0, 999, False)], 300)
    assert once.lengths == (200.0, 20.0)
    assert once.update([episode(9, 70)], 400).lengths == pytest.approx((200.0, 21.0))  # 1 of 50
    later = once.update([episode(3, 70) for _ in range(500)], 40_000)
    assert later.lengths == pytest.approx((200.0, 70.0), rel=1e-3)


def test_a_share_of_episodes_keeps_no_lengths() -> None:
    plain = replace(HALF, by_frames=False)
    assert plain.update([episode(0, 200), episode(7, 20)], 300).lengths == (0.0, 0.0)


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_so_many_frames_are_spent_from_the_initial_state(share: float, waits: bool) -> None:
    """Episodes of 150 steps from the initial state and 1 to 20 from elsewhere, by simulation."""
    rng = np.random.default_rng(0)
    curriculum = replace(HALF, start_share=share, mastery=0.9 if waits else 0.0)
    frames, from_start = 0, 0
    for _ in range(20_000):
        _, step = curriculum.sample([100], 1, rng)
        length = 150 if step[0] == 0 else int(rng.integers(1, 21))
        frames, from_start = frames + length, from_start + length * (step[0] == 0)
        curriculum = curriculum.update([episode(int(step[0]), length)], frames)
    assert from_start / frames == pytest.approx(share, abs=0.03)


def test_it_keeps_the_rules_and_survives_json() -> None:
    curriculum = HALF.update([episode(0, 200), episode(7, 33)], 300)
    check_curriculum(curriculum)
    assert from_json(to_json(curriculum)) == curriculum


def test_it_says_so() -> None:
    assert HALF.describe() == "[0, 8) steps back, 50% of frames at the initial state"
    assert replace(HALF, by_frames=False).describe().endswith("back, 50% at the initial state")
