"""Run directories: made whole or not at all, found again, never put where something is."""

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_runs import contents

from backplay import runs
from backplay.errors import BackplayError
from backplay.runs import provenance


@pytest.fixture
def run(tmp_path: Path) -> runs.Run:
    demo = tmp_path / "demo.npz"
    demo.write_bytes(b"a demonstration")
    return runs.create(tmp_path / "run", {"env": "X-v0", "pair": (1, 2)}, [demo, demo])


def test_a_run_is_found_again(run: runs.Run) -> None:
    again = runs.open_run(run.path)
    assert again == run
    digest = hashlib.sha256(b"a demonstration").hexdigest()
    assert again.config == {"env": "X-v0", "pair": [1, 2], "demonstrations": [digest] * 2}
    assert [file.read_bytes() for file in again.demonstrations] == [b"a demonstration"] * 2
    assert runs.is_run(run.path)
    assert not runs.is_run(run.path.parent)


def test_a_young_run_has_nothing_yet(run: runs.Run) -> None:
    assert run.load() is None
    assert run.resume() is None
    assert run.metrics() == []
    assert run.result is None
    assert run.seconds == 0
    assert not run.checkpoint.exists()


def test_many_demonstrations_keep_their_order(tmp_path: Path) -> None:
    files = [tmp_path / f"{chr(97 + i)}.npz" for i in range(12)]
    for i, file in enumerate(files):
        file.write_text(str(i))
    run = runs.create(tmp_path / "run", {}, files)
    assert [file.read_text() for file in run.demonstrations] == [str(i) for i in range(12)]


def test_other_demonstrations_than_it_began_with_are_refused(run: runs.Run) -> None:
    file = run.path / "demonstrations" / "1.npz"
    file.write_bytes(b"a Demonstration")
    with pytest.raises(BackplayError, match="another file than the run began with"):
        _ = run.demonstrations
    file.unlink()
    with pytest.raises(BackplayError, match="lost its demonstrations"):
        _ = run.demonstrations


def test_everyone_who_works_on_a_run_is_noted(run: runs.Run) -> None:
    run.begin_process()
    run.begin_process(["a checkpoint was passed over"])
    assert [one["notes"] for one in run.processes()] == [[], ["a checkpoint was passed over"]]
    assert run.processes()[0]["versions"]["numpy"] == np.__version__


def test_where_a_run_comes_from_is_kept(tmp_path: Path) -> None:
    told = runs.create(tmp_path / "run", {}, command="backplay reproduce maze").provenance
    assert told["command"] == "backplay reproduce maze"
    assert told["versions"]["numpy"] == np.__version__
    assert {"python", "backplay", "torch", "numpy", "numba", "gymnasium"} <= set(told["versions"])
    assert told["cores"] == os.cpu_count()
    assert provenance.gather()["command"]


def test_a_commit_is_told_only_of_the_repository_a_file_belongs_to(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        command = ["git", "-C", str(tmp_path), *who, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    ours, other = tmp_path / "ours.py", tmp_path / "installed.py"
    ours.write_text("1")
    other.write_text("2")
    assert provenance.commit_of(ours) is None
    git("init", "-q")
    git("add", "ours.py")
    git("commit", "-qm", "one")
    assert provenance.commit_of(ours) == git("rev-parse", "HEAD")
    assert provenance.commit_of(other) is None
    ours.write_text("3")
    assert provenance.commit_of(ours) == git("rev-parse", "HEAD") + "+"


def test_a_result_comes_back_and_belongs_to_its_run(run: runs.Run, tmp_path: Path) -> None:
    run.finish({"measures": {"a": float("nan"), "b": np.float32(0.5)}, "counts": np.arange(2)})
    assert run.result == {"measures": {"a": None, "b": 0.5}, "counts": [0, 1]}
    json.loads((run.path / "result.json").read_text(), parse_constant=pytest.fail)
    other = runs.create(tmp_path / "other", {"env": "Y-v0"})
    for name in ("result.json", "provenance.json"):
        (other.path / name).write_bytes((run.path / name).read_bytes())
    with pytest.raises(BackplayError, match=r"result\.json is damaged.*another run.*Remove it"):
        _ = other.result
    with pytest.raises(BackplayError, match=r"provenance\.json is damaged.*another run.*Remove"):
        _ = other.provenance
    with pytest.raises(BackplayError, match="'sha256'"):
        run.finish({"sha256": 3})
    with pytest.raises(BackplayError, match="cannot be written as JSON"):
        run.finish({"a": object()})
    assert run.result is not None


def test_nothing_is_put_where_something_is(run: runs.Run, tmp_path: Path) -> None:
    for path in (run.path, tmp_path / "demo.npz", tmp_path):
        before = contents(tmp_path)
        with pytest.raises(BackplayError, match="is not empty"):
            runs.create(path, {}, [])
        assert contents(tmp_path) == before
    (tmp_path / "empty").mkdir()
    runs.create(tmp_path / "empty", {}, [])


@pytest.mark.parametrize("config", [{"a": float("nan")}, {"a": object()}, {"format": 1}])
def test_a_config_that_would_not_come_back_leaves_nothing(tmp_path: Path, config: Any) -> None:
    with pytest.raises(BackplayError):
        runs.create(tmp_path / "run", config)
    with pytest.raises(BackplayError, match=r"none\.npz cannot be copied.*No such file"):
        runs.create(tmp_path / "run", {}, [tmp_path / "none.npz"])
    (tmp_path / "file").touch()
    with pytest.raises(BackplayError, match="cannot be written"):
        runs.create(tmp_path / "file" / "run", {})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_a_killed_creation_left_is_replaced(run: runs.Run, tmp_path: Path) -> None:
    (run.path / "config.json").unlink()
    (run.path / ".backplay-unfinished").touch()
    left = run.path / ".config.json.0123456789ab"
    left.touch()
    with pytest.raises(BackplayError, match="is no run"):
        runs.open_run(run.path)
    again = runs.create(run.path, {"env": "Z-v0"}, [tmp_path / "demo.npz"])
    assert [file.name for file in again.demonstrations] == ["0.npz"]
    assert not left.exists()
    # What looks like it but may be somebody's own is left alone.
    (run.path / "config.json").unlink()
    (run.path / "demonstrations" / "mine.npz").touch()
    with pytest.raises(BackplayError, match="other files"):
        runs.create(run.path, {})
    (tmp_path / "mine" / "demonstrations").mkdir(parents=True)
    (tmp_path / "mine" / "demonstrations" / "0.npz").touch()
    with pytest.raises(BackplayError, match="other files"):
        runs.create(tmp_path / "mine", {})


def test_what_is_no_run_is_refused(run: runs.Run, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "demo.npz", tmp_path / "nowhere"):
        with pytest.raises(BackplayError, match="is no run"):
            runs.open_run(path)
    file = run.path / "config.json"
    whole = file.read_text()
    for text, said in (
        ("{", "damaged"),
        ("[]", "damaged"),
        ("{}", "damaged"),
        ("[" * 100_000, "damaged"),
        ('{"format": 9}', "9"),
        (whole.replace("X-v0", "Y-v0"), "damaged"),
    ):
        file.write_text(text)
        with pytest.raises(BackplayError, match=said):
            runs.open_run(run.path)
    file.write_text(json.dumps(json.loads(whole)))  # the layout does not matter
    assert runs.open_run(run.path) == run
