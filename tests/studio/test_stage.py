"""Windows on one recording: who plays, who watches, and that time passes."""

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

import backplay as bp
from backplay.studio.folder import Folder
from backplay.studio.journal import Setup
from backplay.studio.recording import Recording
from backplay.studio.stage import Stage, Update


class Window:
    """A window that remembers what it is told."""

    def __init__(self, stage: Stage) -> None:
        self._told: queue.Queue[Update] = queue.Queue()
        self._stage = stage
        self.number = stage.join(self._told.put)

    def send(self, **message: object) -> None:
        self._stage.send(self.number, message)

    def until(self, name: str, value: object) -> Update:
        """The first update that says so."""
        while True:
            update = self._told.get(timeout=20)
            if update.facts.get(name) == value:
                return update


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    task = Setup(env="MountainCar-v0")
    made = Stage(lambda: Recording(task, Folder(tmp_path)))
    yield made
    made.close()


def test_the_first_window_plays_and_the_second_watches_until_it_takes_over(stage: Stage) -> None:
    first, second = Window(stage), Window(stage)
    told = first.until("role", "plays")
    assert told.facts["task"]["env"] == "MountainCar-v0"
    assert told.picture is not None
    second.until("role", "watches")
    second.send(do="act", action=2)
    second.until("message", "Another window plays. Press “Take over” to play here.")
    first.send(do="act", action=2)
    assert second.until("at", 1).facts["role"] == "watches"
    second.send(do="take over")
    second.until("role", "plays")
    first.until("role", "watches")
    second.send(do="act", action=0)
    assert first.until("at", 2).facts["windows"] == 2


def test_when_the_playing_window_is_closed_the_others_are_told(stage: Stage) -> None:
    first, second = Window(stage), Window(stage)
    first.send(do="play", pace=60)
    second.until("at", 3)
    stage.leave(first.number)
    told = second.until("pace", None)
    assert told.facts["role"] == "watches"
    assert told.facts["free"]
    third = Window(stage)
    third.until("role", "plays")


def test_time_passes_by_itself_and_stops_at_the_end(tmp_path: Path) -> None:
    stage = Stage(lambda: Recording(Setup(env="CartPole-v1"), Folder(tmp_path)))
    window = Window(stage)
    window.send(do="hold", action=0)
    window.send(do="play", pace=120)
    facts = window.until("ended", "terminated").facts
    assert facts["at"] == len(stage.recording.take) > 5
    assert facts["pace"] is None
    stage.close()


def test_small_pictures_are_sent_once(stage: Stage) -> None:
    window = Window(stage)
    window.until("role", "plays")
    window.until("role", "plays")
    window.send(do="act", action=0)
    assert list(window.until("at", 1).thumbs) == [1]
    window.send(do="act", action=0)
    assert list(window.until("at", 2).thumbs) == [2]


def test_what_cannot_be_recorded_is_said(tmp_path: Path) -> None:
    with pytest.raises(bp.BackplayError, match="cannot be made"):
        Stage(lambda: Recording(Setup(env="CartPole-v1", env_kwargs={"x": 1}), Folder(tmp_path)))
