"""Jobs to their end: run directories made, a sweep carried out and shown. What starts runs shares.

Comes in: jobs, a folder, who works. Goes out: the sweep, done or stopped. Nothing is reported here.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from backplay.errors import BackplayError
from backplay.runs.processes import Planned, Pool
from backplay.runs.sweep import Sweep
from backplay.runs.waiting import until_it_works
from backplay.ui.display import duration, open_display
from backplay.ui.interrupts import STOP_SIGNALS, exit_code, interrupts

if TYPE_CHECKING:
    from backplay.train.job import Job

LOOK_SECONDS = 0.2
SHOW_SECONDS = 1.0


def planned(jobs: Sequence[Job], folder: Path) -> list[Planned]:
    """The runs of jobs, and where in `folder` they are."""
    return [
        Planned(name=job.name, path=folder / job.name, frames=job.frames, seconds=job.seconds)
        for job in jobs
    ]


def prepare_all(jobs: Sequence[Job], runs: Sequence[Planned], command: str) -> dict[str, str]:
    """Makes the run directories that are missing; which are refused, and why."""
    from backplay.runs.execute import prepare

    refused: dict[str, str] = {}
    for job, run in zip(jobs, runs, strict=True):
        try:
            until_it_works(partial(prepare, run.path, job, command=command), _say, seconds=0.2)
        except BackplayError as error:
            refused[run.name] = str(error)
    return refused


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def carry_out(runs: Sequence[Planned], processes: Pool) -> Sweep:
    """Works on all runs until they are done, have failed, or somebody wants to stop."""
    with (
        closing(processes) as pool,
        open_display() as display,
        interrupts("", signals=STOP_SIGNALS, raises=False) as asked,
    ):
        sweep = Sweep(runs, pool)
        display.say(_beginning(sweep, pool))
        shown = 0.0
        while not sweep.finished:
            for event in sweep.step():
                display.say(event)
            if asked and not sweep.stopping:
                display.say("stopping: the runs are being saved; once more to stop at once")
                sweep.stop(exit_code(asked))
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


def _beginning(sweep: Sweep, pool: Pool) -> str:
    overview = sweep.overview()
    side = f"{pool.size} at once" if pool.size > 1 else "one at a time"
    counts = f"{len(sweep.runs)} runs, {overview.done} of them done, {side}"
    return f"{counts}; about {duration(overview.seconds_left)}. Ctrl-C saves and stops."
