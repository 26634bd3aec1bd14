"""The examples run as they are, with a tiny budget."""

import json
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
def test_compare_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "results.jsonl"
    command = ["examples/compare.py", "mountaincar", "--frames", "2048", "--out", str(path)]
    run(*command, "--trainer", "ours", "--regimes", "uniform", "--seeds", "1")
    out = run(*command, "--trainer", "ours", "--regimes", "uniform,backplay", "--seeds", "1")
    assert "1 of 1: backplay, seed 0" in out
    results = [json.loads(line) for line in path.read_text().splitlines()]
    assert [r["regime"] for r in results] == ["uniform", "backplay"]
    assert run("examples/compare.py", "--show", str(path)).count("| mountaincar |") == 2
