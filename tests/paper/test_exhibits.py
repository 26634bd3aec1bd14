"""What pages of some kinds of runs show besides: actions, maps, studies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from backplay.cli.report import show_experiment
from backplay.paper.catalogue import exhibit, experiment
from backplay.paper.pommerman.exhibit import ACTIONS, WINS
from backplay.paper.pommerman.job import PommermanJob
from backplay.paper.theory.job import TheoryJob
from backplay.report.reading import read_run
from backplay.runs import Run, create
from backplay.train.job import to_json

WON = {"90%": 3, "80%": 4, "70%": 5, "60%": 6, "50%": 7}


def pommerman(folder: Path, seed: int = 0, regime: str = "backplay") -> Run:
    job = PommermanJob(regime=regime, maps=100, seed=seed, frames=4_352_000)
    run = create(folder / job.name, {"job": to_json(job), "threads": 1})
    for frames in (1_000, 4_352_000):
        bombs = 3 if regime == "backplay" else 0
        run.append_metrics({
            "frames": frames, "evaluation": {"success": 0.5},
            "actions": [1, 0, 0, 0, 0, bombs],
        })  # fmt: skip
    sampled = {"maps_won": WON, "by_map": [0.5] * 100}
    run.finish({"measures": {"success": 0.5}, "training": {"sampled": sampled}})
    return run


def study(folder: Path, seed: int) -> Run:
    job = TheoryJob(study="gap", seed=seed, quick=True)
    run = create(folder / job.name, {"job": to_json(job), "threads": 1})
    run.finish(job.begin().result())
    return run


def test_actions_are_read_from_the_metrics_of_runs(tmp_path: Path) -> None:
    runs = [pommerman(tmp_path), pommerman(tmp_path, 1), pommerman(tmp_path, 0, "standard")]
    figures = exhibit([read_run(run) for run in runs]).figures
    assert list(figures) == [WINS, ACTIONS]
    backplay, standard = (axes for axes in figures[ACTIONS].axes if axes.get_visible())
    assert standard.get_title(loc="left") == "winner, 100 maps, sparse: standard"
    heights = [
        np.ptp(axes.collections[5].get_paths()[0].vertices[:, 1]) for axes in (backplay, standard)
    ]
    assert heights == [0.75, 0.0]


def test_runs_that_are_gone_have_no_actions(tmp_path: Path) -> None:
    record = read_run(pommerman(tmp_path))
    (tmp_path / record.path / "config.json").unlink()
    assert list(exhibit([record]).figures) == [WINS]  # the record holds its curve


def test_studies_are_drawn_once(tmp_path: Path) -> None:
    figures = exhibit([read_run(study(tmp_path, seed)) for seed in (0, 1)]).figures
    (figure,) = figures.values()
    panels = TheoryJob(study="gap", quick=True).begin().result()["study"]["panels"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == [p["title"] for p in panels]


def test_the_page_of_pommerman_shows_both(tmp_path: Path, capsys: Any) -> None:
    runs = [pommerman(tmp_path, seed) for seed in (0, 1)]
    (table,) = exhibit([read_run(run) for run in runs]).tables
    assert table.cells[2][1:] == ("50 of 100", "4 of 100")  # the paper's is 24 + 26
    out = tmp_path / "report"
    unread = show_experiment(
        experiment("pommerman-100"), [run.path for run in runs], out, "x", 0.05
    )
    assert unread == {}
    page = (out / "index.html").read_text()
    assert f"<h2>{ACTIONS}</h2>" in page
    assert "Maps won: winner, 100 maps, sparse" in page
    assert (out / "actions-over-time-appendix-a-7.svg").exists()


def test_the_page_of_the_theory_has_figures(tmp_path: Path, capsys: Any) -> None:
    run = study(tmp_path, 0)
    out = tmp_path / "report"
    show_experiment(experiment("theory"), [run.path], out, "x", 1.0)
    title = run.result["study"]["title"] if run.result else ""
    assert f"<h2>{title}</h2>" in (out / "index.html").read_text()
    assert list(out.glob("*.svg"))
