"""`backplay reproduce`: makes every run of an experiment and the page that judges its claims.

And what every command that starts runs shares: run directories made, a sweep carried out and shown.
Comes in: jobs, a folder, who works. Goes out: the sweep, done or stopped.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from backplay.cli.options import command_of, require_at_least
from backplay.errors import BackplayError
from backplay.runs.processes import LocalPool, Planned, Pool
from backplay.runs.sweep import Sweep
from backplay.runs.waiting import until_it_works
from backplay.ui.display import duration, open_display
from backplay.ui.interrupts import STOP_SIGNALS, exit_code, interrupts

if TYPE_CHECKING:
    from backplay.paper.experiment import Experiment
    from backplay.train.job import Job


LOOK_SECONDS = 0.2
SHOW_SECONDS = 1.0
LEAST_FRAMES = 1_000  # of a run: with fewer there is not an update for every window


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


@dataclass(frozen=True, kw_only=True)
class ReproduceConfig:
    """Makes all runs of an experiment, then a page: claims, tables, figures.

        backplay reproduce maze-table
        backplay reproduce maze-table --scale 0.01 --seeds 2 --jobs 2
        backplay reproduce maze-table --report-only
        backplay reproduce maze-table --ray auto --dir /shared/runs

    Each run is a directory and a process of one thread. Finished runs are left alone and
    interrupted ones go on from their last checkpoint, to the same bytes: Ctrl-C stops at any time
    and the same command goes on. A worker that dies is followed by another. `backplay experiments`
    lists what there is.
    """

    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
    """The experiment."""
    scale: float | None = None
    """Share of the full number of frames; by default the experiment's own."""
    seeds: int | None = None
    """Runs of each kind; by default the experiment's own number."""
    jobs: int | None = None
    """Runs at once; by default as many as there are cores."""
    dir: Path = Path("runs")
    """Where the run directories go; with Ray on several machines, a path that all of them see."""
    ray: Annotated[tuple[str, ...] | None, tyro.conf.arg(metavar="[ADDRESS]")] = None
    """Uses a Ray cluster: "auto" or host:port; without an address it starts one here."""
    prepare_only: bool = False
    """Makes the run directories and leaves the work to `backplay work DIR` of each."""
    report_only: bool = False
    """Runs nothing and writes the page of what is there."""


def reproduce(config: ReproduceConfig) -> int:
    """Runs what is missing and reports; 1 if a run failed, 128 + n if signal n stopped it."""
    _refuse_nonsense(config)
    from backplay.paper.catalogue import experiment as find_experiment

    experiment = find_experiment(config.name)
    scale = experiment.scale if config.scale is None else config.scale
    seeds = experiment.seeds if config.seeds is None else config.seeds
    asked = replace(config, scale=scale, seeds=seeds, prepare_only=False, report_only=False)
    command = command_of("backplay reproduce", asked)
    jobs = _jobs(experiment, scale, seeds)
    runs = planned(jobs, config.dir / experiment.folder / _scale_folder(scale))
    failed: dict[str, str] = {}
    if not config.report_only:
        refused = prepare_all(jobs, runs, command)
        if config.prepare_only:
            print(*(f"backplay work {shlex.quote(str(run.path))}" for run in runs), sep="\n")
            return 0
        sweep = carry_out([one for one in runs if one.name not in refused], _pool(config))
        failed = {**refused, **sweep.failed}
        if sweep.stopping:
            print(f"stopped, {len(sweep.done)} of {len(runs)} runs are done; to resume the others:")
            print(f"  {command}")
            return sweep.code
    from backplay.cli.report import show_experiment

    out = config.dir / experiment.name / _scale_folder(scale) / "report"
    unread = show_experiment(experiment, [run.path for run in runs], out, command, scale)
    for name, words in {**unread, **failed}.items():
        print(f"failed: {name}: {words}")
    return 1 if unread or failed else 0


def _jobs(experiment: Experiment, scale: float, seeds: int) -> list[Job]:
    """The jobs of an experiment; refused where a run would be too short to mean anything."""
    jobs = experiment.jobs(scale, seeds)
    fewest = min((job.frames for job in jobs if job.frames), default=0)
    if 0 < fewest < LEAST_FRAMES:
        raise BackplayError(
            "--scale", expected=f"runs of {LEAST_FRAMES:,} frames at least", got=f"{fewest:,}",
            do=f"Try --scale {scale * LEAST_FRAMES / fewest:.2g}.",
        )  # fmt: skip
    return jobs


def _pool(config: ReproduceConfig) -> Pool:
    if config.ray is None:
        return LocalPool(config.jobs or cores())
    from backplay.integrations.ray import Cluster

    return Cluster(config.ray[0] if config.ray else None, config.jobs)


def _scale_folder(scale: float) -> str:
    return f"scale-{scale:.12g}"


def _refuse_nonsense(config: ReproduceConfig) -> None:
    if config.scale is not None and not (isfinite(config.scale) and 0 < config.scale <= 1):
        raise BackplayError("--scale", expected="more than 0, at most 1", got=str(config.scale))
    require_at_least(config, seeds=1, jobs=1)
    if config.dir.exists() and not config.dir.is_dir():
        raise BackplayError("--dir", expected="a directory", got=f"the file {config.dir}")
    if config.ray is not None and len(config.ray) > 1:
        raise BackplayError(
            "--ray", expected="one address at most", got=" ".join(config.ray),
            do="Write the name of the experiment before it.",
        )  # fmt: skip
    if config.report_only and (config.prepare_only or config.ray is not None):
        raise BackplayError("--report-only", expected="neither --prepare-only nor --ray beside it")
