"""Jobs to their end: run directories made, a sweep carried out and shown. What starts runs shares.

Comes in: jobs, a folder, who works. Goes out: the sweep, done or stopped. Nothing is reported here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from backplay.errors import BackplayError
from backplay.runs.sweep import Crew, Sweep, Task
from backplay.ui.display import duration, open_display
from backplay.ui.interrupts import STOP_SIGNALS, interrupts

if TYPE_CHECKING:
    from backplay.train.job import Job

LOOK_SECONDS = 0.2
SHOW_SECONDS = 1.0


def tasks_of(jobs: Sequence[Job], folder: Path) -> list[Task]:
    """The runs of jobs, and where in `folder` they are."""
    return [
        Task(name=job.name, path=folder / job.name, frames=job.frames, seconds=job.seconds)
        for job in jobs
    ]


def prepare_all(jobs: Sequence[Job], tasks: Sequence[Task], command: str) -> dict[str, str]:
    """Makes the run directories that are missing; which are refused, and why."""
    from backplay.runs.execute import prepare

    refused: dict[str, str] = {}
    for job, task in zip(jobs, tasks, strict=True):
        try:
            prepare(task.path, job, command=command)
        except BackplayError as error:
            refused[task.name] = str(error)
    return refused


def carry_out(tasks: Sequence[Task], workers: Crew) -> Sweep:
    """Works on all tasks until they are done, have failed, or somebody wants to stop."""
    with (
        closing(workers) as crew,
        open_display() as display,
        interrupts("", signals=STOP_SIGNALS, raises=False) as asked,
    ):
        sweep = Sweep(tasks, crew)
        display.say(_beginning(sweep, crew))
        shown = 0.0
        while not sweep.finished:
            for event in sweep.step():
                display.say(event)
            if asked and not sweep.stopping:
                display.say("stopping: the runs are being saved; once more to stop at once")
                sweep.stop()
            if len(asked) > 1:
                sweep.kill()
            if time.monotonic() - shown >= SHOW_SECONDS:
                display.show_all(sweep.overview())
                shown = time.monotonic()
            time.sleep(LOOK_SECONDS)
    return sweep


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _beginning(sweep: Sweep, crew: Crew) -> str:
    overview = sweep.overview()
    side = f"{crew.size} at once" if crew.size > 1 else "one at a time"
    counts = f"{len(sweep.tasks)} runs, {overview.done} of them done, {side}"
    return f"{counts}; about {duration(overview.seconds_left)}. Ctrl-C saves and stops."
