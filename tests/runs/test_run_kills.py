"""Killed at every call of the system, and every call of the system refused: what is saved stays."""

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_runs import RESULT, Life, assert_was_saved, contents, line_at, live, state_at

from backplay import runs
from backplay.errors import BackplayError
from backplay.runs import provenance

CALLS = ("open", "write", "pwrite", "fsync", "replace", "ftruncate", "unlink", "mkdir")
Step = Callable[[], Any]


def go_on(path: Path, life: Life) -> None:
    """Resumes as a worker does and goes on to the end, as `live` did the first time."""
    run = runs.open_run(path)
    with run.locked():
        loaded = run.resume()
        for frames in range(loaded.state["frames"] + 1 if loaded else 1, 10):
            run.append_metrics(line_at(frames))
            if frames % 3 == 0:
                run.tick(frames, frames / 4)
                run.save(state_at(frames))
        run.finish(RESULT)


def begun(path: Path) -> Life:
    """A run with one checkpoint and a torn line after it; with all that it will save."""
    life = live(path.parent / "whole", 0)
    live(path, 0, finished=False, saves=1)
    with (path / "metrics.jsonl").open("ab") as file:
        file.write(b'{"frames": 5, "lo')
    return life._replace(files=contents(path))


@contextmanager
def at_call(monkeypatch: pytest.MonkeyPatch, number: int, do: Step) -> Iterator[list[str]]:
    """Does something instead of the call of the system with this number; the calls so far."""
    made: list[str] = []

    def patched(name: str) -> Any:
        real = getattr(os, name)

        def call(*arguments: Any, **more: Any) -> Any:
            made.append(name)
            if len(made) == number:
                if name == "write":  # half of it goes through
                    handle, data = arguments
                    real(handle, data[: len(data) // 2])
                do()
            return real(*arguments, **more)

        return call

    with monkeypatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, patched(name))
        yield made


def killed(monkeypatch: pytest.MonkeyPatch, number: int, work: Step) -> bool:
    """Works in a process that dies at the call with this number; False if it got to the end."""
    child = os.fork()
    if not child:
        try:
            with at_call(monkeypatch, number, lambda: os._exit(9)):
                work()
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


def test_killed_at_any_call_a_run_ends_as_if_it_never_was(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = quick_path / "run"
    life = begun(path)
    for number in count(1):
        life.write(path)
        if not killed(monkeypatch, number, lambda: go_on(path, life)):
            break
        assert_was_saved(path, life)
        go_on(path, life)
        assert (path / "metrics.jsonl").read_bytes() == life.saved[9].metrics
        assert assert_was_saved(path, life) == 9
        assert runs.open_run(path).result == RESULT
        assert [file.name for file in path.rglob(".*")] == []
    assert number > 40


def test_killed_at_any_call_a_creation_is_whole_or_can_be_made_again(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "gather", lambda command: {"command": command})
    demo = quick_path / "demo.npz"
    demo.write_bytes(b"a demonstration")
    wholes = 0
    for number in count(1):
        path = quick_path / str(number)
        create = partial(runs.create, path, {"a": 1}, [demo, demo])
        if not killed(monkeypatch, number, create):
            break
        if runs.is_run(path):
            wholes += 1
        else:
            create()
        run = runs.open_run(path)
        assert run.config["a"] == 1
        assert [file.read_bytes() for file in run.demonstrations] == [demo.read_bytes()] * 2
        assert run.provenance == {"command": None}
        with run.locked():
            assert [file.name for file in path.rglob(".*")] == []
    assert number > 12
    assert 0 < wholes < number - 8


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
def test_whatever_call_fails_it_is_said_and_nothing_is_lost(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    path = quick_path / "run"
    life = begun(path)

    def fail() -> None:
        raise OSError(code, os.strerror(code))

    number = 0
    refused: list[str] = []
    while True:
        number += 1
        life.write(path)
        with at_call(monkeypatch, number, fail) as made:
            try:
                go_on(path, life)
            except BackplayError as error:
                refused.append(str(error))
        if len(made) < number:
            break
        assert_was_saved(path, life)
        assert b"lo\n" not in (path / "metrics.jsonl").read_bytes()
    assert len(refused) > 15
    words = "no space left" if code == errno.ENOSPC else os.strerror(code)
    for text in refused:
        assert words in text or os.strerror(code) in text
        assert "what was saved is untouched" in text or "nothing was changed" in text


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_on_a_full_disk_the_old_stays_and_the_new_is_refused(tmp_path: Path) -> None:
    run = runs.create(tmp_path / "run", {})
    run.append_metrics({"frames": 1})
    run.save({"frames": 1, "it": np.arange(3)})
    before = contents(run.path)
    large = {"frames": 2, "it": np.zeros(1_000_000)}
    steps: list[Step] = [
        lambda: run.save(large),
        lambda: run.append_metrics({"it": "x" * 5_000_000}),
        lambda: run.finish({"it": "x" * 5_000_000}),
        lambda: runs.create(tmp_path / "other", {"it": "x" * 5_000_000}),
    ]
    with largest_file(4_000_000):
        for step in steps:
            with pytest.raises(BackplayError, match=r"no space left.*Free some.*is untouched"):
                step()
            assert contents(run.path) == before
    assert not (tmp_path / "other").exists()
    run.append_metrics({"frames": 2})
    run.save(large)
    loaded = run.resume()
    assert loaded.state["it"].shape == (1_000_000,)
    assert run.metrics() == [{"frames": 1}, {"frames": 2}]
