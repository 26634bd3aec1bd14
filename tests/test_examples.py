"""The examples run as they are, with a tiny budget."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_recipe_is_in_the_list_and_was_run():
    """Below; or its dependencies want an environment of their own, and what it printed is kept."""
    listed, here = (ROOT / "examples/README.md").read_text(), Path(__file__).read_text()
    for path in ROOT.glob("examples/*.py"):
        assert f"]({path.name})" in listed
        kept = ROOT / "results/recipes" / f"{path.stem}.txt"
        if f'run("examples/{path.name}"' not in here:
            assert f"python examples/{path.name}" in kept.read_text().splitlines()[0]
            assert "steps back" in kept.read_text()


@pytest.mark.slow
def test_sb3_mountaincar():
    out = run("examples/sb3_mountaincar.py", "--frames", "2000")
    assert out.startswith("exact: 122 states restored")
    assert "reached the flag from the true start: " in out


def test_cleanrl_style():
    out = run("examples/cleanrl_style.py", "--frames", "4096")
    assert len(out.splitlines()) == 2
    assert out.splitlines()[-1].split()[0] == "4096"


@pytest.mark.slow
def test_the_demonstration_in_a_replay_buffer():
    out = run("examples/sb3_replay_buffer.py", "--frames", "300", "--copies", "2")
    assert out.startswith("244 steps of the demonstration are in the buffer")
    assert "from the true start: success" in out


@pytest.mark.slow
def test_a_policy_with_memory_knows_nothing_after_a_restore():
    out = run("examples/sb3_recurrent.py", "--frames", "512")
    assert "from the true start, the lamp in sight: " in out
    assert "from the door, the lamp never seen: " in out


@pytest.mark.slow
def test_torchrl():
    out = run("examples/torchrl_ppo.py", "--frames", "1024", "--batch", "512").splitlines()
    assert [line.split()[0] for line in out[:-1]] == ["512", "1024"]
    assert "steps back" in out[-2]  # episodes came up, and the starts are moving
    assert out[-1].startswith("from the true start: success")


@pytest.mark.slow
def test_tracking_writes_both_logs_and_asks_nobody(tmp_path):
    out = run("examples/tracking.py", "--frames", "4096", "--dir", str(tmp_path))
    assert "from the true start: success" in out
    (kept,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    assert kept.stat().st_size > 1000
    assert list(tmp_path.glob("tensorboard/events.*"))


@pytest.mark.slow
def test_one_learner_of_a_pettingzoo_game():
    out = run("examples/pettingzoo_one_learner.py", "--frames", "1024")
    assert "restored by replay" in out
    assert "no difference" in out
    assert "random moves, from the true start: " in out
    assert "learned, from the true start: " in out
