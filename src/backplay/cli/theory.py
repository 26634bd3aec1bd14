"""`backplay theory`: the paper's analysis, computed again, as a table, figures and a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backplay.cli.options import command_of, require_at_least
from backplay.cli.report import read_there, require_report_folder, show_runs
from backplay.cli.reproduce import planned, prepare_all
from backplay.paper.catalogue import experiment
from backplay.paper.theory.exhibit import findings_table
from backplay.paper.theory.job import TheoryJob
from backplay.report.build import PAGE
from backplay.report.texts import in_columns
from backplay.runs.execute import carry_out
from backplay.runs.processes import Planned
from backplay.theory.studies import STUDIES
from backplay.ui.display import counting

RUNS = "runs"


@dataclass(frozen=True, kw_only=True)
class TheoryConfig:
    """Computes what the paper's analysis predicts and what really happens on chains and graphs.

        backplay theory
        backplay theory --quick --out page
        backplay theory --seed 1

    Prints a table: predicted rate, measured rate with its interval, verdict. Writes a page that
    needs no network, its figures and its numbers. Every number of docs/theory.md comes from here.
    Takes about half a minute on one core, with --quick less. Each study is a run directory in the
    folder `runs` beside the page: Ctrl-C keeps what is done, and the same command goes on.
    """

    out: Path = Path("theory")
    """Directory of the page, the figures, the numbers and the runs."""
    quick: bool = False
    """Shorter chains and fewer runs."""
    seed: int = 0
    """Of the simulations."""


def theory(config: TheoryConfig) -> int:
    """Computes, prints the table and writes the page; 1 if a study failed, 130 after Ctrl-C."""
    require_at_least(config, seed=0)
    require_report_folder(config.out, beside=[RUNS])
    jobs = [TheoryJob(study=name, seed=config.seed, quick=config.quick) for name in STUDIES]
    kind = f"seed-{config.seed}{'-quick' if config.quick else ''}"
    runs = planned(jobs, config.out / RUNS / kind)
    command = command_of("backplay theory", config)
    failed = prepare_all(jobs, runs, command)
    stopped = _compute([run for run in runs if run.name not in failed])
    records, unread = read_there([run.path for run in runs])
    done = [run for run in records if run.finished]
    studies = [run.result["study"] for run in done]
    if done:
        made = experiment("theory")
        show_runs(
            done, config.out, title=made.title, about=made.about, command=command,
            experiment=made, tables=False,
        )  # fmt: skip
        print(findings_text(findings_table(studies)))
    for name, words in {**failed, **unread}.items():
        print(f"failed: {name}: {words}")
    if stopped:
        kept = f"the page has {len(done)} of {len(jobs)} studies" if done else "no page yet"
        print(f"stopped; {kept}. To go on: {command}")
        return 130
    print(f"Open {config.out / PAGE}")
    return 1 if failed or unread else 0


def _compute(runs: Sequence[Planned]) -> bool:
    """Carries out what is not done yet, here and one after the other; whether Ctrl-C came."""
    try:
        with counting(len(runs), "studies") as count:
            for done, run in enumerate(runs):
                count(done, run.name)
                carry_out(run.path)
    except KeyboardInterrupt:
        return True
    return False


def findings_text(rows: Sequence[Sequence[str]]) -> str:
    """The table in columns, each claim once as a heading of its cases."""
    head, *lines = in_columns([row[1:] for row in rows], left=1).splitlines()
    text = [f"  {head}"]
    claim = None
    for row, line in zip(rows[1:], lines, strict=True):
        text += ["", row[0]] if row[0] != claim else []
        claim = row[0]
        text.append(f"  {line}")
    return "\n".join(text) + "\n"
