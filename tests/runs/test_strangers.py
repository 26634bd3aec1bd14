"""Run directories of strangers: no link in them is followed, nothing of the user's is deleted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from made_runs import live, state_at

from backplay import runs
from backplay.errors import BackplayError
from backplay.runs.processes import Planned, RunProcess
from backplay.runs.standing import read_standing

PRECIOUS = b"what somebody has written\n"


def work_in(path: Path) -> None:
    """All that a process does in a run directory that it finds."""
    run = runs.open_run(path)
    with run.locked():
        run.resume()
        run.begin_process()
        run.append_metrics({"frames": 12})
        run.save(state_at(12))
        run.tick(12, 3.0)
        run.finish({"frames": 12})


@pytest.mark.parametrize("name", ["lock", "processes.jsonl", "metrics.jsonl", "clock.jsonl"])
def test_a_file_that_is_a_link_is_refused_and_its_target_left(tmp_path: Path, name: str) -> None:
    live(tmp_path / "run", 0, finished=False)
    target = tmp_path / "precious.txt"
    target.write_bytes(PRECIOUS)
    (tmp_path / "run" / name).unlink(missing_ok=True)
    (tmp_path / "run" / name).symlink_to(target)
    with pytest.raises(BackplayError, match=rf"{name} (is a link|.*cannot be)"):
        work_in(tmp_path / "run")
    assert target.read_bytes() == PRECIOUS


def test_a_folder_of_checkpoints_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """Else the oldest of somebody's checkpoints would go."""
    live(tmp_path / "theirs", 0, finished=False)
    live(tmp_path / "run", 0, finished=False)
    folder = tmp_path / "run" / "checkpoints"
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    folder.symlink_to(tmp_path / "theirs" / "checkpoints")
    before = {file: file.read_bytes() for file in (tmp_path / "theirs").rglob("*.safetensors")}
    run = runs.open_run(tmp_path / "run")
    for use in (run.load, run.resume, lambda: run.save(state_at(99))):
        with pytest.raises(BackplayError, match="checkpoints is a link"):
            use()
    assert before == {
        file: file.read_bytes() for file in (tmp_path / "theirs").rglob("*.safetensors")
    }


def _all_that_it_says(path: Path) -> Any:
    run = runs.open_run(path)
    return run.result, run.provenance


@pytest.mark.parametrize("name", ["config.json", "result.json", "provenance.json"])
def test_documents_behind_links_are_not_read(tmp_path: Path, name: str) -> None:
    live(tmp_path / "run", 0)
    file = tmp_path / "run" / name
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(BackplayError, match=f"{name} is a link"):
        _all_that_it_says(tmp_path / "run")


def test_a_link_to_a_run_directory_is_the_users_own_word(tmp_path: Path) -> None:
    live(tmp_path / "real", 0, finished=False)
    (tmp_path / "run").symlink_to(tmp_path / "real")
    work_in(tmp_path / "run")
    assert runs.open_run(tmp_path / "real").result == {"frames": 12}


def test_the_words_of_a_process_go_into_no_link_and_no_pipe_is_waited_for(tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"
    target.write_bytes(PRECIOUS)
    (tmp_path / "process.log").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        RunProcess(tmp_path, ["true"])
    assert target.read_bytes() == PRECIOUS
    os.mkfifo(tmp_path / "metrics.jsonl")
    planned: Any = Planned(name="x", path=tmp_path, frames=9)
    assert read_standing(planned).frames == 0


@pytest.mark.parametrize("mine", ["lock", "demonstrations/0.npz", "provenance.json", ".hidden"])
def test_a_directory_that_is_not_ours_is_never_cleared(tmp_path: Path, mine: str) -> None:
    file = tmp_path / "run" / mine
    file.parent.mkdir(parents=True)
    file.write_bytes(PRECIOUS)
    with pytest.raises(BackplayError, match="not empty"):
        runs.create(tmp_path / "run", {"a": 1})
    assert file.read_bytes() == PRECIOUS
    assert [*(tmp_path / "run").rglob("*")] == [file] or file.parent.name == "demonstrations"


def test_a_creation_that_fails_leaves_a_folder_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(BackplayError, match="cannot be copied"):
        runs.create(tmp_path / "run", {"a": 1}, [tmp_path / "none.npz"])
    assert [*tmp_path.iterdir()] == [tmp_path / "run"]
    assert [*(tmp_path / "run").iterdir()] == []


@pytest.mark.parametrize("digests", [3, 0.5, None, {"a": 1}, "x", [1], [[]]])
def test_digests_that_are_none_are_damage(tmp_path: Path, digests: Any) -> None:
    run = runs.create(tmp_path / "run", {"a": 1, "demonstrations": digests})
    with pytest.raises(BackplayError, match=r"damaged|lost its demonstrations"):
        print(run.demonstrations)
