"""A run that is killed at any moment and goes on ends as if nobody had touched it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = int(os.environ.get("BACKPLAY_KILLS", "20"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "kills"), [("maze", KILLS), ("gym", KILLS), ("walks", 4), ("train", 5)]
)
def test_a_killed_run_ends_with_the_same_bytes(kind: str, kills: int) -> None:
    command = [sys.executable, str(Path(__file__).parent / "survival.py"), kind, str(kills)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert sum(answer["kills"].values()) == kills
    assert answer["runs"] >= 1
