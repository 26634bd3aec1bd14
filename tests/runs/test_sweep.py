"""A sweep: everything is carried out once, whoever dies on the way."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backplay.runs import open_run
from backplay.runs.processes import Ended, LocalPool, Planned
from backplay.runs.sweep import Sweep
from pretend_process import FRAMES, attempts, command, make_task


def drive(sweep: Sweep, until: Callable[[], bool] | None = None) -> list[str]:
    """Goes on until it is finished, or `until` says so; the events."""
    events = []
    deadline = time.monotonic() + 30
    while not sweep.finished and not (until and until()):
        events += sweep.step()
        assert time.monotonic() < deadline, events
        time.sleep(0.01)
    return events


def metrics_of(task: Planned) -> bytes:
    return (task.path / "metrics.jsonl").read_bytes()


@pytest.fixture
def undisturbed(tmp_path: Path) -> bytes:
    """The metrics of a run that nobody disturbs."""
    task = make_task(tmp_path / "alone", "alone")
    drive(Sweep([task], LocalPool(1, command)))
    assert len(metrics_of(task).splitlines()) == FRAMES // 10
    return metrics_of(task)


def test_all_are_carried_out_at_most_two_at_once(tmp_path: Path) -> None:
    tasks = [make_task(tmp_path, name, pause=0.02) for name in "abcd"]
    pool = LocalPool(2, command)
    most = 0

    def look() -> bool:
        nonlocal most
        most = max(most, len(pool.pids))
        return False

    sweep = Sweep(tasks, pool)
    events = drive(sweep, look)
    assert most == 2
    assert sorted(sweep.done) == list("abcd")
    assert sorted(events) == [f"{name}: done, 100% from the true start" for name in "abcd"]
    assert all(open_run(task.path).result for task in tasks)
    overview = sweep.overview()
    assert (overview.done, overview.share, overview.seconds_left) == (4, 1.0, 0.0)


def test_what_is_done_is_left_alone(tmp_path: Path) -> None:
    tasks = [make_task(tmp_path, name) for name in "ab"]
    drive(Sweep(tasks[:1], LocalPool(1, command)))
    sweep = Sweep(tasks, LocalPool(1, command))
    assert sweep.done == ["a"]
    drive(sweep)
    assert sweep.done == ["a", "b"]
    assert [attempts(task) for task in tasks] == [1, 1]


def test_a_killed_worker_is_followed_by_another(tmp_path: Path, undisturbed: bytes) -> None:
    tasks = [make_task(tmp_path, "a", die_at=[10, 50]), make_task(tmp_path, "b")]
    sweep = Sweep(tasks, LocalPool(1, command))
    events = drive(sweep)
    assert sorted(sweep.done) == ["a", "b"]
    assert events[0] == "a: killed by SIGKILL; goes on from the beginning"
    assert events[1] == "a: killed by SIGKILL; goes on from its last checkpoint"
    assert [metrics_of(task) for task in tasks] == [undisturbed, undisturbed]


def test_who_makes_progress_may_die_often(tmp_path: Path, undisturbed: bytes) -> None:
    task = make_task(tmp_path, "a", die_at=[30, 50, 70, 90, 100])
    sweep = Sweep([task], LocalPool(1, command))
    drive(sweep)
    assert attempts(task) == 6
    assert sweep.done == ["a"]
    assert metrics_of(task) == undisturbed


def test_who_makes_none_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    tasks = [make_task(tmp_path, "a", always_die=True), make_task(tmp_path, "b")]
    sweep = Sweep(tasks, LocalPool(1, command))
    drive(sweep)
    assert attempts(tasks[0]) == 4  # and three times again
    assert sweep.failed == {"a": "killed by SIGKILL, 4 times in a row without a new checkpoint"}
    assert sweep.done == ["b"]


def test_bad_input_is_not_tried_again(tmp_path: Path) -> None:
    tasks = [make_task(tmp_path, "a", refuse=True), make_task(tmp_path, "b")]
    sweep = Sweep(tasks, LocalPool(1, command))
    drive(sweep)
    assert attempts(tasks[0]) == 1
    assert sweep.failed == {"a": "this job: expected sense, got nonsense"}
    assert sweep.done == ["b"]
    assert sweep.overview().failed == 1


class Busy:
    """A pool that always finds another process at work, which ends the third time."""

    size = 1

    def __init__(self) -> None:
        self.asked: list[str] = []

    def start(self, task: Planned) -> None:
        self.asked.append(task.name)
        if len(self.asked) == 3:
            open_run(task.path).finish({})

    def ended(self) -> list[Ended]:
        return [Ended(self.asked[-1], 75, "in use")] if self.asked else []

    def stop(self) -> None: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...


def test_a_run_that_another_process_works_on_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backplay.runs.sweep.BUSY_SECONDS", 0.02)
    pool = Busy()
    sweep = Sweep([make_task(tmp_path, "a")], pool)
    events = drive(sweep)
    assert pool.asked == ["a"] * 3
    assert events[0] == "a: in use; waiting, it is tried again"
    assert events[1].startswith("a: done")
    assert len(events) == 2
    assert sweep.done == ["a"]
    assert not sweep.failed


def test_a_directory_that_cannot_be_read_fails_alone(tmp_path: Path) -> None:
    tasks = [make_task(tmp_path, name) for name in "ab"]
    (tasks[0].path / "config.json").write_text("{")
    sweep = Sweep(tasks, LocalPool(1, command))
    drive(sweep)
    assert list(sweep.failed) == ["a"]
    assert sweep.done == ["b"]


def test_a_command_that_does_not_exist_fails(tmp_path: Path) -> None:
    sweep = Sweep([make_task(tmp_path, "a")], LocalPool(1, lambda path: ["/does/not/exist"]))
    drive(sweep)
    assert "no process" in sweep.failed["a"]


def test_stopped_workers_save_and_go_on_another_time(tmp_path: Path, undisturbed: bytes) -> None:
    tasks = [make_task(tmp_path, name, pause=0.1) for name in "abc"]
    sweep = Sweep(tasks, LocalPool(2, command))
    drive(sweep, lambda: all(metrics_begun(task) for task in tasks[:2]))
    sweep.stop()
    assert drive(sweep) == []
    assert sweep.done == []
    assert attempts(tasks[2]) == 0
    for task in tasks[:2]:
        loaded = open_run(task.path).load()
        assert 0 < loaded.state["frames"] < FRAMES
    overview = sweep.overview()
    assert (overview.waiting, overview.running) == (3, [])
    drive(Sweep(tasks, LocalPool(3, command)))
    assert [metrics_of(task) for task in tasks] == [undisturbed] * 3


def test_who_does_not_listen_is_killed(tmp_path: Path) -> None:
    task = make_task(tmp_path, "a", pause=0.2, deaf=True)
    pool = LocalPool(1, command)
    sweep = Sweep([task], pool)
    drive(sweep, lambda: metrics_begun(task))
    (pid,) = pool.pids.values()
    sweep.stop()
    sweep.kill()
    assert sweep.finished
    assert not exists(pid)
    pool.close()


def test_a_stop_from_outside_is_no_end(tmp_path: Path, undisturbed: bytes) -> None:
    task = make_task(tmp_path, "a", pause=0.05)
    pool = LocalPool(1, command)
    sweep = Sweep([task], pool)
    drive(sweep, lambda: metrics_begun(task))
    os.kill(pool.pids["a"], signal.SIGTERM)
    events = drive(sweep)
    assert events[0] == "a: stopped by someone else; goes on from its last checkpoint"
    assert sweep.done == ["a"]
    assert metrics_of(task) == undisturbed


def metrics_begun(task: Planned) -> bool:
    file = task.path / "metrics.jsonl"
    return file.exists() and file.stat().st_size > 0


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
