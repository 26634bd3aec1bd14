"""One worker: its leash, its threads, its words."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pretend_process
from backplay.runs import open_run
from backplay.runs.processes import RunProcess
from pretend_process import make_task

PARENT = """
import sys, time
from pathlib import Path
sys.path.insert(0, {here!r})
from pretend_process import command
from backplay.runs.processes import Planned
from backplay.runs.processes import LocalPool
from backplay.runs.sweep import Sweep
pool = LocalPool(2, command)
for name in ("a", "b"):
    pool.start(Planned(name=name, path=Path({folder!r}) / name, frames=100))
time.sleep(60)
"""


def wait_for(what: object, seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def free(path: Path) -> bool:
    """Whether nobody works in a run directory."""
    from backplay.errors import BackplayError

    try:
        with open_run(path).locked():
            return True
    except BackplayError:
        return False


@pytest.mark.parametrize("deaf", [False, True])
def test_no_worker_outlives_a_killed_parent(tmp_path: Path, deaf: bool) -> None:
    tasks = [make_task(tmp_path, name, pause=1.0, deaf=deaf) for name in "ab"]
    code = PARENT.format(here=str(Path(pretend_process.__file__).parent), folder=str(tmp_path))
    parent = subprocess.Popen([sys.executable, "-c", code])
    try:
        wait_for(lambda: all((task.path / "metrics.jsonl").exists() for task in tasks))
        assert not any(free(task.path) for task in tasks)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    wait_for(lambda: all(free(task.path) for task in tasks), seconds=2.0)


def test_a_worker_has_one_thread_and_a_group_of_its_own(tmp_path: Path) -> None:
    code = "import os; print(os.environ['OMP_NUM_THREADS'], os.getpgid(0) == os.getpid())"
    worker = RunProcess(tmp_path, [sys.executable, "-c", code])
    assert worker.wait() == 0
    assert worker.words() == "1 True"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; print('backplay: bad', file=sys.stderr); sys.exit(2)", "bad"),
        ("raise ValueError('why')", "ValueError: why"),
        ("import os; os.kill(os.getpid(), 15)", "killed by SIGTERM"),
        ("import os; os._exit(7)", "exit code 7"),
    ],
)
def test_the_last_words_say_why(tmp_path: Path, code: str, words: str) -> None:
    (tmp_path / "process.log").write_text("what another worker has said\n")
    worker = RunProcess(tmp_path, [sys.executable, "-c", code])
    worker.wait()
    assert worker.words() == words
    assert (tmp_path / "process.log").read_text().startswith("what another worker has said\n")


@pytest.mark.slow
def test_the_real_command_refuses_what_is_no_run(tmp_path: Path) -> None:
    from backplay.runs.processes import process_command

    worker = RunProcess(tmp_path, process_command(tmp_path / "none"))
    assert worker.wait() == 2
    assert "none is no run" in worker.words()
    assert os.listdir(tmp_path) == ["process.log"]
