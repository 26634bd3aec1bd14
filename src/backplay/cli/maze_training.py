"""`backplay maze train`: begins a run or goes on with one, to its end or until Ctrl-C.

Comes in: a file of mazes and a `MazeRun`, or a run directory. Goes out: the directory with metrics,
checkpoint and, at the end, result.json. Every line of the metrics has the frames and the seconds so
far, where episodes start, success there by steps back from the end, and what the learner says of
its update; at evaluations also what came of every maze from its true start, greedy and sampled.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch

from backplay import __version__, runs
from backplay.archive import write_atomically
from backplay.cli.counting import counting
from backplay.cli.display import Display, open_display
from backplay.cli.interrupts import STOPPING, interrupts
from backplay.cli.maze_runs import (
    RESULT,
    OpenMazeRun,
    create_maze_run,
    load_state,
    measured_text,
    network_of,
    open_maze_run,
    save_state,
)
from backplay.envs.maze import load_mazes
from backplay.envs.maze.fast_network import FastMazeNetwork
from backplay.envs.maze.sets import MazeLibrary
from backplay.errors import BackplayError
from backplay.experiments.maze import (
    PAPER,
    MazeRun,
    by_steps_back,
    clone_mazes,
    measure,
    measured,
    training,
)
from backplay.learners.cloning import CloningProgress
from backplay.train import Progress, Training

SAVE_SECONDS = 30.0  # at most this much work is lost to a crash
MEASURED_SECONDS = 5.0  # from which a run's duration is guessed


def begin(file: Path, settings: MazeRun, threads: int, path: Path) -> int:
    """Trains on the mazes of `file` in a new directory; the exit code."""
    if threads < 1:
        raise BackplayError("--threads", expected="at least 1", got=threads)
    runs.require_free(path)
    library = load_mazes(file)
    torch.set_num_threads(threads)
    if settings.regime == "cloned":
        return _clone(create_maze_run(path, file, settings, threads))
    # First, so that bad input leaves no directory behind.
    began = time.monotonic()
    made = _made(settings, library)
    if made is None:
        print("stopped while it imitated the demonstrations; nothing was written")
        return 130
    spent = time.monotonic() - began
    return _train(create_maze_run(path, file, settings, threads), made, spent)


def resume(path: Path) -> int:
    """Goes on with the run in a directory; the exit code."""
    opened = open_maze_run(path)
    torch.set_num_threads(opened.threads)
    if opened.settings.regime == "cloned":
        return _clone(opened)
    state = load_state(opened.run)  # a damaged checkpoint is refused before anything is cloned
    made = _made(opened.settings, opened.library)
    if made is None:
        print(f"stopped; to go on: {_go_on(path)}")
        return 130
    if state is not None:
        made.load_state(state)
    opened.run.forget_metrics_after(made.frames)
    return _train(opened, made, _seconds_so_far(opened))


def _made(settings: MazeRun, library: MazeLibrary) -> Training | None:
    """The run at its beginning; None if Ctrl-C came while demonstrations were cloned."""
    try:
        with _cloning() as on_clone:
            return training(settings, library, on_clone=on_clone)
    except KeyboardInterrupt:
        return None


@contextmanager
def _cloning() -> Iterator[Callable[[CloningProgress], None]]:
    """A function that shows how far the imitation of the demonstrations is."""
    with counting(None, "passes over the demonstrations") as count:
        yield lambda at: count(at.epoch, f"loss {at.loss:.3f}, agreement {at.agreement:.1%}")


def _clone(opened: OpenMazeRun) -> int:
    """Imitates the demonstrations and measures what comes of it."""
    began = time.monotonic()
    if not opened.run.checkpoint.exists():
        try:
            with _cloning() as on_clone:
                network = clone_mazes(opened.library.training, opened.settings.seed, on_clone)
        except KeyboardInterrupt:
            print(f"stopped; to begin again: {_go_on(opened.path)}")
            return 130
        weights = {name: part.numpy().copy() for name, part in network.state_dict().items()}
        opened.run.save({"learner": {"network": weights}, "frames": 0})
        opened.run.append_metrics({"frames": 0, "seconds": round(time.monotonic() - began, 1)})
    _finish(opened, 0)
    return 0


def _train(opened: OpenMazeRun, made: Training, spent: float) -> int:
    """Trains after `spent` seconds of work that are done; the exit code."""
    clock = Clock(spent)
    try:
        with interrupts(STOPPING) as interrupted, open_display() as display:
            display.say(f"{opened.path}: at {made.frames:,} of {made.config.frames:,} frames")
            _drive(opened, made, clock, display, interrupted)
        if interrupted and made.frames < made.config.frames:
            print(f"stopped and saved at {made.frames:,} frames; to go on: {_go_on(opened.path)}")
            return 130
        _finish(opened, made.frames)
    except KeyboardInterrupt:
        kept = "from the last checkpoint" if opened.run.checkpoint.exists() else "from the start"
        print(f"stopped at once; to go on {kept}: {_go_on(opened.path)}")
        return 130
    finally:
        made.close()
    return 0


def _drive(
    opened: OpenMazeRun, made: Training, clock: Clock, display: Display, interrupted: list[int]
) -> None:
    """Trains, shows, logs and saves until the end or an interrupt."""
    mazes = opened.library.training
    network = made.learner.network
    assert isinstance(network, FastMazeNetwork)
    saved = time.monotonic()
    for progress in made.run():
        line = _as_line(progress)
        line["by_steps_back"] = by_steps_back(progress.episodes, mazes.lengths)
        if progress.evaluation is not None:
            line |= measure(network, mazes)
            display.say(_in_short(progress.frames, line["greedy"]))
        line["seconds"] = round(clock.seconds, 1)
        display.show(progress)
        opened.run.append_metrics(line)
        if clock.tick(progress.frames) and not progress.finished:
            whole = timedelta(seconds=round(clock.whole(made.config.frames)))
            display.say(f"the whole run will take about {whole}")
        due = time.monotonic() - saved > SAVE_SECONDS
        if due or interrupted or progress.evaluation is not None:
            save_state(opened.run, made.state())
            saved = time.monotonic()
        if interrupted:
            break


class Clock:
    """Seconds of a run, from its beginning however often it stopped, and how many in all."""

    def __init__(self, before: float = 0.0) -> None:
        """Goes on from `before`, the seconds until it stopped last."""
        self._zero = time.monotonic() - before
        self._marks: list[tuple[int, float]] = []

    @property
    def seconds(self) -> float:
        """So far."""
        return time.monotonic() - self._zero

    def tick(self, frames: int) -> bool:
        """Notes the end of an update; True when that makes `whole` know an answer.

        The first update is no measure, for kernels may be compiled in it; the next few seconds are.
        """
        due = not self._marks or self.seconds - self._marks[0][1] >= MEASURED_SECONDS
        if len(self._marks) == 2 or not due:
            return False
        self._marks.append((frames, self.seconds))
        return len(self._marks) == 2

    def whole(self, total_frames: int) -> float:
        """Seconds of a run of so many frames, if it goes on as in what was measured."""
        (first, early), (second, late) = self._marks
        return late + (total_frames - second) * (late - early) / (second - first)


def _finish(opened: OpenMazeRun, frames: int) -> None:
    """Measures the last checkpoint on all mazes, writes result.json and says what came of it."""
    library, network = opened.library, network_of(opened)
    training_mazes = measure(network, library.training)
    held_out = measure(network, library.held_out) if library.held_out.num_mazes else None
    seconds = _seconds_so_far(opened)
    result = {
        "run": asdict(opened.settings), "extra": library.extra, "mazes": len(library.training),
        "measured_mazes": len(measured(library.training)),
        "seed": opened.settings.seed, "frames": frames, "seconds": seconds,
        "threads": opened.threads, "training": training_mazes, "held_out": held_out,
        "version": __version__,
    }  # fmt: skip
    write_atomically(opened.path / RESULT, (json.dumps(result, indent=1) + "\n").encode())
    print(f"after {frames:,} frames and {timedelta(seconds=round(seconds))}, from the true start:")
    print(measured_text(training_mazes, PAPER.get((opened.settings.regime, library.extra))))
    if held_out is not None:
        print(f"on {len(library.held_out)} mazes held out:\n{measured_text(held_out, None)}")
    print(f"result: {opened.path / RESULT}")


def _as_line(progress: Progress) -> dict[str, Any]:
    return {
        "frames": progress.frames,
        "frames_per_second": round(progress.frames_per_second),
        "starts": progress.starts,
        "train_success": progress.train_success,
        "learner": progress.metrics,
    }


def _in_short(frames: int, greedy: dict[str, float]) -> str:
    return (
        f"{frames:>11,} frames: greedy {greedy['success']:.0%}, optimal {greedy['optimal']:.0%},"
        f" within 5 {greedy['within_5']:.0%}"
    )


def _seconds_so_far(opened: OpenMazeRun) -> float:
    lines = opened.run.metrics()
    return float(lines[-1]["seconds"]) if lines else 0.0


def _go_on(path: Path) -> str:
    return f"backplay maze train --resume {shlex.quote(str(path))}"
