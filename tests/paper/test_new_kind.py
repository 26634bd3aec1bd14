"""A new kind of experiment is one folder and one line of the catalogue."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import backplay.paper
from backplay.cli import main
from backplay.paper import catalogue
from backplay.report.reading import read_run
from backplay.runs import open_run
from backplay.runs.execute import carry_out, prepare

JOB = """
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from backplay.report.exhibit import Exhibit, Table
from backplay.train.job import file_name, progress_line
from backplay.train.progress import Progress


@dataclass(frozen=True, kw_only=True)
class Toy:
    kind: ClassVar[str] = "toy"
    measures: ClassVar[tuple[str, ...]] = ("success",)
    curve: ClassVar[tuple[str, ...]] = ("success",)
    seed: int = 0
    frames: int = 3_000
    regime: str = "counting"
    setting: str = "toy"

    @property
    def name(self): return file_name(self.setting, self.regime, self.seed)

    @property
    def seconds(self): return 1.0

    def begin(self, on_progress=None, workers=None, files=()): return Work(self)

    @classmethod
    def exhibit(cls, records):
        rows = tuple((run.name, str(run.measures["success"])) for run in records)
        return Exhibit(tables=(Table("Toys", "All of them.", (("run", "success"), *rows)),))


JOB = Toy


class Work:
    exact_resume = True

    def __init__(self, job):
        self.job, self.frames, self.total_frames, self.training = job, 0, job.frames, self

    def run(self):
        while self.frames < self.total_frames:
            self.frames += 1_000
            yield Progress(
                frames=self.frames, total_frames=self.total_frames,
                finished=self.frames == self.total_frames,
            )

    def line(self, progress):
        share = progress.frames / progress.total_frames
        return {**progress_line(progress), "evaluation": {"success": share}}

    def result(self): return {"measures": {"success": 1.0}}

    def state(self): return {"frames": self.frames}

    def load_state(self, state): self.frames = state["frames"]

    def close(self): pass
"""

EXPERIMENTS = """
from backplay.paper.experiment import Experiment, scaled, seeds_from
from backplay.paper.toy.job import Toy
from backplay.report.claims import Claim, Final

EXPERIMENTS = (
    Experiment(
        name="toys", title="toys", where="ours", about="Nothing but counting.", scale=1.0, seeds=2,
        jobs=lambda scale, seeds: [
            Toy(seed=seed, frames=1_000 * scaled(3, scale)) for seed in seeds_from(0, seeds)
        ],
        claims=(
            Claim(
                text="Toys count", where="ours", quantity=Final("toy", "counting", "success"),
                holds="at least", target=1.0,
            ),
        ),
    ),
)
"""


@pytest.fixture(autouse=True)
def _toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "paper" / "toy"
    folder.mkdir(parents=True)
    for name, text in (("__init__", ""), ("job", JOB), ("experiments", EXPERIMENTS)):
        (folder / f"{name}.py").write_text(text)
    paths = [*backplay.paper.__path__, str(folder.parent)]
    monkeypatch.setattr(backplay.paper, "__path__", paths)
    monkeypatch.setitem(catalogue.FOLDERS, "toy", ("toys",))  # the one line
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.startswith("backplay.paper.toy")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.chdir(tmp_path)


def test_it_is_prepared_carried_out_and_read() -> None:
    experiment = catalogue.experiment("toys")
    jobs = experiment.jobs(1.0, 1)
    assert experiment.seconds(jobs) == 1.0
    run = prepare(Path("run"), jobs[0])
    frames: list[int] = []
    assert not carry_out(
        run.path, show=lambda at: frames.append(at.frames), stop=lambda: frames == [1_000]
    )
    assert carry_out(run.path)
    record = read_run(open_run(run.path))
    assert (record.kind, record.measures) == ("toy", {"success": 1.0})
    assert [at for at, _ in record.curve] == [1_000, 2_000, 3_000]
    (table,) = catalogue.exhibit([record]).tables
    assert table.cells[1] == ("run", "1.0")


def test_it_is_listed_and_its_page_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiments"]) == 0
    assert "toys " in capsys.readouterr().out
    for job in catalogue.experiment("toys").jobs(1.0, 2):
        path = Path("runs/toys/scale-1", job.name)
        prepare(path, job)
        assert carry_out(path)
    assert main(["reproduce", "toys", "--report-only"]) == 0
    assert "Toys count" in capsys.readouterr().out
    page = Path("runs/toys/scale-1/report/index.html").read_text()
    assert "Nothing but counting." in page
    assert "All of them." in page
