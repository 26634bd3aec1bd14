"""The page of an experiment: its claims judged by the runs that are there, tables, figures.

Comes in: an experiment and its run directories, made or not, finished or not. Goes out: a folder
with the page, printed tables, and what could not be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from backplay.data.files import write_atomically
from backplay.errors import BackplayError
from backplay.paper import catalogue
from backplay.report.build import PAGE, build_report
from backplay.report.judging import Scale
from backplay.report.kinds import FIGURES
from backplay.report.reading import read_run
from backplay.report.sheet import section, table
from backplay.report.texts import in_columns, words_in
from backplay.runs import is_run, open_run

if TYPE_CHECKING:
    from backplay.paper.catalogue import Experiment


def report_experiment(
    experiment: Experiment,
    paths: Sequence[Path],
    out: Path,
    command: str,
    scale: float | None = None,
) -> dict[str, str]:
    """Writes the page into `out` and prints its tables; the runs that could not be read, and why.

    Args:
        experiment: whose claims are judged.
        paths: of its run directories; those that do not exist are not run yet.
        out: the folder of the page.
        command: what makes it again.
        scale: of the runs; by default the experiment's own. Claims are not judged below that.
    """
    records = []
    unread: dict[str, str] = {}
    for path in paths:
        if not is_run(path):
            continue
        try:
            records.append(read_run(open_run(path)))
        except BackplayError as error:
            unread[path.name] = str(error)
    share = Scale(experiment.scale if scale is None else scale, experiment.scale)
    shown = catalogue.exhibit(records)
    report = build_report(
        records,
        title=f"{experiment.title} ({experiment.where})",
        about=experiment.about,
        command=command,
        claims=experiment.claims,
        animations=shown.films,
        figures=[name for name in FIGURES if name in experiment.figures],
        extra_figures=shown.figures,
        tables=[
            section(one.title, table(one.cells, name=one.title), note=one.note)
            for one in shown.tables
        ],
        scale=share,
    )
    for name, content in report.files.items():
        write_atomically(out / name, content)
    for cells, left in ((report.results, words_in(report.results)), (report.claims, 2)):
        if len(cells) > 1:
            print(f"\n{in_columns(cells, left)}")
    if not share.is_enough:
        print(f"\n{share.words} No claim is judged with less.")
    missing = len(paths) - len(records) - len(unread) + len(report.unfinished)
    late = f" {missing} of {len(paths)} runs are not finished." if missing else ""
    print(f"\nOpen {out / PAGE}.{late}")
    return unread
