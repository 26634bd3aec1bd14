"""`backplay experiments` and `backplay reproduce`: what they run, print, write and refuse."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType

import pytest
from cli_results import Run, assert_refused

import pretend_process
from backplay.cli import reproduce as command
from backplay.paper import catalogue
from backplay.paper.experiment import Experiment
from backplay.paper.maze.job import MazeJob
from backplay.report.claims import Claim, Final
from backplay.runs import open_run
from backplay.runs.processes import LocalPool
from backplay.train.job import Job

SETTING = "Optimal, 4 mazes, 8x8"


def tiny_jobs(scale: float, seeds: int) -> list[Job]:
    frames = round(819_200 * scale)
    return [
        MazeJob(
            regime="backplay", seed=s, frames=frames, mazes=4, held_out=1, evaluations=4, size=8
        )
        for s in range(seeds)
    ]


class TenSecondsEach(Experiment):
    def seconds(self, jobs: Sequence[Job]) -> float:
        return 10.0 * len(jobs)


TINY = TenSecondsEach(
    name="tiny",
    title="four small mazes",
    where="ours",
    about="Small enough for a test.",
    scale=0.05,
    seeds=2,
    jobs=tiny_jobs,
    claims=(
        Claim(
            text="Backplay gets there",
            where="here",
            quantity=Final(SETTING, "backplay", "success"),
            holds="at least",
            target=0.5,
        ),
    ),
    figures=("curves",),
)
TINY_MODULE = ModuleType("backplay.paper.tiny.experiments")
TINY_MODULE.EXPERIMENTS = (TINY,)
FOLDER = Path("runs/tiny/scale-0.05")
NAMES = [job.name for job in tiny_jobs(0.05, 2)]


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue.FOLDERS, "tiny", ("tiny",))
    monkeypatch.setitem(sys.modules, "backplay.paper.tiny.experiments", TINY_MODULE)


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Workers that do not train; the sizes of the crews that were asked for."""
    sizes: list[int] = []

    def pool(size: int) -> LocalPool:
        sizes.append(size)
        return LocalPool(size, pretend_process.command)

    monkeypatch.setattr(command, "LocalPool", pool)
    return sizes


def test_experiments_are_listed_with_their_cost(run: Run) -> None:
    result = run("experiments")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[0].split() == ["name", "what", "runs", "frames", "each", "one", "core"]
    (line,) = [line for line in lines if line.startswith("tiny ")]
    assert " ".join(line.split()) == "tiny four small mazes (ours) 2 40,960 20 s"
    assert {line.split()[0] for line in lines[1:-2]} == set(catalogue.names())


def test_one_experiment_in_detail(run: Run) -> None:
    result = run("experiments", "tiny")
    assert result.code == 0, result.err
    assert "2 runs at scale 0.05, 20 s on one core" in result.out
    assert f"{SETTING}  backplay  {NAMES[0]} …  40,960      2" in result.out
    assert "Backplay gets there (here)\n      holds if at least 0.5\n" in result.out


def test_every_experiment_can_be_shown(run: Run) -> None:
    for experiment in catalogue.experiments():
        result = run("experiments", experiment.name)
        assert result.code == 0, result.err
        assert all(claim.text in result.out for claim in experiment.claims)


def test_all_runs_then_the_page(run: Run, pretended: list[int]) -> None:
    each = tiny_jobs(0.05, 1)[0].seconds
    result = run("reproduce", "tiny", "--jobs", "2")
    assert result.code == 0, result
    assert pretended == [2]
    assert f"2 runs, 0 of them done, 2 at once; about {each:.0f} s" in result.err
    for name in NAMES:
        assert open_run(FOLDER / name).result == {"measures": {"success": 1.0}}
        made = open_run(FOLDER / name).provenance["command"]
        assert made == "backplay reproduce tiny --scale 0.05 --seeds 2 --jobs 2"
        assert f"{name}: done, 100% from the true start" in result.err
    page = (FOLDER / "report" / "index.html").read_text()
    assert "Backplay gets there" in page
    assert (FOLDER / "report" / "curves.png").exists()
    assert "holds" in result.out
    assert result.out.endswith(f"Open {FOLDER / 'report' / 'index.html'}.\n")


def test_what_is_done_is_left_alone_and_seeds_are_added(run: Run, pretended: list[int]) -> None:
    run("reproduce", "tiny", "--seeds", "1")
    result = run("reproduce", "tiny", "--seeds", "2")
    assert result.code == 0
    assert "2 runs, 1 of them done" in result.err
    assert [len((FOLDER / name / "attempts").read_text()) for name in NAMES] == [1, 1]


def test_scales_are_kept_apart(run: Run, pretended: list[int]) -> None:
    run("reproduce", "tiny", "--seeds", "1")
    assert run("reproduce", "tiny", "--seeds", "1", "--scale", "0.1").code == 0
    config = open_run(Path("runs/tiny/scale-0.1") / NAMES[0]).config
    assert config["job"]["frames"] == 81_920


def test_a_run_that_fails_is_told_and_the_others_go_on(
    run: Run, pretended: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("reproduce", "tiny", "--prepare-only")
    bad = FOLDER / NAMES[0]
    monkeypatch.setattr(
        pretend_process,
        "command",
        lambda path: [sys.executable, "-c", "import sys; print('bad'); sys.exit(2)"],
    )
    config = json.loads((bad / "config.json").read_text())
    result = run("reproduce", "tiny")
    assert result.code == 1, result
    assert f"{NAMES[0]}: failed: bad" in result.err
    assert f"failed: {NAMES[1]}: bad" in result.out
    assert "2 of 2 runs are not finished" in result.out
    assert json.loads((bad / "config.json").read_text()) == config


def test_prepare_only_says_what_to_run(run: Run, pretended: list[int]) -> None:
    result = run("reproduce", "tiny", "--prepare-only", "--dir", "my runs")
    assert (result.code, pretended) == (0, [])
    paths = [f"my runs/tiny/scale-0.05/{name}" for name in NAMES]
    assert result.out.splitlines() == [f"backplay work '{path}'" for path in paths]
    assert all(open_run(Path(path)).result is None for path in paths)


def test_report_only_takes_what_is_there(run: Run, pretended: list[int]) -> None:
    result = run("reproduce", "tiny", "--report-only")
    assert result.code == 0
    assert "not run" in result.out
    assert "2 of 2 runs are not finished" in result.out
    run("reproduce", "tiny", "--seeds", "1")
    result = run("reproduce", "tiny", "--report-only")
    assert "one seed" in result.out
    assert "1 of 2 runs are not finished" in result.out
    assert not (FOLDER / NAMES[1]).exists()


def test_a_directory_of_another_job_fails_alone(run: Run, pretended: list[int]) -> None:
    run("reproduce", "tiny", "--scale", "0.1", "--prepare-only")
    Path("runs/tiny/scale-0.1").rename("runs/tiny/scale-0.05")
    result = run("reproduce", "tiny")
    assert result.code == 1, result
    assert re.search(rf"failed: {NAMES[0]}: .*another run", result.out)


def test_nonsense_is_refused_in_one_line(run: Run) -> None:
    assert_refused(run("reproduce", "tinny"), "Did you mean 'tiny'?")
    assert_refused(run("experiments", "xyzzy"), "See backplay experiments.")
    for scale in ("0", "-1", "nan", "inf", "2"):
        assert_refused(run("reproduce", "tiny", "--scale", scale), "--scale")
    assert_refused(run("reproduce", "tiny", "--seeds", "0"), "--seeds")
    assert_refused(run("reproduce", "tiny", "--jobs", "0"), "--jobs")
    assert_refused(run("reproduce", "tiny", "--ray", "a", "b"), "--ray")
    assert_refused(run("reproduce", "tiny", "--ray", "--report-only"), "--report-only")
    Path("file").touch()
    assert_refused(run("reproduce", "tiny", "--dir", "file"), "--dir")
    assert not Path("runs").exists()


def test_ray_that_is_not_there_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    hidden = lambda name, *more: None if name == "ray" else found(name, *more)  # noqa: E731
    monkeypatch.delitem(sys.modules, "backplay.integrations.ray", raising=False)
    monkeypatch.setattr("backplay.extras.find_spec", hidden)
    assert_refused(run("reproduce", "tiny", "--ray"), "ray is not installed", "backplay[ray]")


def test_a_second_ctrl_c_stops_at_once(
    run: Run, pretended: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[bool] = []

    class Deaf(LocalPool):
        def stop(self) -> None:
            assert len(self.pids) == 2

        def kill(self) -> None:
            super().kill()
            killed.append(True)

    sleeping = [sys.executable, "-c", "import time; time.sleep(10)"]
    monkeypatch.setattr(command, "LocalPool", lambda size: Deaf(size, lambda path: sleeping))
    monkeypatch.setattr(command, "interrupts", lambda *_, **__: nullcontext([2, 2]))
    result = run("reproduce", "tiny", "--jobs", "2")
    assert result.code == 130
    assert "stopped, 0 of 2 runs are done" in result.out
    assert "once more to stop at once" in result.err
    assert killed


PARENT = """
import sys
from backplay.cli import main, reproduce
from backplay.paper.catalogue import FOLDERS
from backplay.runs.processes import LocalPool
sys.path[:0] = {paths!r}
import pretend_process, test_reproduce
FOLDERS["tiny"] = ("tiny",)
sys.modules["backplay.paper.tiny.experiments"] = test_reproduce.TINY_MODULE
pretend_process_command = lambda path: [*pretend_process.command(path), "0.3"]
reproduce.LocalPool = lambda size: LocalPool(size, pretend_process_command)
sys.exit(main(["reproduce", "tiny", "--jobs", "2"]))
"""


def start_slowly(folder: Path) -> subprocess.Popen[str]:
    """`backplay reproduce tiny` whose workers take 3 seconds, once both are at work."""
    paths = [str(Path(pretend_process.__file__).parent), str(Path(__file__).parent)]
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(paths=paths)],
        cwd=folder, stdout=-1, stderr=-1, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not all((folder / FOLDER / name / "metrics.jsonl").exists() for name in NAMES):
        assert time.monotonic() < deadline
        assert parent.poll() is None, parent.communicate()
        time.sleep(0.05)
    return parent


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_the_same_command_goes_on(
    run: Run, pretended: list[int], tmp_path: Path, number: int
) -> None:
    parent = start_slowly(tmp_path)
    parent.send_signal(number)
    out, err = parent.communicate(timeout=30)
    assert parent.returncode == 128 + number
    assert "the runs are being saved" in err
    assert "Traceback" not in err
    words = "  backplay reproduce tiny --scale 0.05 --seeds 2 --jobs 2\n"
    assert out.endswith(f"stopped, 0 of 2 runs are done; to resume the others:\n{words}")
    for name in NAMES:
        loaded = open_run(FOLDER / name).load()
        assert open_run(FOLDER / name).metrics()[-1]["frames"] == loaded.state["frames"] < 100
    assert run(*words.split()[1:]).code == 0
    for name in NAMES:
        assert [line["frames"] for line in open_run(FOLDER / name).metrics()] == [
            *range(10, 110, 10)
        ]


@pytest.mark.slow
def test_a_killed_parent_leaves_nobody_behind(
    run: Run, pretended: list[int], tmp_path: Path
) -> None:
    parent = start_slowly(tmp_path)
    pids = [json.loads((FOLDER / name / "lock").read_text())["pid"] for name in NAMES]
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 60
    while any(works(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    # They did not come to their end: they were ended.
    assert [name for name in NAMES if open_run(FOLDER / name).result is not None] == []
    assert run("reproduce", "tiny").code == 0


def works(pid: int) -> bool:
    """Whether a process is there and no mere zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
