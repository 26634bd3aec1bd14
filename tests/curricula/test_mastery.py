"""Backplay that waits for mastery: a window stays until it is mastered."""

import pytest

from backplay.curricula import Backplay, Window
from backplay.errors import BackplayError
from backplay.records import Episode, Start

ONE = (Window(0, 0, 4),)
WAITING = Backplay((Window(0, 0, 4), Window(100, 4, 8), Window(200, 8, 8)), mastery=0.5)


def results(successes: int, failures: int, step: int = 3) -> list[Episode]:
    ends = [True] * successes + [False] * failures
    return [Episode(Start(0, step), 0.0, 1, success) for success in ends]


def test_an_unmastered_window_stays_however_late_it_is() -> None:
    late = WAITING.update(results(49, 51), 10_000)
    assert late.window == WAITING.windows[0]
    assert late.held == 10_000 - 99
    assert late.update(results(100, 0), 10_001).window == WAITING.windows[1]


def test_a_mastered_window_stays_for_its_own_frames() -> None:
    early = WAITING.update(results(100, 0), 99)
    assert early.window == WAITING.windows[0]
    assert early.update([], 100).window == WAITING.windows[1]


def test_a_window_that_opened_late_gets_all_its_frames_and_its_own_episodes() -> None:
    second = WAITING.update([], 150).update(results(100, 0), 160)
    assert second.window == WAITING.windows[1]
    assert second.recent == ()
    assert second.update(results(100, 0), 259).window == WAITING.windows[1]
    assert second.update([], 260).window == WAITING.windows[1]
    assert second.update(results(100, 0), 260).done


def test_mastery_counts_the_last_100_episodes_that_did_not_start_at_the_true_start() -> None:
    assert WAITING.update(results(99, 0), 100).window == WAITING.windows[0]
    assert WAITING.update(results(0, 300) + results(50, 50), 100).window == WAITING.windows[1]
    from_the_start = results(100, 0, step=0) + [Episode(None, 0.0, 1, True)] * 100
    assert WAITING.update(from_the_start, 100).window == WAITING.windows[0]


def test_an_update_at_the_same_frames_changes_nothing() -> None:
    for stage in (WAITING.update(results(3, 9), 500), WAITING.update(results(100, 0), 500)):
        assert stage.update([], 500) == stage


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mastery": 1.5}, "mastery"),
        ({"held": 5}, "held: expected at most frames"),
        ({"recent": (1, 0)}, "recent"),
        ({"recent": (True,) * 101}, "recent"),
        ({"recent": 7}, "recent"),
    ],
)
def test_waiting_refuses(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(BackplayError, match=message):
        Backplay(ONE, **arguments)
