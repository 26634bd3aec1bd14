"""`backplay report` and `backplay compare` on run directories that were never trained."""

import json
from pathlib import Path

import pytest
from cli_results import Run, assert_refused

from backplay import runs
from backplay.cli.report import show_experiment
from backplay.paper.experiment import Experiment
from backplay.report.claims import Claim, Final


def make(
    path: Path, seed: int, end: float | None, regime: str = "backplay", frames: int = 900,
    **fields: object,
) -> None:  # fmt: skip
    """A run directory that ended with this success; None for one that has not ended."""
    job = {
        "kind": "grid", "name": f"{regime}-{seed}", "setting": "open world", "regime": regime,
        "seed": seed, "frames": frames, "fields": {"seed": seed, **fields},
    }  # fmt: skip
    run = runs.create(path, {"job": job, "threads": 1})
    for part in (1, 2, 3):
        success = (0.9 if end is None else end) * part / 3
        run.append_metrics({"frames": 300 * part, "evaluation": {"success": success}})
    run.tick(frames, 90.0)
    if end is not None:
        run.finish({"measures": {"success": end, "steps": 10 + seed}})


def folder(path: Path, *ends: float | None, regime: str = "backplay") -> Path:
    for seed, end in enumerate(ends):
        make(path / f"{regime}-{seed}", seed, end, regime)
    return path


def test_report_prints_the_table_and_writes_the_page(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "runs", 0.5, 0.7, None)
    folder(tmp_path / "runs", 0.1, regime="uniform")
    result = run("report", "runs", "--title", "So far")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0].split() == [
        "setting",
        "regime",
        "seeds",
        "frames",
        "success",
        "steps",
        "minutes",
    ]
    assert lines[1].startswith("open world  backplay")
    assert "60% [0, 100]" in lines[1]
    assert "runs/backplay-2" in lines[3]
    assert lines[-1] == "open report/index.html"
    page = (tmp_path / "report" / "index.html").read_text()
    assert "<h1>So far</h1>" in page
    assert "backplay report runs --title &#x27;So far&#x27;" in page
    assert "900 of 900 frames" in page
    numbers = json.loads((tmp_path / "report" / "result.json").read_text())
    assert len(numbers["runs"]) == 4
    assert run("report", "runs").code == 0  # writes over its own page
    names = {file.name for file in (tmp_path / "report").iterdir()}
    assert names == {
        "index.html", "result.json", "curves.png", "curves.svg", "bars.png", "bars.svg",
    }  # fmt: skip


def test_report_works_before_any_run_has_ended(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "runs", None)
    result = run("report", tmp_path / "runs" / "backplay-0")
    assert result.code == 0
    assert "not ended yet" in result.out


def test_report_says_what_is_damaged(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "runs", 0.5, 0.6)
    (tmp_path / "runs" / "backplay-0" / "result.json").write_text("{")
    result = run("report", "runs")
    assert result.code == 0
    assert "result.json is damaged" in result.out


def test_report_refuses_nonsense(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "runs", 0.5)
    assert_refused(run("report"), "at least one run directory")
    assert_refused(run("report", "nowhere"), "nowhere holds no run", "no folder")
    make(tmp_path / "copy", 0, 0.5)
    assert_refused(run("report", "runs", "copy"), "are the same run", "backplay compare")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    assert_refused(run("report", "runs", "--out", "mine"), "holds other files")
    (tmp_path / "file").write_text("x")
    assert_refused(run("report", "runs", "--out", "file"), "is a file")
    (tmp_path / "runs" / "backplay-0" / "config.json").write_text("{")
    assert_refused(run("report", "runs"), "config.json")
    assert not (tmp_path / "report").exists()


def test_compare_prints_differences_and_writes_the_page(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "old", 0.1, 0.2, 0.15)
    folder(tmp_path / "new", 0.8, 0.9, 0.85, None)
    result = run("compare", "old", "new")
    assert (result.code, result.err) == (0, "")
    same, empty, *lines = result.out.splitlines()
    assert (same, empty) == ("What is compared differs in nothing but its seeds.", "")
    assert "new − old" in lines[0]
    assert "+70 points [" in lines[1]
    assert "3 / 3" in lines[1]
    assert "100% [43.9, 100]" in lines[1]  # three seeds that beat three are no certainty
    assert "new/backplay-3" in lines[2]
    page = (tmp_path / "compare" / "index.html").read_text()
    assert "+70 points" in page
    assert page.count("<img") == 1
    assert (tmp_path / "compare" / "curves.svg").exists()
    steps = run("compare", "old", "new", "--measure", "steps")
    assert "50% [" in steps.out  # the same seeds, the same steps
    assert not (tmp_path / "compare" / "curves.svg").exists()  # no evaluation counted steps


def test_runs_set_up_differently_are_rows_of_their_own(run: Run, tmp_path: Path) -> None:
    for rate, end in ((0.1, 0.2), (0.001, 0.8)):
        for seed in (0, 1):
            make(tmp_path / "runs" / f"{rate}-{seed}", seed, end, learning_rate=rate)
    result = run("report", "runs")
    assert result.code == 0, result.err
    rows = [line for line in result.out.splitlines() if line.startswith("open world, ")]
    assert [row.split("  ")[0] for row in rows] == [
        "open world, learning_rate 0.001", "open world, learning_rate 0.1",
    ]  # fmt: skip
    assert " 80% [" in rows[0]
    assert " 20% [" in rows[1]
    make(tmp_path / "other" / "a", 7, 0.9, learning_rate=0.001)
    compared = run("compare", "runs", "other").out.splitlines()[2:]
    assert compared[1].startswith("open world, learning_rate 0.001 ")
    assert "+10 points" in compared[1]
    assert len([line for line in compared if line.startswith("open world")]) == 1


def test_compare_says_first_what_differs_and_no_chance_of_one_seed(
    run: Run, tmp_path: Path
) -> None:
    make(tmp_path / "slow" / "a", 0, 0.2, learning_rate=0.001)
    make(tmp_path / "fast" / "a", 1, 0.8, learning_rate=0.1)
    head, row, empty, _, compared, *_ = run("compare", "slow", "fast").out.splitlines()
    assert head.split()[:4] == ["what", "differs", "slow", "fast"]
    assert row.split() == ["learning_rate", "0.001", "0.1", "all"]
    assert empty == ""
    assert compared.split()[-3:] == ["+60", "points", "–"]
    page = (tmp_path / "compare" / "index.html").read_text()
    assert "<h1>Comparison of slow and fast</h1>" in page
    assert page.index("<h2>What differs") < page.index("<img") < page.index("<h2>Compared")


def test_the_page_of_two_folders_keeps_their_runs_apart(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "old", 0.2, 0.2)
    folder(tmp_path / "new", 0.6, 0.6)
    assert run("compare", "old", "new").code == 0
    page = (tmp_path / "compare" / "index.html").read_text()
    assert '<td data-head="regime">backplay (old)</td>' in page
    assert '<td data-head="regime">backplay (new)</td>' in page


def test_compare_takes_two_regimes(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "a", 0.1, 0.2, regime="uniform")
    folder(tmp_path / "b", 0.8, 0.9)
    assert "uniform / backplay" in run("compare", "a", "b").out


def test_compare_names_what_has_no_partner(run: Run, tmp_path: Path) -> None:
    for side, other in (("a", "uniform"), ("b", "standard")):
        folder(tmp_path / side / "both", 0.1, 0.2)
        folder(tmp_path / side / "own", 0.1, regime=other)
    out = run("compare", "a", "b").out
    assert "In a alone, and compared with nothing: open world, uniform." in out
    assert "In b alone, and compared with nothing: open world, standard." in out
    assert "In b alone, and compared with" in (tmp_path / "compare" / "index.html").read_text()
    folder(tmp_path / "c", 0.1, 0.2)
    assert "alone" not in run("compare", "a/both", "c").out


def test_compare_refuses_nonsense(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "a", 0.1, 0.2)
    folder(tmp_path / "b", None)
    assert_refused(run("compare", "a", "b"), "no run that has ended")
    assert_refused(run("compare", "a", "a"), "one twice")
    assert_refused(run("compare", "a", "a/backplay-0"), "one twice")
    assert_refused(run("compare", "a", "b/../a"), "one twice")
    folder(tmp_path / "c", 0.3)
    assert_refused(run("compare", "a", "c", "--measure", "height"), "'height'", "success, steps")
    assert_refused(run("compare", "a", "c", "--seed", "-1"), "--seed")
    assert run("compare", "a").code == 2


def test_an_experiment_at_a_smaller_scale_decides_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder(tmp_path / "runs", 0.5, 0.5, 0.5)
    claim = Claim(
        text="Backplay wins", where="here", holds="at least", target=0.9,
        quantity=Final("open world", "backplay", "success"),
    )  # fmt: skip
    experiment = Experiment(
        name="made-up", title="Made up", where="ours", about="What it is.", scale=0.05, seeds=3,
        jobs=lambda scale, seeds: [], claims=(claim,),
    )  # fmt: skip
    paths = sorted((tmp_path / "runs").iterdir())
    words = "Scale 0.01 of the full frames; the experiment's own is 0.05."
    for scale, verdict in ((0.01, "too few frames"), (0.05, "fails")):
        assert show_experiment(experiment, paths, tmp_path / "out", "c", scale) == {}
        said = capsys.readouterr().out
        assert next(line for line in said.splitlines() if "Backplay wins" in line).endswith(verdict)
        assert (words in said) == (scale == 0.01)
        page = (tmp_path / "out" / "index.html").read_text()
        assert (words.replace("'", "&#x27;") in page) == (scale == 0.01)
