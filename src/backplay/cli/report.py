"""`backplay report`: run directories become tables, figures and one page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from backplay.cli.options import command_of
from backplay.cli.reports import read_records, require_report_folder, show_runs
from backplay.errors import ensure
from backplay.report.build import PAGE
from backplay.report.records import RunRecord


@dataclass(frozen=True, kw_only=True)
class ReportConfig:
    """Turns runs into one page: a table with intervals over seeds, curves, where episodes started.

        backplay report runs/doorkey-backplay-0 runs/doorkey-uniform-0
        backplay report runs --out page
        backplay report runs/maze-table --title "The Maze, so far"

    Takes run directories and folders of them, at any depth. Runs that differ in nothing but their
    seed are one row; where settings or demonstrations differ too, the rows say so. Runs that have
    not ended are in the figures as far as they have come. The page
    needs no network; the figures and the numbers lie beside it.
    """

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR...")] = ()
    """Run directories, or folders of them."""
    out: Path = Path("report")
    """Directory of the page, the figures and the numbers."""
    title: str = "Runs"
    """Of the page."""


def report(config: ReportConfig) -> int:
    """Prints the table and writes the page."""
    report_runs(config)
    return 0


def report_runs(config: ReportConfig) -> list[RunRecord]:
    """As `report`; the runs."""
    ensure(
        config.runs, "report", "at least one run directory", got="none",
        do="Write backplay report runs.",
    )  # fmt: skip
    require_report_folder(config.out)
    records = read_records(config.runs)
    made = show_runs(
        records, config.out, title=config.title, command=command_of("backplay report", config),
        about=f"{len(records)} run{'s' if len(records) > 1 else ''}, measured from the true start.",
    )  # fmt: skip
    if made.unfinished:
        print(f"not ended yet, and in no table: {', '.join(made.unfinished)}")
    for run in records:
        for note in run.notes:
            print(f"{run.path}: {note}")
    print(f"open {config.out / PAGE}")
    return records
