"""What the tests of the command line share: running it, and a few demonstrations."""

from pathlib import Path

import gymnasium as gym
import pytest
from cli_results import Result, Run

import backplay as bp
from backplay.cli import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `backplay` with these words, in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: object) -> Result:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of demonstrations: `lake` (does not slip), `car`, `pole`."""
    folder = tmp_path_factory.mktemp("demos")
    recorded = {
        "lake": (gym.make("FrozenLake-v1", is_slippery=False), [2, 2, 1, 1, 1, 2]),
        "car": (gym.make("MountainCar-v0"), lambda seen: 2 if seen[1] >= 0 else 0),
        "pole": (gym.make("CartPole-v1"), [0, 1, 0, 1]),
    }
    files = {}
    for name, (env, player) in recorded.items():
        files[name] = folder / f"{name}.npz"
        bp.record(env, player, seed=7).save(files[name])
    return files
