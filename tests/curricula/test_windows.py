"""Backplay: its windows, the paper's tables, and what it refuses."""

import doctest
import sys
from collections import Counter

import numpy as np
import pytest
from curriculum_strategies import as_table, backplays
from hypothesis import given, settings
from hypothesis import strategies as st

import backplay.curricula  # noqa: F401  (so that the module below is loaded)
from backplay.curricula import Backplay, Window, check_curriculum
from backplay.errors import BackplayError

MAZE_EPOCHS = (0, 350, 700, 1050, 1400, 1750)
PRESETS = (Backplay.maze(), Backplay.pommerman_4(), Backplay.pommerman_100())


def counted_weights(curriculum: Backplay, length: int) -> np.ndarray:
    """The definition, one N at a time: slow and obvious."""
    lo, hi = curriculum.window.lo, curriculum.window.hi
    if curriculum.of_length:
        lo, hi = np.floor(lo * length + 1e-9), np.ceil(hi * length - 1e-9)
    draws = range(int(lo), max(int(lo) + 1, int(hi)))
    weights = np.zeros(length + 1)
    for n in draws:
        weights[min(max(length - n, 0), length - 1)] += 1 / len(draws)
    return weights


def steps_with_weight(curriculum: Backplay, length: int) -> dict[int, float]:
    weights = curriculum.weights(0, length)
    return {int(step): float(weights[step]) for step in np.flatnonzero(weights)}


# By hand.


def test_first_maze_window_by_hand() -> None:
    # T = 40, N in {0, 1, 2, 3}: 40 is the end and so 39, 39, 38, 37.
    assert steps_with_weight(Backplay.maze(), 40) == {37: 0.25, 38: 0.25, 39: 0.5}


def test_third_maze_window_by_hand() -> None:
    # T = 10, N in 8..15: steps 2 and 1, and six draws that reach the initial state or beyond.
    maze = Backplay.maze(frames_per_epoch=1).update([], 700)
    assert steps_with_weight(maze, 10) == {0: 6 / 8, 1: 1 / 8, 2: 1 / 8}


def test_maze_ends_in_the_initial_state_of_every_episode_length() -> None:
    maze = Backplay.maze(frames_per_epoch=1).update([], 1750)
    assert all(steps_with_weight(maze, length) == {0: 1.0} for length in (1, 35, 64, 65, 200))


def test_fractions_by_hand() -> None:
    half = Backplay((Window(0, 0.25, 0.5),), of_length=True)
    assert steps_with_weight(half, 8) == {6: 0.5, 5: 0.5}  # N in {2, 3}
    assert steps_with_weight(half, 2) == {1: 1.0}  # N in {0}: a window is never empty
    whole = Backplay((Window(0, 1.0, 1.0),), of_length=True)
    assert steps_with_weight(whole, 8) == {0: 1.0}


def test_fractions_fall_on_the_integer_they_mean() -> None:
    # 0.29 * 100 is 28.999999999999996 and 0.07 * 100 is 7.000000000000001.
    assert steps_with_weight(Backplay((Window(0, 0.29, 0.29),), of_length=True), 100) == {71: 1.0}
    window = Backplay((Window(0, 0.06, 0.07),), of_length=True)
    assert steps_with_weight(window, 100) == {94: 1.0}


def test_exactly_lo_when_lo_is_hi() -> None:
    assert steps_with_weight(Backplay((Window(0, 3, 3),)), 10) == {7: 1.0}


# The paper's tables, typed out (appendix A.1).


def test_maze_preset_is_the_papers_table() -> None:
    assert as_table(Backplay.maze(frames_per_epoch=1)) == [
        (0, 0, 4),
        (350, 4, 8),
        (700, 8, 16),
        (1050, 16, 32),
        (1400, 32, 64),
        (1750, 200, 200),  # [64, 64) in the table: the initial state
    ]


def test_pommerman_presets_are_the_papers_tables() -> None:
    assert as_table(Backplay.pommerman_4(frames_per_epoch=1)) == [
        (0, 0, 32),
        (50, 24, 64),
        (100, 56, 128),
        (150, 120, 256),
        (200, 248, 512),
        (250, 504, 800),
        (300, 800, 800),
    ]
    assert as_table(Backplay.pommerman_100(frames_per_epoch=1)) == [
        (0, 0, 32),
        (85, 24, 64),
        (170, 56, 128),
        (255, 120, 256),
        (340, 248, 512),
        (425, 504, 800),
        (510, 800, 800),
    ]


def test_an_epoch_is_the_papers_batch() -> None:
    for preset in PRESETS:
        assert preset.windows[1].frames % 102_400 == 0
    # The example of appendix A.1: "assume we are at epoch 1000. We will select … N in [16, 32)".
    # The table's own dates give [8, 16) there; [16, 32) opens at 1050. The table is followed.
    assert Backplay.maze().update([], 1000 * 102_400).describe() == "[8, 16) steps back"


# The clock.


def test_a_window_opens_at_its_frame() -> None:
    maze = Backplay.maze(frames_per_epoch=10)
    for epoch, window in zip(MAZE_EPOCHS, maze.windows, strict=True):
        assert maze.update([], epoch * 10).window == window
        assert epoch == 0 or maze.update([], epoch * 10 - 1).window != window


def test_update_is_idempotent_and_does_not_go_backwards() -> None:
    maze = Backplay.maze()
    assert maze.update([], 10**6).update([], 10**6) == maze.update([], 10**6)
    assert maze.frames == 0
    with pytest.raises(BackplayError, match="not the frames since the last update"):
        maze.update([], 5).update([], 4)


def test_scaled_stretches_every_window() -> None:
    maze = Backplay.maze(frames_per_epoch=100)
    assert maze.scaled(1) == maze
    assert maze.scaled(0.5) == Backplay.maze(frames_per_epoch=50)
    for factor in (0, 1e-9, -1, float("nan"), "2", 1e300):
        with pytest.raises(BackplayError):
            maze.scaled(factor)


@given(curriculum=backplays(), factor=st.integers(1, 50), frames=st.integers(0, 10_000))
def test_scaled_is_the_same_at_scaled_frames(
    curriculum: Backplay, factor: int, frames: int
) -> None:
    fresh = Backplay(curriculum.windows, curriculum.of_length)
    there = fresh.update([], frames).weights(0, 30)
    assert np.array_equal(there, fresh.scaled(factor).update([], frames * factor).weights(0, 30))


def test_describe_is_one_short_line() -> None:
    maze = Backplay.maze(frames_per_epoch=1)
    assert maze.update([], 1050).describe() == "[16, 32) steps back"
    assert maze.update([], 2000).describe() == "200 steps back"
    stretched = Backplay.stretch(1200)
    assert stretched.describe() == "[0%, 6.25%) of the length back"
    assert stretched.update([], 1200).describe() == "initial state"


def test_stretched_windows_double_and_have_passed_by_half_of_the_frames() -> None:
    assert as_table(Backplay.stretch(1000, 32)) == [
        (0, 0.0, 0.25), (166, 0.25, 0.5), (333, 0.5, 1.0), (500, 1.0, 1.0),
    ]  # fmt: skip
    assert as_table(Backplay.stretch(1000, 5)) == [(0, 0.0, 1.0), (500, 1.0, 1.0)]


# Properties.


@given(curriculum=backplays(), length=st.integers(1, 500), more=st.integers(0, 20_000))
def test_weights_are_a_distribution(curriculum: Backplay, length: int, more: int) -> None:
    later = min(curriculum.frames + more, 2**53)
    weights = curriculum.update([], later).weights(0, length)
    assert weights.shape == (length + 1,)
    assert weights.dtype == np.float64
    assert (weights >= 0.0).all()
    assert weights[-1] == 0.0
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)


@given(curriculum=backplays(), length=st.integers(1, 60))
def test_weights_agree_with_counting(curriculum: Backplay, length: int) -> None:
    if curriculum.window.hi <= 600:
        counted = counted_weights(curriculum, length)
        assert curriculum.weights(0, length) == pytest.approx(counted, abs=1e-12)


@settings(max_examples=25)
@given(curriculum=backplays(), lengths=st.lists(st.integers(1, 60), min_size=1, max_size=4))
def test_sample_agrees_with_weights(curriculum: Backplay, lengths: list[int]) -> None:
    check_curriculum(curriculum, lengths, frames=(), draws=5_000)


@pytest.mark.parametrize("curriculum", [*PRESETS, Backplay.stretch(10**6, 170)])
def test_contract(curriculum: Backplay) -> None:
    check_curriculum(curriculum, frames=[window.frames for window in curriculum.windows])


def test_sample_by_counting() -> None:
    demo, step = Backplay.maze().sample([40, 2], 40_000, np.random.default_rng(0))
    counts = Counter(zip(demo.tolist(), step.tolist(), strict=True))
    share = {start: count / 40_000 for start, count in counts.items()}
    expected = {(0, 39): 0.25, (0, 38): 0.125, (0, 37): 0.125, (1, 1): 0.25, (1, 0): 0.25}
    assert share == pytest.approx(expected, abs=0.01)


# What it refuses.

ONE = (Window(0, 0, 4),)


@pytest.mark.parametrize("bad", [-1, True, "4", None, float("nan"), float("inf"), 10**400, [4]])
def test_window_refuses_what_is_no_bound(bad: object) -> None:
    with pytest.raises(BackplayError, match=r"Window.lo: expected a number"):
        Window(0, bad, 5)
    with pytest.raises(BackplayError, match=r"Window.hi: expected a number"):
        Window(0, 0, bad)
    with pytest.raises(BackplayError, match=r"Window.frames: expected a whole number"):
        Window(bad, 0, 5)


def test_window_refuses_lo_above_hi() -> None:
    with pytest.raises(BackplayError, match=r"expected lo <= hi.*got lo=5, hi=4.*Swap"):
        Window(0, 5, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"windows": ()}, "at least one Window"),
        ({"windows": 4}, "at least one Window"),
        ({"windows": ((0, 0, 4),)}, "at least one Window"),
        ({"windows": "abc"}, "at least one Window"),
        ({"windows": (Window(1, 0, 4),)}, "begin at 0"),
        ({"windows": (Window(0, 0, 4), Window(0, 4, 8))}, "increase"),
        ({"windows": (Window(0, 0, 4), Window(9, 4, 8), Window(8, 8, 9))}, "increase"),
        ({"windows": (Window(0, 0.5, 0.7),)}, "whole steps back"),
        ({"windows": (Window(0, 0, 4),), "of_length": True}, "fractions of the length"),
        ({"windows": ONE, "of_length": 1}, "of_length: expected True or False"),
        ({"windows": ONE, "frames": -1}, "frames"),
    ],
)
def test_backplay_refuses(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(BackplayError, match=message) as caught:
        Backplay(**arguments)
    assert caught.value.expected
    assert caught.value.got
    assert caught.value.do


def test_a_list_of_windows_and_numpy_numbers_make_the_same_value() -> None:
    window = Window(np.int64(0), np.int32(0), np.float32(4))
    assert Backplay([window], frames=np.int64(3)) == Backplay(ONE, frames=3)
    assert hash(Backplay([window])) == hash(Backplay(ONE))


def test_the_examples_in_the_docstrings() -> None:
    for name in ("backplay.errors", "backplay.curricula.windows"):
        result = doctest.testmod(sys.modules[name])
        assert result.attempted > 0
        assert result.failed == 0
