"""What the page may ask for when it starts a training; nothing is started otherwise."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import backplay as bp
from backplay.studio.folder import Folder
from backplay.studio.trainings import Trainings


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"frames": 0}, "frames"), ({"frames": "9"}, "frames"), ({"seed": -1}, "seed"),
        ({"curriculum": "best"}, "curriculum"), ({"success": "when I say so"}, "info:KEY"),
        ({"success": 1}, "success"), ({"demo": "../lake.npz"}, "path"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(tmp_path: Path, asked: dict[str, Any], words: str) -> None:
    bp.record(gym.make("FrozenLake-v1", is_slippery=False), [2, 2]).save(tmp_path / "lake.npz")
    trainings = Trainings(Folder(tmp_path))
    with pytest.raises(bp.BackplayError, match=words):
        trainings.start({"demo": "lake.npz", "frames": 9, **asked})
    assert [path.name for path in tmp_path.iterdir()] == ["lake.npz"]


def test_the_command_is_the_one_a_person_would_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bp.record(gym.make("FrozenLake-v1", is_slippery=False), [2, 2]).save(tmp_path / "lake.npz")
    trainings, begun = Trainings(Folder(tmp_path)), []
    monkeypatch.setattr(trainings, "_begin", lambda *words: begun.append(words))
    name = trainings.start({"demo": "lake.npz", "frames": 400, "seed": 3, "success": "return>=1"})
    (words,) = begun
    assert words[:4] == (name, "train", "FrozenLake-v1", str(tmp_path.resolve() / "lake.npz"))
    options = dict(zip(words[4::2], words[5::2], strict=True))
    assert options == {
        "--frames": "400", "--evaluate-every": "20", "--seed": "3", "--curriculum": "backplay",
        "--dir": name, "--success": "return>=1",
    }  # fmt: skip
