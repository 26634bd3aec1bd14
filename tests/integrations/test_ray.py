"""Ray: runs that end with the same bytes, whoever is killed on the way."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import ray

from backplay.errors import BackplayError
from backplay.integrations.ray import Cluster
from backplay.paper.maze.job import MazeJob
from backplay.runs.execute import prepare
from backplay.runs.processes import LocalPool, Planned
from backplay.runs.sweep import Sweep

SEEDS = (0, 1)


def make_tasks(folder: Path, frames: int = 40_960, evaluations: int = 4) -> list[Planned]:
    """Two runs of a few seconds."""
    tasks = []
    for seed in SEEDS:
        job = MazeJob(
            regime="backplay",
            seed=seed,
            frames=frames,
            mazes=4,
            held_out=1,
            evaluations=evaluations,
            size=8,
            effort=0.3,
        )
        prepare(folder / job.name, job)
        tasks.append(Planned(name=job.name, path=folder / job.name, frames=frames))
    return tasks


def drive(sweep: Sweep, until: Callable[[], bool] | None = None) -> list[str]:
    events = []
    deadline = time.monotonic() + 300
    while not sweep.finished and not (until and until()):
        events += sweep.step()
        assert time.monotonic() < deadline, events
        time.sleep(0.05)
    return events


def begun(*tasks: Planned) -> Callable[[], bool]:
    """Whether all of these have saved, and none has ended."""
    return lambda: all(any((task.path / "checkpoints").glob("*.safetensors")) for task in tasks)


def holder(task: Planned) -> int:
    """The process that works on a task."""
    return int(json.loads((task.path / "lock").read_text())["pid"])


def contents(tasks: list[Planned]) -> list[dict[str, bytes]]:
    """All that must not depend on who worked, by task and file."""
    return [
        {
            file.name: file.read_bytes()
            for file in [
                task.path / "metrics.jsonl",
                task.path / "result.json",
                max((task.path / "checkpoints").iterdir()),  # the one before depends on speed
            ]
        }
        for task in tasks
    ]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Two workers on this machine."""
    pool = Cluster(None, 2)
    yield pool
    pool.close()


@pytest.mark.slow
def test_whoever_is_killed_the_bytes_are_those_without_ray(
    tmp_path: Path, cluster: Cluster
) -> None:
    alone = make_tasks(tmp_path / "alone")
    drive(Sweep(alone, LocalPool(2)))
    tasks = make_tasks(tmp_path / "ray")
    sweep = Sweep(tasks, cluster)
    first, second = tasks
    drive(sweep, begun(first, second))
    worker, guarded = holder(first), holder(second)
    guard = int(Path(f"/proc/{guarded}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(worker, signal.SIGKILL)
    os.kill(guard, signal.SIGKILL)  # and with it, by its leash, the worker
    events = drive(sweep)
    assert events[0] == f"{first.name}: killed by SIGKILL; goes on from its last checkpoint"
    assert sorted(sweep.done) == [task.name for task in tasks]
    assert sweep.failed == {}
    assert contents(tasks) == contents(alone)


@pytest.mark.slow
def test_stopped_runs_are_saved(tmp_path: Path, cluster: Cluster) -> None:
    tasks = make_tasks(tmp_path, frames=1_024_000, evaluations=100)
    sweep = Sweep(tasks, cluster)
    drive(sweep, begun(*tasks))
    sweep.stop()
    drive(sweep)
    assert (sweep.done, sweep.failed) == ([], {})
    assert sweep.overview().waiting == 2
    for task in tasks:
        assert "stopped and saved" in (task.path / "process.log").read_text()
        assert (task.path / "lock").read_text() == ""


@pytest.mark.slow
def test_a_directory_that_a_machine_does_not_see_is_refused(
    tmp_path: Path, cluster: Cluster
) -> None:
    cluster.start(Planned(name="a", path=tmp_path / "elsewhere", frames=1))
    ended = []
    while not ended:
        ended = cluster.ended()
        time.sleep(0.05)
    assert (ended[0].name, ended[0].code) == ("a", 2)
    assert "a path that all machines see" in ended[0].words


@pytest.mark.slow
def test_nobody_without_the_token_gets_into_a_cluster_of_our_own(cluster: Cluster) -> None:
    address = ray.get_runtime_context().gcs_address
    join = f"import ray; ray.init(address={address!r}); print(ray.get(ray.put('in')))"
    mine = {key: value for key, value in os.environ.items() if not key.startswith("RAY_AUTH")}
    for other in ({"RAY_AUTH_MODE": "disabled"}, {**TOKEN, "RAY_AUTH_TOKEN": "0" * 64}):
        done = subprocess.run(
            [sys.executable, "-c", join], env=mine | other, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode != 0
        assert "in\n" not in done.stdout
    right = {**TOKEN, "RAY_AUTH_TOKEN": os.environ["RAY_AUTH_TOKEN"]}
    done = subprocess.run(
        [sys.executable, "-c", join], env=mine | right, capture_output=True, text=True, check=True
    )
    assert "in\n" in done.stdout  # so the others were turned away for want of it


@pytest.mark.slow
def test_a_cluster_of_our_own_listens_to_this_machine_alone(cluster: Cluster) -> None:
    pids = {os.getpid()}
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda one: int(one.name)):
        with suppress(OSError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) in pids:
                pids.add(int(folder.name))
    ours = set()
    for pid in pids:
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                ours.add(os.readlink(handle))
    heard = []
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            parts = line.split()
            if parts[3] == "0A" and f"socket:[{parts[9]}]" in ours:
                heard.append(parts[1].partition(":")[0])
    assert len(heard) >= 4  # gcs_server, raylet, this process
    assert all(address.endswith("0100007F") for address in heard), heard


TOKEN = {"RAY_AUTH_MODE": "token"}


def test_a_cluster_that_is_not_there_is_named() -> None:
    with pytest.raises(BackplayError, match=r"No Ray cluster at nowhere") as error:
        Cluster("nowhere-at-all", 1)
    assert "ray start --head" in str(error.value)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "backplay.integrations.ray")
    monkeypatch.setattr("backplay.extras.find_spec", lambda name: None)
    with pytest.raises(BackplayError, match=r"ray is not installed.*backplay\[ray\]"):
        import backplay.integrations.ray  # noqa: F401
