"""`backplay report` and `backplay compare` on run directories that were never trained."""

import json
from pathlib import Path

from cli_results import Run, assert_refused

from backplay import runs


def make(
    path: Path, seed: int, end: float | None, regime: str = "backplay", frames: int = 900
) -> None:
    """A run directory that ended with this success; None for one that has not ended."""
    job = {
        "kind": "grid", "name": f"{regime}-{seed}", "setting": "open world", "regime": regime,
        "seed": seed, "frames": frames, "fields": {},
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
    assert "backplay report runs --out report --title &#x27;So far&#x27;" in page
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
    lines = result.out.splitlines()
    assert "new − old" in lines[0]
    assert "+70 points" in lines[1]
    assert "3 / 3" in lines[1]
    assert "100% [100, 100]" in lines[1]
    assert "new/backplay-3" in lines[2]
    page = (tmp_path / "compare" / "index.html").read_text()
    assert "+70 points" in page
    assert page.count("<img") == 1
    assert (tmp_path / "compare" / "curves.svg").exists()
    steps = run("compare", "old", "new", "--measure", "steps")
    assert "50% [" in steps.out  # the same seeds, the same steps
    assert not (tmp_path / "compare" / "curves.svg").exists()  # no evaluation counted steps


def test_compare_takes_two_regimes(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "a", 0.1, 0.2, regime="uniform")
    folder(tmp_path / "b", 0.8, 0.9)
    assert "uniform / backplay" in run("compare", "a", "b").out


def test_compare_refuses_nonsense(run: Run, tmp_path: Path) -> None:
    folder(tmp_path / "a", 0.1, 0.2)
    folder(tmp_path / "b", None)
    assert_refused(run("compare", "a", "b"), "no run that has ended")
    assert_refused(run("compare", "a", "a"), "one twice")
    assert_refused(run("compare", "a", "a/backplay-0"), "one twice")
    folder(tmp_path / "c", 0.3)
    assert_refused(run("compare", "a", "c", "--measure", "height"), "'height'", "success, steps")
    assert_refused(run("compare", "a", "c", "--seed", "-1"), "--seed")
    assert run("compare", "a").code == 2


def test_help_teaches_with_examples(run: Run) -> None:
    for name in ("report", "compare"):
        result = run(name, "--help")
        assert result.code == 0
        assert result.out.count(f"\n     backplay {name} ") >= 2
