"""Backplay that waits for mastery: a window stays until it is mastered."""

from dataclasses import replace

import numpy as np
import pytest

from backplay.curricula import Backplay, Window
from backplay.errors import BackplayError
from backplay.records import Episode, Start

ONE = (Window(0, 0, 4),)
WAITING = Backplay((Window(0, 0, 4), Window(100, 4, 8), Window(200, 8, 8)), mastery=0.5)


def results(successes: int, failures: int, step: int = 3, reward: float = 0.0) -> list[Episode]:
    ends = [True] * successes + [False] * failures
    return [Episode(Start(0, step), reward, 1, success) for success in ends]


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


def test_the_initial_state_is_in_the_last_window_before_it() -> None:
    second = WAITING.update(results(100, 0), 100)
    mixed = results(60, 0) + results(0, 40, step=0)
    assert not second.update(results(0, 60) + results(40, 0, step=0), 200).done
    assert second.update(mixed, 200).done
    assert not replace(second, mastery=0.7).update(mixed, 200).done


def test_a_window_opens_at_the_latest_at_a_multiple_of_its_frames() -> None:
    tired = replace(WAITING, latest=1.5)
    waits = tired.update(results(49, 51), 149)
    assert waits.window == WAITING.windows[0]
    second = waits.update([], 150)
    assert second.window == WAITING.windows[1]
    assert second.recent == ()
    assert second.update(results(100, 0), 249).window == WAITING.windows[1]
    assert second.update(results(100, 0), 250).done  # after its own 100 frames
    assert second.update(results(0, 100), 299).window == WAITING.windows[1]
    assert second.update(results(0, 100), 300).done
    assert tired.update([], 300).done  # both are overdue


def test_a_bridge_reaches_into_the_window_before_while_mastery_is_waited_for() -> None:
    bridged = replace(WAITING, bridge=0.5)
    assert bridged.weights(0, 10).tolist() == WAITING.weights(0, 10).tolist()
    second = bridged.update(results(100, 0), 100)
    assert second.window == Window(100, 2, 8)
    assert np.flatnonzero(second.weights(0, 10)).tolist() == [3, 4, 5, 6, 7, 8]
    steps = second.sample([10], 500, np.random.default_rng(0))[1]
    assert (steps.min(), steps.max()) == (3, 8)
    assert second.describe() == "[2, 8) steps back"
    assert second.update(results(100, 0), 200).window == WAITING.windows[2]  # no bridge: exactly 8
    fractions = Backplay((Window(0, 0, 0.5), Window(9, 0.5, 1)), of_length=True, frames=9)
    assert replace(fractions, mastery=0.5, bridge=0.5).window == Window(9, 0.25, 1)
    assert replace(fractions, mastery=0.0, bridge=0.5).window == Window(9, 0.5, 1)


def test_it_says_that_it_waits() -> None:
    early = WAITING.update(results(20, 80), 99)
    assert (early.waits, early.describe()) == (False, "[0, 4) steps back")
    late = early.update(results(10, 0), 100)
    assert late.waits
    assert late.describe() == "[0, 4) steps back, waits for 50% success (now 20%)"
    assert not late.update(results(100, 0), 120).waits
    assert not replace(late, mastery=0.0).waits


def test_an_update_at_the_same_frames_changes_nothing() -> None:
    for stage in (WAITING.update(results(3, 9), 500), WAITING.update(results(100, 0), 500)):
        assert stage.update([], 500) == stage


def test_if_silent_waits_only_until_a_failure_brings_a_reward() -> None:
    silent = replace(WAITING, if_silent=True)
    waits = silent.update(results(30, 70) + results(9, 0, reward=1.0), 150)
    assert waits.window == WAITING.windows[0]
    assert waits.if_silent
    goes_on = waits.update(results(0, 1, reward=-1.0), 160)
    assert (goes_on.mastery, goes_on.if_silent) == (0.0, False)
    assert goes_on.held == waits.held == 51
    assert goes_on.window == WAITING.windows[1]
    assert goes_on.update([], 250).window == WAITING.windows[1]
    assert goes_on.update([], 251).done


def test_a_failure_from_the_true_start_can_bring_the_reward_too() -> None:
    silent = replace(WAITING, if_silent=True)
    assert silent.update([Episode(None, -200.0, 200, False)], 99).mastery == 0.0
    assert silent.update([Episode(None, -200.0, 200, False)], 100).window == WAITING.windows[1]
    assert WAITING.update([Episode(None, -200.0, 200, False)], 100).window == WAITING.windows[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mastery": 1.5}, "mastery"),
        ({"bridge": -0.5}, "bridge"),
        ({"latest": 0.5}, "latest: expected a number from 1"),
        ({"if_silent": 1}, "if_silent: expected True or False"),
        ({"held": 5}, "held: expected at most frames"),
        ({"recent": (1, 0)}, "recent"),
        ({"recent": (True,) * 101}, "recent"),
        ({"recent": 7}, "recent"),
    ],
)
def test_waiting_refuses(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(BackplayError, match=message):
        Backplay(ONE, **arguments)
