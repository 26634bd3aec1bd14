"""`backplay maze train`: begins a run or resumes one, to its end or until Ctrl-C.

Comes in: a file of mazes and a `MazeRun`, or a run directory. Goes out: the directory with metrics,
checkpoints and, at the end, its result, in words too.
"""

from __future__ import annotations

import shlex
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch

from backplay import runs
from backplay.cli.maze_runs import OpenMazeRun, measured_text, open_maze_run
from backplay.cli.watch import STOPPED, watch
from backplay.envs.maze import load_mazes
from backplay.errors import BackplayError
from backplay.paper.maze.job import MazeJob
from backplay.paper.maze.run import PAPER, MazeRun
from backplay.runs.execute import prepare
from backplay.train.job import Work
from backplay.ui.display import open_display


def begin(file: Path, settings: MazeRun, threads: int, path: Path) -> int:
    """Trains on the mazes of `file` in a new directory; the exit code."""
    if threads < 1:
        raise BackplayError("--threads", expected="at least 1", got=threads)
    runs.require_free(path)
    job = MazeJob.of(load_mazes(file), settings)
    torch.set_num_threads(threads)
    try:
        with open_display() as display:  # first, so that bad input leaves no directory behind
            work = job.begin(display.say, files=[file])
    except KeyboardInterrupt:
        print("stopped while it imitated the demonstrations; nothing was written")
        return STOPPED
    prepare(path, job, [file], threads=threads)
    return _train(open_maze_run(path), work)


def resume(path: Path) -> int:
    """Resumes the run in a directory; the exit code."""
    opened = open_maze_run(path)
    opened.run.load()  # a damaged checkpoint is refused before anything is cloned
    return _train(opened, None)


def _train(opened: OpenMazeRun, work: Work | None) -> int:
    again = f"backplay maze train --resume {shlex.quote(str(opened.path))}"
    code = watch(opened.run, again, work=work)
    if code == 0:
        _say_result(opened)
    return code


def _say_result(opened: OpenMazeRun) -> None:
    """What came of the run, the paper's row beside it."""
    result: dict[str, Any] = opened.result or {}
    library, seconds = opened.library, timedelta(seconds=round(opened.run.seconds))
    print(f"after {result['frames']:,} frames and {seconds}, from the true start:")
    print(measured_text(result["training"], PAPER.get((opened.job.regime, library.extra))))
    if result["held_out"] is not None:
        text = measured_text(result["held_out"], None)
        print(f"on {len(library.held_out)} mazes held out:\n{text}")
    print(f"result: {opened.path / 'result.json'}")
