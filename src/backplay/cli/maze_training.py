"""`backplay maze train`: begins a run or goes on with one, to its end or until Ctrl-C.

Comes in: a file of mazes and a `MazeRun`, or a run directory. Goes out: the directory with metrics,
checkpoints and, at the end, result.json. Every line of the metrics has the frames so far, where
episodes start, success there by steps back from the end, and what the learner says of its update;
at evaluations also what came of every maze from its true start.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch

from backplay import runs
from backplay.cli.maze_runs import OpenMazeRun, create_maze_run, measured_text, open_maze_run
from backplay.envs.maze import load_mazes
from backplay.envs.maze.fast_network import FastMazeNetwork
from backplay.envs.maze.sets import MazeLibrary
from backplay.errors import BackplayError
from backplay.learners.cloning import CloningProgress
from backplay.paper.maze.imitation import clone_mazes
from backplay.paper.maze.job import MazeWork
from backplay.paper.maze.regimes import PAPER, MazeRun, training
from backplay.runs.execute import drive
from backplay.train import Progress
from backplay.ui.display import Display, counting, open_display
from backplay.ui.interrupts import STOPPING, interrupts

MEASURED_SECONDS = 5.0  # from which a run's duration is guessed


def begin(file: Path, settings: MazeRun, threads: int, path: Path) -> int:
    """Trains on the mazes of `file` in a new directory; the exit code."""
    if threads < 1:
        raise BackplayError("--threads", expected="at least 1", got=threads)
    runs.require_free(path)
    library = load_mazes(file)
    torch.set_num_threads(threads)
    # First, so that bad input leaves no directory behind.
    made = _made(settings, library)
    if made is None:
        print("stopped while it imitated the demonstrations; nothing was written")
        return 130
    return _train(create_maze_run(path, file, settings, threads), made)


def resume(path: Path) -> int:
    """Goes on with the run in a directory; the exit code."""
    opened = open_maze_run(path)
    if opened.result is not None:
        _say_result(opened)
        return 0
    opened.run.load()  # a damaged checkpoint is refused before anything is cloned
    torch.set_num_threads(opened.threads)
    made = _made(opened.settings, opened.library)
    if made is None:
        print(f"stopped; to go on: {_go_on(path)}")
        return 130
    return _train(opened, made)


def _made(settings: MazeRun, library: MazeLibrary) -> MazeWork | None:
    """The run at its beginning; None if Ctrl-C came while demonstrations were cloned."""
    try:
        with _cloning() as on_clone:
            if settings.regime == "cloned":
                network = clone_mazes(library.training, settings.seed, on_clone)
                return MazeWork(library, network, None)
            made = training(settings, library, on_clone=on_clone)
    except KeyboardInterrupt:
        return None
    assert isinstance(made.learner.network, FastMazeNetwork)
    return MazeWork(library, made.learner.network, made)


@contextmanager
def _cloning() -> Iterator[Callable[[CloningProgress], None]]:
    """A function that shows how far the imitation of the demonstrations is."""
    with counting(None, "passes over the demonstrations") as count:
        yield lambda at: count(at.epoch, f"loss {at.loss:.3f}, agreement {at.agreement:.1%}")


def _train(opened: OpenMazeRun, work: MazeWork) -> int:
    """Trains to the end or until Ctrl-C; the exit code."""
    run = opened.run
    try:
        with run.locked(), interrupts(STOPPING) as interrupted, open_display() as display:
            done = drive(
                run, work, stop=lambda: bool(interrupted), show=Shown(display, work).show,
                say=display.say,
            )  # fmt: skip
        if not done:
            print(f"stopped and saved; to go on: {_go_on(opened.path)}")
            return 130
        _say_result(opened)
    except KeyboardInterrupt:
        kept = "from the last checkpoint" if run.checkpoint.exists() else "from the start"
        print(f"stopped at once; to go on {kept}: {_go_on(opened.path)}")
        return 130
    finally:
        work.close()
    return 0


class Shown:
    """Progress on a display, and once, after some seconds, how long the whole run will take."""

    def __init__(self, display: Display, work: MazeWork) -> None:
        self._display, self._work = display, work
        self._marks: list[tuple[int, float]] = []

    def show(self, progress: Progress) -> None:
        """After every update."""
        if progress.evaluation is not None:
            found = self._work.evaluated
            self._display.say(
                f"{progress.frames:>11,} frames: greedy {found['success']:.0%}, optimal"
                f" {found['optimal']:.0%}, within 5 {found['within_5']:.0%}"
            )
        self._display.show(progress)
        if self._is_due() and not progress.finished:
            self._marks.append((progress.frames, time.monotonic()))
            if len(self._marks) == 2:
                whole = timedelta(seconds=round(self._whole(progress.total_frames)))
                self._display.say(f"the whole run will take about {whole}")

    def _is_due(self) -> bool:
        """The first update is no measure, for kernels may be compiled in it."""
        if not self._marks:
            return True
        return len(self._marks) == 1 and time.monotonic() - self._marks[0][1] >= MEASURED_SECONDS

    def _whole(self, total_frames: int) -> float:
        (first, early), (second, late) = self._marks
        return total_frames * (late - early) / (second - first)


def _say_result(opened: OpenMazeRun) -> None:
    """What came of the run, the paper's row beside it."""
    result: dict[str, Any] = opened.result or {}
    library, seconds = opened.library, timedelta(seconds=round(opened.run.seconds))
    print(f"after {result['frames']:,} frames and {seconds}, from the true start:")
    print(measured_text(result["training"], PAPER.get((opened.settings.regime, library.extra))))
    if result["held_out"] is not None:
        text = measured_text(result["held_out"], None)
        print(f"on {len(library.held_out)} mazes held out:\n{text}")
    print(f"result: {opened.path / 'result.json'}")


def _go_on(path: Path) -> str:
    return f"backplay maze train --resume {shlex.quote(str(path))}"
