"""Full disks, stale handles and folders in use: a run waits, says so, and ends as it would."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_any_trainer import Counting, made

from backplay.errors import BackplayError, BusyError
from backplay.runs import waiting
from backplay.runs.execute import drive
from backplay.runs.waiting import until_it_works


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.ESTALE])
@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_run_waits_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    whole, waited = made(tmp_path / "whole"), made(tmp_path / "waited")
    drive(whole, Counting(saves=True), save_seconds=0)
    monkeypatch.setattr(waiting, "SECONDS", 0.0)
    real, left = getattr(os, call), [2, 0, 3, 0, 0, 1]

    def full(*arguments: Any, **more: Any) -> Any:
        if left and left[0]:
            left[0] -= 1
            raise OSError(number, os.strerror(number))
        if left:
            left.pop(0)
        return real(*arguments, **more)

    said: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        assert drive(waited, Counting(saves=True), say=said.append, save_seconds=0)
    assert any(line.startswith("waiting: ") for line in said)
    for name in ("metrics.jsonl", "result.json"):
        assert (waited.path / name).read_bytes() == (whole.path / name).read_bytes()
    assert waited.checkpoint.read_bytes() == whole.checkpoint.read_bytes()


def test_whoever_stops_need_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise BusyError("no room")

    said: list[str] = []
    with pytest.raises(BusyError, match="no room"):
        until_it_works(refuse, said.append, stop=lambda: bool(said), seconds=0)
    assert said == ["waiting: no room It is tried again every few seconds."]

    def broken() -> None:
        raise BackplayError("broken")

    with pytest.raises(BackplayError, match="broken"):
        until_it_works(broken, said.append)


SWEEP = """
import sys
from pathlib import Path
from backplay.cli.reproduce import carry_out, planned, prepare_all
from backplay.paper.theory.job import TheoryJob
from backplay.runs.processes import LocalPool
jobs = [TheoryJob(study=name, seed=0, quick=True) for name in sys.argv[2:]]
runs = planned(jobs, Path(sys.argv[1]))
sys.exit(len(prepare_all(jobs, runs, "me")))
"""


def test_several_may_make_the_same_folder_at_once(tmp_path: Path) -> None:
    from backplay.paper.theory.job import STUDIES

    names = [*STUDIES][:3]
    several = [
        subprocess.Popen([sys.executable, "-c", SWEEP, str(tmp_path / "new"), *names])
        for _ in range(4)
    ]
    assert [one.wait() for one in several] == [0] * 4
