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
    command[3] = "4096"  # other frames are other runs
    assert "1 of 1: uniform, seed 0" in run(
        *command, "--trainer", "ours", "--regimes", "uniform", "--seeds", "1"
    )


def test_grid_worlds_go_on_where_they_stopped(tmp_path):
    path = tmp_path / "results.jsonl"
    command = ["examples/grid_worlds.py", "--frames", "4096", "--seeds", "1", "--out", str(path)]
    run(*command, "--worlds", "basin", "--regimes", "standard,cloning")
    out = run(*command, "--worlds", "basin,tree")
    assert "1 of 10: basin, uniform, seed 1" in out
    assert "tree, cloning + ppo, seed 1" in out
    results = {(r["world"], r["regime"]): r for r in map(json.loads, path.read_text().splitlines())}
    assert len(results) == len(path.read_text().splitlines()) == 12
    cloned = results["basin", "cloning"]
    assert (cloned["steps"], cloned["demonstration"], cloned["shortest"]) == (63, 63, 35)
    assert cloned["success"] > 0.9
    assert cloned["beside_greedy"] < 0.5  # a cell never seen leads back to the path by luck alone
    assert results["basin", "standard"]["to_success"] is None
    assert results["tree", "cloning"]["success"] < 0.5
    assert "cloning is worse off than Backplay: one seed" in out


@pytest.mark.slow
def test_the_check_of_the_advice_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "advise.jsonl"
    command = [
        "examples/advise_check.py",
        "--tasks",
        "maze-8",
        "--seconds",
        "2",
        "--out",
        str(path),
    ]
    first = run(*command, "--seeds", "1")
    assert "maze-8: said " in first
    assert "of 1 tasks that were learned" in first
    lines = path.read_text().splitlines()
    assert len(lines) == 4  # the advice and three regimes
    assert run(*command, "--seeds", "1") == first
    assert path.read_text().splitlines() == lines
