"""Processes that share one run: `torchrun ... -m backplay.cli work` ends as one process does."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from backplay import runs
from backplay.errors import BackplayError
from backplay.paper.maze.job import MazeJob
from backplay.paper.sparse_tasks.job import GymJob
from backplay.runs.execute import carry_out, prepare
from backplay.train.job import Job

JOBS: dict[str, Job] = {
    "gym": GymJob(
        task="cartpole", regime="backplay", frames=8_192, evaluations=2, final_episodes=3
    ),
    "maze": MazeJob(
        regime="backplay", frames=15_360, mazes=3, held_out=1, size=10, evaluations=1, effort=0.1
    ),
}


def together(path: Path) -> subprocess.CompletedProcess[str]:
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    return subprocess.run(
        [*launch, "-m", "backplay.cli", "work", str(path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", JOBS)
def test_two_processes_make_the_run_that_one_makes(kind: str, tmp_path: Path) -> None:
    alone, shared = (prepare(tmp_path / name, JOBS[kind]) for name in ("alone", "shared"))
    assert carry_out(alone.path)
    updates = len(alone.metrics())
    stops = iter([False, True])
    assert not carry_out(shared.path, stop=lambda: next(stops))  # begun by one, ended by two
    done = together(shared.path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(shared.metrics()) == updates > 2
    for key in ("frames", "starts", "train_success", "by_steps_back"):
        assert [line[key] for line in shared.metrics()] == [line[key] for line in alone.metrics()]
    results = [run.result or {} for run in (alone, shared)]
    assert results[0]["measures"] == results[1]["measures"]
    weights = []
    for run in (alone, shared):
        loaded = run.load()
        weights.append(loaded.state["learner"]["network"])
    for name, wanted in weights[0].items():
        np.testing.assert_allclose(weights[1][name], wanted, rtol=1e-3, atol=1e-5)


def test_a_stopped_run_is_saved_and_a_finished_one_is_left_alone(tmp_path: Path) -> None:
    run = prepare(tmp_path / "run", JOBS["gym"])
    assert not carry_out(run.path, stop=lambda: True)
    assert run.result is None
    assert carry_out(run.path)
    before = {file: file.read_bytes() for file in run.path.rglob("*") if file.is_file()}
    assert carry_out(run.path)
    assert {file: file.read_bytes() for file in run.path.rglob("*") if file.is_file()} == before


def test_a_directory_of_another_job_is_refused(tmp_path: Path) -> None:
    prepare(tmp_path / "run", JOBS["gym"])
    prepare(tmp_path / "run", JOBS["gym"])
    with pytest.raises(BackplayError, match="another run"):
        prepare(tmp_path / "run", JOBS["maze"])
    other = runs.create(tmp_path / "other", {"env": "X"})
    with pytest.raises(BackplayError, match="no job"):
        carry_out(other.path)
