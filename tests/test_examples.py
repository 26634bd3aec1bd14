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


@pytest.mark.slow
def test_sb3_mountaincar():
    out = run("examples/sb3_mountaincar.py", "--frames", "2000")
    assert out.startswith("exact: 122 states restored")
    assert "reached the flag from the true start: " in out


def test_cleanrl_style():
    out = run("examples/cleanrl_style.py", "--frames", "4096")
    assert len(out.splitlines()) == 2
    assert out.splitlines()[-1].split()[0] == "4096"
