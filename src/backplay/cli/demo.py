"""`backplay demo`: three ways to start episodes, the same frames, one page with what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from backplay.cli.options import command_of, require_at_least
from backplay.cli.report import read_there, require_report_folder, show_runs
from backplay.cli.reproduce import carry_out, cores, planned, prepare_all
from backplay.data.files import write_atomically
from backplay.paper.catalogue import experiment
from backplay.paper.demo.job import REGIMES, SETTING, DemoJob
from backplay.report.build import PAGE
from backplay.report.figures import as_png, draw_overview
from backplay.report.judging import Scale
from backplay.report.records import RunRecord, grouped
from backplay.runs.processes import LocalPool

RUNS, PICTURE = "runs", "demo.png"


@dataclass(frozen=True, kw_only=True)
class DemoConfig:
    """Trains Backplay, Uniform and Standard on MountainCar with a reward at the flag only.

        backplay demo
        backplay demo --seeds 1 --frames 150000
        backplay demo --out page --jobs 8

    The three regimes differ in where training episodes start and in nothing else. Takes about two
    minutes on 2 cores. Writes a page that needs no network, and says where it is. Every run is a
    directory in the folder `runs` beside it: Ctrl-C saves them, and the same command goes on.
    """

    out: Path = Path("backplay-demo")
    """Directory of the page, the figures, the numbers and the runs."""
    frames: int = 200_000
    """Frames of each run."""
    seeds: int = 3
    """Runs of each regime."""
    jobs: int | None = None
    """Processes at a time; by default one for each core."""
    episodes: int = 100
    """Episodes from the true start that judge each agent at the end."""


def demo(config: DemoConfig) -> int:
    """Trains, prints the table and writes the page; 1 if a run failed, 128 + n after signal n."""
    require_at_least(config, frames=1, seeds=1, jobs=1, episodes=1)
    require_report_folder(config.out, beside=[RUNS, PICTURE])
    command = command_of("backplay demo", config)
    jobs = [
        DemoJob(regime=regime, seed=seed, frames=config.frames, episodes=config.episodes)
        for seed in range(config.seeds)
        for regime in REGIMES
    ]
    runs = planned(jobs, config.out / RUNS / f"{config.frames}-frames-{config.episodes}-episodes")
    refused = prepare_all(jobs, runs, command)
    pool = LocalPool(min(config.jobs or cores(), len(runs)))
    sweep = carry_out([one for one in runs if one.name not in refused], pool)
    if sweep.stopping:
        print(f"stopped; no page was written. To go on: {command}")
        return sweep.code
    records, unread = read_there([run.path for run in runs])
    failed = {**refused, **sweep.failed, **unread}
    if any(run.finished for run in records):
        _show(config, records, command)
    for name, words in failed.items():
        print(f"failed: {name}: {words}")
    return 1 if failed else 0


def _show(config: DemoConfig, records: list[RunRecord], command: str) -> None:
    """Writes the page and the picture, and prints the table."""
    made = experiment("demo")
    whole = config.frames / max(job.frames for job in made.jobs(made.scale, 1))
    ended = sorted((run for run in records if run.finished), key=lambda run: run.seed)
    show_runs(
        ended, config.out, title=made.title, about=made.about, command=command,
        experiment=made, scale=Scale(min(1.0, whole), made.scale),
    )  # fmt: skip
    groups = grouped(ended)
    picture = draw_overview(groups, "success", f"{SETTING}, one demonstration")
    write_atomically(config.out / PICTURE, as_png(picture))
    print(f"\nOpen {config.out / PAGE}")
