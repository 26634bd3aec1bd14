"""A run of the Maze, read again: its mazes, the network, the paths it walks.

Comes in: a run directory with a Maze job, of an experiment or of `maze train`, whose mazes are a
file in it. Goes out: the same as objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from backplay import runs
from backplay.envs.maze.evaluate import drawn
from backplay.envs.maze.fast_network import FastMazeNetwork
from backplay.envs.maze.sets import MazeLibrary, MazeSet
from backplay.errors import BackplayError, refusing
from backplay.paper.maze.exhibit import ending
from backplay.paper.maze.job import PAPER, MazeJob
from backplay.paper.maze.regimes import AnyMazeNetwork, network_for, plays
from backplay.report.texts import in_columns
from backplay.runs import Run
from backplay.runs.execute import asked, last_state

_COLUMNS = ("success", "optimal", "within 5", "extra steps", "extra where reached")


@dataclass(frozen=True)
class OpenMazeRun:
    """A run of the Maze in its directory."""

    run: Run
    job: MazeJob

    @property
    def path(self) -> Path:
        """Its directory."""
        return self.run.path

    @cached_property
    def library(self) -> MazeLibrary:
        """Its mazes."""
        return self.job.library(self.run.demonstrations)

    def words(self, frames: int) -> str:
        """What kind of run it is and how far it has come."""
        job = self.job
        far = f", {frames:,} of {job.frames:,} frames" if job.frames else ""
        return f"{job.regime}, settings {job.preset!r}, seed {job.seed}{far}"

    @property
    def paper(self) -> Mapping[str, float | None] | None:
        """The paper's row for it, if it has one."""
        return PAPER.get((self.job.regime, self.library.extra))

    def say_result(self) -> None:
        """Prints what came of it, the paper's row beside it."""
        result: dict[str, Any] = self.run.result or {}
        seconds = timedelta(seconds=round(self.run.seconds))
        print(f"after {result['frames']:,} frames and {seconds}, from the true start:")
        print(measured_text(result["training"], self.paper))
        if result["held_out"] is not None:
            text = measured_text(result["held_out"], None)
            print(f"on {len(self.library.held_out)} mazes held out:\n{text}")
        print(f"result: {self.path / 'result.json'}")


def open_maze_run(path: Path) -> OpenMazeRun:
    """The run of the Maze in a directory."""
    run = runs.open_run(path)
    job, _ = asked(run)
    if not isinstance(job, MazeJob):
        raise BackplayError(
            f"{path} is no run of the Maze", do="Is it one of backplay train? Use its own commands."
        )
    return OpenMazeRun(run, job)


def network_of(opened: OpenMazeRun, state: dict[str, Any] | None = None) -> AnyMazeNetwork:
    """The network of a run's last checkpoint, or of a `state` that is read already."""
    state = last_state(opened.run) if state is None else state
    network = network_for(opened.job, opened.library.training)
    with refusing(
        f"{opened.run.checkpoint} is damaged", "what backplay wrote",
        do="Copy the run again from where it came.",
        of=(KeyError, TypeError, AttributeError, RuntimeError),
    ):  # fmt: skip
        weights = state["learner"]["network"]
        network.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})
    return network


def learned_path(opened: OpenMazeRun, mazes: MazeSet) -> tuple[list[int], str]:
    """The cells that a run's agent visits in the first of these mazes, and how it went."""
    network, known = network_of(opened), opened.library.training
    size = (known.height, known.width)
    if isinstance(network, FastMazeNetwork) and (mazes.height, mazes.width) != size:
        raise BackplayError(
            f"{opened.path} learned in mazes of another size",
            expected=f"{size[0]}x{size[1]}", got=f"{mazes.height}x{mazes.width}",
        )  # fmt: skip
    (one,) = drawn(mazes, plays(network, mazes)["greedy"])
    return one["path"], ending(one)


def measured_text(
    measured: Mapping[str, Mapping[str, float | None]], paper: Mapping[str, float | None] | None
) -> str:
    """What `measure` says as a table, and below it the paper's row."""
    rows: list[tuple[str, ...]] = [("", *_COLUMNS)]
    rows += [(name, *_cells(summary)) for name, summary in measured.items()]
    if paper is not None:
        rows.append(("the paper", *_cells(paper)))
    return in_columns(rows)


def _cells(summary: Mapping[str, float | None]) -> tuple[str, ...]:
    shares = [summary.get(name) for name in ("success", "optimal", "within_5")]
    return (
        *("–" if share is None else f"{share:.0%}" for share in shares),
        _plus_minus(summary.get("extra_mean"), summary.get("extra_std")),
        _plus_minus(summary.get("success_extra_mean"), summary.get("success_extra_std")),
    )


def _plus_minus(mean: float | None, std: float | None) -> str:
    return "–" if mean is None or std is None else f"{mean:.2f} ± {std:.2f}"
