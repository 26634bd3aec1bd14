"""`backplay report`: run directories become tables, figures and one page.

And what every command that shows runs shares: records read, a folder for the page, the page. Comes
in: run directories, what to say of them. Goes out: a folder with the page, printed tables.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from backplay.cli.options import command_of
from backplay.data.files import write_atomically
from backplay.errors import BackplayError, ensure
from backplay.paper import catalogue
from backplay.report.build import PAGE, RESULT, Report, build_report
from backplay.report.exhibit import FIGURES, Exhibit, together
from backplay.report.judging import Scale
from backplay.report.reading import find_runs, read_run
from backplay.report.records import RunRecord, grouped, twice
from backplay.report.texts import in_columns, words_in
from backplay.runs import is_run, open_run

if TYPE_CHECKING:
    from backplay.paper.experiment import Experiment


def read_records(paths: Sequence[Path]) -> list[RunRecord]:
    """The runs at these paths; refused if one of them is there twice."""
    records = [read_run(run) for run in find_runs(paths)]
    for first, again in twice(grouped(records)):
        raise BackplayError(
            f"{first.path} and {again.path} are the same run",
            expected="every setting, regime, budget and seed once, where all else is the same",
            got=f"{again.setting}, {again.regime}, seed {again.seed} twice",
            do="Leave one of them out; backplay compare puts two folders side by side.",
        )
    return records


def show_runs(
    records: Sequence[RunRecord],
    out: Path,
    *,
    title: str,
    about: str,
    command: str,
    experiment: Experiment | None = None,
    scale: Scale | None = None,
    tables: bool = True,
) -> Report:
    """Writes the page of runs into `out` and prints their tables.

    Args:
        records: of all runs, finished or not.
        out: the folder, as `require_report_folder` lets it pass.
        title: of the page.
        about: what the runs are.
        command: what makes it again.
        experiment: whose claims are judged and whose figures are drawn; by default no claims.
        scale: how much of the experiment was run.
        tables: whether to print them.
    """
    wanted = experiment.figures if experiment else FIGURES
    own = experiment.exhibit(records) if experiment and experiment.exhibit else Exhibit()
    report = build_report(
        records, title=title, about=about, command=command,
        claims=experiment.claims if experiment else (),
        exhibit=together([own, catalogue.exhibit(records)]),
        figures=[name for name in FIGURES if name in wanted], scale=scale,
    )  # fmt: skip
    write_files(out, report.files)
    both = [(report.results, words_in(report.results)), (report.claims, 2)]
    filled = [in_columns(cells, left) for cells, left in both if len(cells) > 1]
    if filled and tables:
        print("\n\n".join(filled))
    return report


def read_there(paths: Sequence[Path]) -> tuple[list[RunRecord], dict[str, str]]:
    """The runs that have been made of these; those that could not be read by name, and why."""
    records = []
    unread: dict[str, str] = {}
    for path in filter(is_run, paths):
        try:
            records.append(read_run(open_run(path)))
        except BackplayError as error:
            unread[path.name] = str(error)
    return records, unread


def show_experiment(
    experiment: Experiment, paths: Sequence[Path], out: Path, command: str, scale: float
) -> dict[str, str]:
    """Writes the page of an experiment and prints its tables; runs that could not be read, and why.

    Args:
        experiment: whose claims are judged, unless the scale is less than its own.
        paths: of its run directories; those that do not exist are not run yet.
        out: the folder of the page.
        command: what makes it again.
        scale: of the runs.
    """
    records, unread = read_there(paths)
    share = Scale(scale, experiment.scale)
    report = show_runs(
        records, out, title=f"{experiment.title} ({experiment.where})", about=experiment.about,
        command=command, experiment=experiment, scale=share,
    )  # fmt: skip
    if not share.is_enough:
        print(f"\n{share.words} No claim is judged with less.")
    missing = len(paths) - len(records) - len(unread) + len(report.unfinished)
    late = f" {missing} of {len(paths)} runs are not finished." if missing else ""
    print(f"\nOpen {out / PAGE}.{late}")
    return unread


def require_report_folder(out: Path, beside: Collection[str] = ()) -> None:
    """Refuses a folder with anything in it that no report wrote, but for what may lie `beside`."""
    if out.exists() and not out.is_dir():
        raise BackplayError(f"{out} is a file", do="Choose another --out; nothing was written.")
    ensure(
        not out.is_dir() or {file.name for file in out.iterdir()} <= {*_written(out), *beside},
        f"{out} holds other files than a report's", do="Choose another --out; nothing was written.",
    )  # fmt: skip


def write_files(out: Path, contents: Mapping[str, bytes]) -> None:
    """Writes a report's files; those of an earlier one that it no longer has are removed."""
    before = _written(out)
    for name, data in contents.items():
        write_atomically(out / name, data)
    for name in before - set(contents):
        (out / name).unlink(missing_ok=True)


def _written(out: Path) -> set[str]:
    """The files of the report that is there, as its numbers list them."""
    try:
        files = json.loads((out / RESULT).read_text(encoding="utf-8"))["files"]
        return {name for name in files if Path(name).name == name} | {RESULT}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


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
