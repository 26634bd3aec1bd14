"""`backplay demo` with tiny budgets: the page, the table, Ctrl-C, refusals."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backplay.cli.demo import DemoConfig, demo
from backplay.cli.options import command_of
from backplay.errors import BackplayError
from backplay.paper.demo.job import REGIMES, TASK, DemoJob
from backplay.runs import open_run


def test_the_only_reward_is_at_the_flag() -> None:
    demonstration = TASK.demonstrate()
    assert demonstration.terminated
    assert demonstration.rewards.sum() == demonstration.rewards[-1] == 1.0
    env = TASK.make()
    env.reset(seed=0)
    assert env.step(1)[1] == 0.0


def test_the_command_is_what_was_asked_for() -> None:
    assert command_of("backplay demo", DemoConfig()) == "backplay demo"
    config = DemoConfig(out=Path("a b"), seeds=1, jobs=4)
    assert command_of("backplay demo", config) == "backplay demo --out 'a b' --seeds 1 --jobs 4"


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


def test_its_jobs_are_those_of_the_experiment() -> None:
    from backplay.paper.catalogue import experiment

    jobs = experiment("demo").jobs(1.0, 3)
    default = DemoConfig()
    assert jobs == [
        DemoJob(regime=regime, seed=seed, frames=default.frames, episodes=default.episodes)
        for seed in range(default.seeds)
        for regime in REGIMES
    ]


@pytest.mark.slow
def test_a_tiny_demo_writes_everything_and_prints_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "demo"
    config = DemoConfig(out=out, frames=4_096, seeds=1, jobs=2, episodes=8)
    assert demo(config) == 0
    printed, progress = capsys.readouterr()
    assert "3 runs, 0 of them done, 2 at once" in progress
    for regime in REGIMES:
        assert f"  {regime} " in printed
    assert printed.endswith(f"Open {out / 'index.html'}\n")
    names = {file.name for file in out.iterdir()}
    assert {"index.html", "result.json", "demo.png", "curves.png", "bars.svg", "runs"} < names
    result = json.loads((out / "result.json").read_text())
    assert [run["regime"] for run in result["runs"]] == list(REGIMES)
    folder = out / "runs" / "4096-frames-8-episodes"
    for regime in REGIMES:
        run = open_run(folder / f"{regime}-0")
        assert run.result["episodes"] == 8
        assert run.metrics()[-1]["frames"] == 4_096
    # Standard starts from the true start alone, which is counted apart.
    lines = open_run(folder / "standard-0").metrics()
    assert {row[0] for line in lines for row in line["by_steps_back"]} == {-1}
    page = (out / "index.html").read_text()
    assert "backplay demo --out" in page
    assert (out / "demo.png").read_bytes().startswith(b"\x89PNG")
    # The same command finds the runs done, and its own files may be replaced.
    assert demo(config) == 0
    assert "3 runs, 3 of them done" in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    words = ["demo", "--out", str(out), "--frames", "10000000", "--jobs", "1", "--seeds", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "backplay.cli", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 100
    run = out / "runs" / "10000000-frames-100-episodes" / "backplay-0"
    while not (run / "metrics.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    # Returns when nobody holds the pipes any more: the workers have gone too.
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "stopped; no page was written. To go on: backplay demo --out" in printed
    assert "Traceback" not in errors
    assert open_run(run).load() is not None
    assert not (out / "index.html").exists()
