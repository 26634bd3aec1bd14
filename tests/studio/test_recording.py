"""A recording without a browser: messages in, scenes and files out."""

import json
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import backplay as bp
from backplay.demos import take
from backplay.studio import journal, recording
from backplay.studio.folder import Folder
from backplay.studio.journal import Setup
from backplay.studio.recording import Recording
from backplay.train.environments import make_env

LAKE = Setup(env="FrozenLake-v1", env_kwargs={"is_slippery": False})
WAY = [2, 2, 1, 1, 1, 2]


def begin(folder: Path, task: Setup = LAKE, **taken: Any) -> Recording:
    return Recording(task, Folder(folder), **taken)


def act(made: Recording, *actions: Any) -> None:
    for action in actions:
        made.do({"do": "act", "action": action})


def test_what_was_played_is_saved_checked_and_exact(tmp_path: Path) -> None:
    made = begin(tmp_path)
    act(made, *WAY)
    assert made.scene()["ended"] == "terminated"
    made.do({"do": "save", "name": "lake.npz", "success": True})
    assert made.saved["exact"]
    assert made.saved["length"] == 6
    demo = bp.load(tmp_path / "lake.npz")
    assert (demo.actions, demo.success) == (WAY, True)
    assert bp.check(make_env("FrozenLake-v1", {"is_slippery": False}), demo).exact
    made.do({"do": "save", "name": "lake.npz", "success": None})
    assert "exists already" in made.message
    made.do({"do": "save", "name": "lake.npz", "success": None, "replace": True})
    assert made.message == ""
    made.close()
    assert journal.left_behind(Folder(tmp_path)) == []


def test_an_ended_take_is_kept_when_another_way_is_taken(tmp_path: Path) -> None:
    made = begin(tmp_path)
    act(made, 2, 1)  # into a hole
    made.do({"do": "back", "steps": 1})
    assert len(made.takes) == 0
    act(made, 2, 1, 1, 1, 2)
    assert [kept.actions for kept in made.takes.kept] == [(2, 1)]
    made.do({"do": "restart"})
    takes = made.timeline()["takes"]
    assert [take["length"] for take in takes] == [2, 6]
    assert [take["best"] for take in takes] == [False, True]
    made.do({"do": "open", "take": 1})
    assert made.take.actions == WAY
    made.do({"do": "drop", "take": 0})
    assert [take["length"] for take in made.timeline()["takes"]] == [6]
    made.close()


def test_a_loop_is_offered_and_cut(tmp_path: Path) -> None:
    made = begin(tmp_path)
    act(made, 2, 0, *WAY)
    assert made.timeline()["loops"] == [(0, 2)]
    made.do({"do": "cut", "first": 0, "last": 2})
    assert "goes as it did" in made.message
    assert made.take.actions == WAY
    assert sorted(made.thumbs.pictures) == list(range(7))
    made.close()


def test_real_time_does_what_is_held_and_idles_otherwise(tmp_path: Path) -> None:
    made = begin(tmp_path, Setup(env="MountainCar-v0"))
    made.do({"do": "play", "pace": 30})
    made.tick()
    made.do({"do": "hold", "action": 2})
    made.tick()
    made.tick()
    made.do({"do": "hold", "action": None})
    made.tick()
    assert made.take.actions == [1, 2, 2, 1]
    still = begin(tmp_path)
    still.do({"do": "play", "pace": 4})
    still.tick()
    assert len(still.take) == 0  # no action of the lake is idle: it waits for a key
    made.close()
    still.close()


def test_continuous_actions_are_clipped_and_exact(tmp_path: Path) -> None:
    made = begin(tmp_path, Setup(env="MountainCarContinuous-v0", seed=4))
    for value in (0.3, -7.0, 1):
        act(made, [value])
    assert np.array_equal(np.concatenate(made.take.actions), np.array([0.3, -1, 1], np.float32))
    made.do({"do": "save", "name": "car.npz", "success": None})
    assert made.saved["exact"]
    made.close()


@pytest.mark.parametrize(
    "message",
    [
        {}, "act", None, {"do": "fly"}, {"do": "act"}, {"do": "act", "action": 4},
        {"do": "act", "action": True}, {"do": "act", "action": "left"}, {"do": "go", "step": 99},
        {"do": "go", "step": -1}, {"do": "go", "step": 1.5}, {"do": "play", "pace": 1e9},
        {"do": "play"}, {"do": "hold", "action": [1]}, {"do": "cut", "first": 1, "last": 1},
        {"do": "open", "take": 0}, {"do": "save", "name": "../x.npz"}, {"do": "save", "name": "x"},
        {"do": "save", "name": "x.npz"}, {"do": "save", "name": "x.npz", "success": "yes"},
    ],
)  # fmt: skip
def test_a_message_that_makes_no_sense_is_answered_in_words(tmp_path: Path, message: Any) -> None:
    made = begin(tmp_path)
    made.do(message)
    assert made.message
    assert len(made.take) == 0
    assert [path.name for path in tmp_path.iterdir()] == [".backplay"]
    made.close()


def test_what_was_left_is_offered_again_with_its_takes(tmp_path: Path) -> None:
    made = begin(tmp_path)
    act(made, 2, 1)
    made.do({"do": "restart"})
    act(made, 2, 2, 0)
    made.do({"do": "back", "steps": 1})
    act(made, 1)
    assert journal.left_behind(Folder(tmp_path)) == []  # somebody holds it
    made.close()
    (left,) = journal.left_behind(Folder(tmp_path))
    assert (left.task, left.actions, left.takes) == (LAKE, [2, 2, 1], [[2, 1]])
    again = begin(tmp_path, left.task, actions=left.actions, takes=left.takes)
    assert again.take.actions == [2, 2, 1]
    assert [kept.actions for kept in again.takes.kept] == [(2, 1)]
    assert again.picture() == made.picture() or again.take.observation == made.take.observation
    again.close()
    journal.remove(Folder(tmp_path), left.name)


def test_a_journal_cut_off_in_mid_line_loses_that_line_alone(tmp_path: Path) -> None:
    made = begin(tmp_path, Setup(env="MountainCarContinuous-v0"))
    act(made, [0.1], [0.2])
    made.close()
    (file,) = (tmp_path / ".backplay" / "takes").iterdir()
    file.write_text(file.read_text()[:-4])
    (left,) = journal.left_behind(Folder(tmp_path))
    assert len(left.actions) == 1
    again = begin(tmp_path, left.task, actions=left.actions)
    assert np.array_equal(again.take.actions[0], np.array([0.1], np.float32))
    again.close()


def test_files_that_are_no_journals_are_left_alone(tmp_path: Path) -> None:
    place = tmp_path / ".backplay" / "takes"
    place.mkdir(parents=True)
    head = json.dumps({"task": {"env": "X", "evil": 1}, "began": 0})
    for i, text in enumerate(["", "null", "{}", "[1]", head, "\udcff".encode("latin1", "ignore")]):
        (place / f"{i}.jsonl").write_text(str(text))
    assert journal.left_behind(Folder(tmp_path)) == []


def test_small_pictures_stay_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_THUMBS", 8)
    made = begin(tmp_path, Setup(env="MountainCar-v0"))
    act(made, *[0] * 40)
    assert len(made.thumbs.pictures) <= 8
    assert all(step % made.thumbs.stride == 0 for step in made.thumbs.pictures)
    made.close()


def test_a_long_recording_keeps_no_more_than_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(take, "MOST_STATES", 64)
    monkeypatch.setattr(recording, "MOST_THUMBS", 8)
    steps = 3_000
    made = begin(tmp_path, Setup(env="MountainCar-v0", env_kwargs={"max_episode_steps": steps + 1}))
    for step in range(steps):
        made.do({"do": "act", "action": step % 3})
    assert len(made.take) == steps
    assert len(made.take._states) <= 64
    assert len(made.thumbs.pictures) <= 8
    told = made.timeline()
    assert len(told["marks"]) <= recording.MOST_MARKS
    assert len(told["loops"]) <= recording.MOST_LOOPS
    made.do({"do": "back", "steps": 500})
    assert (made.take.at, made.message) == (steps - 500, "")
    made.close()


class Fragile(gym.Env[int, int]):
    """It fails at its third step, once it is broken."""

    broken: ClassVar[bool] = False

    observation_space = spaces.Discrete(9)
    action_space = spaces.Discrete(2)
    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        self.at = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.at += 1
        if self.broken and self.at == 3 and action == 1:
            raise ZeroDivisionError("a bug of the environment")
        return self.at, 0.0, self.at > 20, False, {}


def test_an_environment_that_fails_is_said_and_the_recording_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gym.register("Fragile-v0", Fragile)
    try:
        made = begin(tmp_path, Setup(env="Fragile-v0"))
        monkeypatch.setattr(Fragile, "broken", True)
        act(made, 0, 0, 1)
        assert made.message == (
            "The environment failed: ZeroDivisionError: a bug of the environment"
        )
        made.do({"do": "go", "step": 2})
        act(made, 0)
        assert (made.take.actions, made.message) == ([0, 0, 0], "")
        made.close()
    finally:
        del gym.registry["Fragile-v0"]
