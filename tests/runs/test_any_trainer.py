"""Runs whose trainer is not our loop: reported, saved and resumed by the same code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backplay.errors import BackplayError
from backplay.runs import Run, create
from backplay.runs.execute import drive
from backplay.train.job import progress_line
from backplay.train.progress import Progress

TOTAL = 5


class Counter:
    """A trainer whose whole knowledge is a sum; `saves` says whether it can be saved."""

    exact_resume = True
    total_frames = TOTAL

    def __init__(self, *, saves: bool) -> None:
        self.saves, self.frames, self.sum = saves, 0, 0
        self.begun_at = -1

    def run(self) -> Iterator[Progress]:
        self.begun_at = self.frames
        while self.frames < TOTAL:
            self.frames += 1
            self.sum += self.frames
            yield Progress(
                frames=self.frames, total_frames=TOTAL, finished=self.frames == TOTAL,
                metrics={"sum": float(self.sum)},
            )  # fmt: skip

    def state(self) -> dict[str, Any] | None:
        return {"frames": self.frames, "sum": self.sum} if self.saves else None

    def load_state(self, state: dict[str, Any]) -> None:
        self.frames, self.sum = state["frames"], state["sum"]


class Counting:
    """Its work."""

    def __init__(self, *, saves: bool) -> None:
        self.training = Counter(saves=saves)

    def line(self, progress: Progress) -> dict[str, Any]:
        return progress_line(progress)

    def result(self) -> dict[str, Any]:
        return {"measures": {"sum": float(self.training.sum)}}

    def state(self) -> dict[str, Any]:
        raise AssertionError("something is trained")

    def close(self) -> None: ...


def made(path: Path) -> Run:
    return create(path, {"job": {}, "threads": 1})


@pytest.mark.parametrize("saves", [True, False])
@pytest.mark.parametrize("stopped_at", range(1, TOTAL))
def test_a_stopped_run_ends_as_if_it_never_was(
    tmp_path: Path, saves: bool, stopped_at: int
) -> None:
    whole, stopped = made(tmp_path / "whole"), made(tmp_path / "stopped")
    assert drive(whole, Counting(saves=saves))
    first = Counting(saves=saves)
    assert not drive(stopped, first, stop=lambda: first.training.frames == stopped_at)
    assert stopped.checkpoint.exists() == saves
    second = Counting(saves=saves)
    assert drive(stopped, second)
    assert second.training.begun_at == (stopped_at if saves else 0)
    for name in ("metrics.jsonl", "result.json"):
        assert (stopped.path / name).read_bytes() == (whole.path / name).read_bytes()
    assert stopped.result["measures"] == {"sum": 15.0}
    assert stopped.result["frames"] == TOTAL


def test_one_that_cannot_be_saved_begins_again_when_it_dies_before_its_result(
    tmp_path: Path,
) -> None:
    run, work = made(tmp_path / "run"), Counting(saves=False)

    def dies() -> dict[str, Any]:
        raise BackplayError("no room")

    work.result = dies
    with pytest.raises(BackplayError):
        drive(run, work)
    assert drive(run, Counting(saves=False))
    assert [line["frames"] for line in run.metrics()] == [1, 2, 3, 4, 5]
