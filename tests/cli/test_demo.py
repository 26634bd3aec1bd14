"""`backplay demo` with tiny budgets: the page, the table, Ctrl-C, refusals."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backplay.cli.demo import DemoConfig, _command, _record, demo
from backplay.cli.race import REGIMES, Task, Update, make_env, race
from backplay.errors import BackplayError
from backplay.train import TrainConfig
from backplay.ui.standings import Standings


def test_the_only_reward_is_at_the_flag(tmp_path: Path) -> None:
    demonstration = _record(tmp_path)
    assert demonstration.terminated
    assert demonstration.rewards.sum() == demonstration.rewards[-1] == 1.0
    env = make_env()
    env.reset(seed=0)
    assert env.step(1)[1] == 0.0


def test_the_command_is_what_was_asked_for() -> None:
    assert _command(DemoConfig()) == "backplay demo"
    config = DemoConfig(out=Path("a b"), seeds=1, jobs=4)
    assert _command(config) == "backplay demo --out 'a b' --seeds 1 --jobs 4"


@pytest.mark.parametrize("name", ["frames", "seeds", "jobs", "episodes"])
def test_budgets_below_one_are_refused(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(BackplayError, match=name):
        demo(DemoConfig(out=out, **{name: 0}))
    assert not out.exists()


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "thesis.tex"
    other.write_text("mine")
    for out in (tmp_path, other):
        with pytest.raises(BackplayError, match="nothing was written"):
            demo(DemoConfig(out=out))
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_standings_sum_frames_over_seeds_and_list_success_by_seed() -> None:
    standings = Standings(REGIMES, 1_000, 2)
    standings.take(Update("Backplay", 1, 500, 90.0, 0.5, "[0, 4) steps back"))
    standings.take(Update("Backplay", 0, 1_024, 80.0, 1.0, "initial state"))
    standings.take(Update("Uniform", 0, 100, 70.0, None, "anywhere"))
    backplay, uniform, standard, everything = standings.lines()
    assert "1,500 of 2,000 frames" in backplay
    assert "90/s" in backplay  # seed 0 is done
    assert "true start 100% 50%" in backplay
    assert backplay.endswith("starts: initial state")
    assert "true start –" in uniform
    assert standard.endswith("waiting")
    assert "1,600 of 6,000 frames" in everything
    assert everything.endswith("left")
    assert standings.table().row_count == 4


@pytest.mark.slow
def test_a_tiny_demo_writes_everything_and_prints_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "demo"
    config = DemoConfig(out=out, frames=4_096, seeds=1, jobs=2, episodes=8)
    assert demo(config) == 0
    printed = capsys.readouterr().out
    for regime in REGIMES:
        assert f"\n{regime}" in printed
    assert "success from the true start" in printed
    assert f"Open {out / 'index.html'}" in printed
    assert sorted(file.name for file in out.iterdir()) == [
        "demo.npz", "demo.png", "index.html", "result.json",
    ]  # fmt: skip
    result = json.loads((out / "result.json").read_text())
    assert [run["regime"] for run in result["runs"]] == list(REGIMES)
    for run in result["runs"]:
        assert run["frames"][-1] == 4_096
        assert run["episodes"] == 8
        assert sum(map(sum, run["starts"]["episodes"])) > 0
        assert run["positions"][0] == pytest.approx(result["demo_positions"][0])
    standard = next(run for run in result["runs"] if run["regime"] == "Standard")
    assert sum(sum(column[1:]) for column in standard["starts"]["episodes"]) == 0
    assert "Backplay" in (out / "index.html").read_text()
    assert (out / "demo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_race_that_is_closed_leaves_no_process(tmp_path: Path) -> None:
    _record(tmp_path)
    config = TrainConfig(frames=10**7)
    updates = race([Task(regime, config, tmp_path / "demo.npz") for regime in REGIMES], jobs=2)
    assert next(updates).frames > 0
    assert multiprocessing.active_children()
    updates.close()
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_a_worker_that_fails_says_why(tmp_path: Path) -> None:
    task = Task("Standard", TrainConfig(frames=2_048), tmp_path / "missing.npz")
    with pytest.raises(RuntimeError, match="There is no file"):
        list(race([task], jobs=1))


@pytest.mark.slow
def test_ctrl_c_stops_without_a_trace(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    process = subprocess.Popen(
        [sys.executable, "-m", "backplay.cli.demo", "--out", str(out), "--frames", "10000000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout
    assert "at a time" in process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    # Returns when nobody holds the pipes any more: the workers have gone too.
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "stopped" in printed
    assert "Traceback" not in errors
    assert not (out / "index.html").exists()
