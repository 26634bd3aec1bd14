"""docs/own-environment.md: its blocks run as printed, but for their budgets; its claim holds."""

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import backplay as bp
from backplay.cli import main
from backplay.learners import PPOConfig
from backplay.train import TrainConfig

PAGE = Path(__file__).parent.parent / "docs" / "own-environment.md"
BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.S)
SMALL = [
    "--frames", "64", "--num-envs", "2", "--ppo.num-steps", "32", "--final-episodes", "2",
    "--evaluation-episodes", "2",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a reader works: the page's file beside what is run, and nothing known from before."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "key_door", raising=False)
    registry = {**gym.registry}
    monkeypatch.setattr(gym.envs.registration, "registry", registry)
    monkeypatch.setattr(gym, "registry", registry)
    return tmp_path


def blocks() -> list[tuple[str | None, str, str]]:
    return [(m["file"], m["kind"], m["text"]) for m in BLOCK.finditer(PAGE.read_text())]


def typed(line: str) -> None:
    """A command of the page; what trains gets a small budget."""
    words = shlex.split(line)
    assert words.pop(0) == "backplay"
    if words[0] == "train":
        words = [word for word in words if word != "--frames" and not word.isdigit()]
        words += ["--frames", "128"] if "--resume" in words else SMALL
    if words[0] == "evaluate":
        words += ["--episodes", "2"]
    assert main(words) == 0, line


def test_every_block_of_the_page_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = TrainConfig(num_envs=2, final_episodes=2, ppo=PPOConfig(num_steps=32))
    train, evaluate = bp.train, bp.evaluate
    monkeypatch.setattr(bp, "train", lambda *a, **k: train(*a, **{**k, "config": small}))
    monkeypatch.setattr(bp, "evaluate", lambda *a, **k: evaluate(*a, **k, episodes=2))
    space: dict[str, Any] = {}
    run = 0
    for file, kind, text in blocks():
        if file is not None:
            Path(file).write_text(text)
        elif kind == "bash":
            for line in text.splitlines():
                typed(line)
        else:
            assert kind == "python"
            exec(text.replace("500_000", "64"), space)
        run += 1
    assert run >= 9
    assert len(space["demo"]) == 43
    assert f"{len(space['demo'])} right actions away" in PAGE.read_text()
    assert Path("doors.gif").exists()
    assert Path("page").exists()


@pytest.mark.slow
def test_the_grid_is_learned_without_a_flag(folder: Path) -> None:
    """As the page has it; five seeds are in results/no-flag.jsonl."""
    code = next(text for file, _, text in blocks() if file)
    Path("key_door.py").write_text(code)
    space: dict[str, Any] = {}
    exec(code, space)
    demo = bp.record(space["KeyDoor"](), space["player"], seed=0)
    agent = bp.train(space["KeyDoor"], demo, frames=500_000)
    assert bp.evaluate(space["KeyDoor"], agent).success >= 0.9


@pytest.mark.slow
def test_the_example_of_the_help_is_learned_without_a_flag() -> None:
    """`backplay train MountainCar-v0 car.npz`, with a smaller budget."""

    def make() -> gym.Env[Any, Any]:
        return gym.make("MountainCar-v0")

    demo = bp.record(make(), lambda seen: 2 if seen[1] >= 0 else 0, seed=7)
    agent = bp.train(make, demo, frames=100_000)
    assert bp.evaluate(make, agent).success >= 0.9
