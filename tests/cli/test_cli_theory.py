"""`backplay theory` and `backplay advise`: what they print and write, and refusals."""

import json
from html import escape
from pathlib import Path

import pytest
from cli_results import Run, assert_refused

from backplay.cli import theory as command
from backplay.runs import open_run
from backplay.runs.execute import carry_out
from backplay.theory import STUDIES


def test_a_quick_run_writes_everything_and_prints_the_table(run: Run) -> None:
    result = run("theory", "--quick", "--out", "t")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[0].split() == ["case", "predicted", "measured", "interval", "verdict"]
    assert any(line.endswith("holds") for line in lines)
    assert any(line.endswith("fails") for line in lines)
    assert lines[-1] == "Open t/index.html"
    made = json.loads(Path("t/result.json").read_text())
    assert made["command"] == "backplay theory --out t --quick"
    assert [one["setting"] for one in made["runs"]] == list(STUDIES)
    page = Path("t/index.html").read_text()
    folder = Path("t/runs/seed-0-quick")
    studies = [(open_run(path).result or {})["study"] for path in sorted(folder.iterdir())]
    assert len(studies) == len(STUDIES)
    assert all(escape(study["title"]) in page for study in studies if study["panels"])
    assert "Predicted and measured" in page
    assert made["command"] in page
    assert "numba" in page
    # What is done stays done.
    made_at = [path.stat().st_mtime_ns for path in sorted(folder.glob("*/result.json"))]
    assert run("theory", "--quick", "--out", "t").out == result.out
    assert made_at == [path.stat().st_mtime_ns for path in sorted(folder.glob("*/result.json"))]


def test_ctrl_c_keeps_what_is_done(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def two_then_stop(path: Path) -> None:
        if path.name.startswith(list(STUDIES)[2]):
            raise KeyboardInterrupt
        carry_out(path)

    monkeypatch.setattr(command, "carry_out", two_then_stop)
    result = run("theory", "--quick", "--out", "t")
    assert result.code == 130
    assert "stopped; the page has 2 of 7 studies" in result.out
    assert "To go on: backplay theory --out t --quick" in result.out
    assert len(json.loads(Path("t/result.json").read_text())["runs"]) == 2


def test_a_directory_of_something_else_is_left_alone(run: Run) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("mine")
    assert_refused(run("theory", "--out", "mine"), "nothing was written")
    assert_refused(run("theory", "--out", "mine/thesis.tex"), "nothing was written")
    assert [file.name for file in Path("mine").iterdir()] == ["thesis.tex"]
    assert_refused(run("theory", "--seed", "-1"), "--seed")
    assert not Path("theory").exists()


def test_advice_says_what_to_expect_and_what_to_type(run: Run, demos: dict[str, Path]) -> None:
    result = run("advise", "MountainCar-v0", demos["car"], "--rollouts", "20")
    assert result.code == 0, result.err
    assert result.err.splitlines()[-1].startswith("success: an episode that terminates")
    assert result.out.startswith("Backplay is likely to help. Expected fastest: Backplay")
    for regime in ("Standard", "Uniform", "Backplay"):
        assert f"\n  {regime} " in result.out
    assert "orders of magnitude" in result.out
    assert "\n  bp.Frontier(" in result.out
    assert f"\n  backplay train MountainCar-v0 {demos['car']} --frames " in result.out


def test_advice_as_json(run: Run, demos: dict[str, Path]) -> None:
    words = ("advise", "FrozenLake-v1", demos["lake"], "--rollouts", "20", "--json")
    result = run(*words)
    advice = json.loads(result.out)
    assert advice["fastest"] == "Backplay"
    assert advice["demo_steps"] == 6
    assert advice["predictions"]["Standard"]["frames"] > advice["predictions"]["Backplay"]["frames"]
    assert json.loads(run(*words).out) == advice


def test_advice_with_a_policy_of_ones_own(run: Run, demos: dict[str, Path]) -> None:
    Path("swing.py").write_text("def policy(seen):\n    return 2 if seen[1] >= 0 else 0\n")
    result = run(
        "advise", "MountainCar-v0", demos["car"], "--rollouts", "4", "--policy", "swing.py"
    )
    assert "Expected fastest: Standard" in result.out
    assert "--curriculum standard" in result.out


def test_advice_refuses_nonsense_in_one_line(run: Run, demos: dict[str, Path]) -> None:
    assert_refused(run("advise", "MountainCar-v0", "none.npz"), "none.npz")
    assert_refused(run("advise", "CartPole-v1", demos["car"]), "another environment")
    assert_refused(run("advise", "MountainCar-v0", demos["car"], "--seconds", "nan"), "--seconds")
    assert_refused(run("advise", "MountainCar-v0", demos["car"], "--rollouts", "0"), "--rollouts")
