"""The Maze as a job: its mazes are made from a seed, so a run needs no file.

Comes in: a `MazeJob`. Goes out: a `Training` for its regime, lines for the metrics, and at the end
what came of every maze, with some of the paths walked. Does not know: disks, screens, plots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from backplay.envs.maze.evaluate import Played, play, reached_from
from backplay.envs.maze.fast_network import FastMazeNetwork
from backplay.envs.maze.generate import generate
from backplay.envs.maze.sets import MazeLibrary, MazeSet, load_mazes
from backplay.envs.maze.solve import cells_off
from backplay.learners.cloning import CloningProgress
from backplay.learners.workers import Workers
from backplay.paper.maze import regimes as maze
from backplay.paper.maze.imitation import clone_mazes
from backplay.paper.maze.paths import drawn
from backplay.report.exhibit import Exhibit
from backplay.report.records import RunRecord
from backplay.train import Progress, TrainConfig, Training
from backplay.train.job import (
    Say,
    file_name,
    progress_line,
    require,
    require_one_of,
    require_whole,
)
from backplay.train.progress import by_steps_back

SHOWN = 4  # mazes whose paths a result keeps
MINIBATCHES, PASSES = 8, 4  # of an update of our preset at 10.24 million frames
SIZE, WALLS, MIN_LENGTH = 24, 120, 35  # of the paper's mazes; smaller ones keep the proportions

OFF = {"one_off": 1, "three_off": 3}  # steps from the demonstration of the cells measured from
_PLAYED = ("success", "optimal", "within_5", "extra_mean")
SETTLED = 10_240_000  # frames up to which a run of our preset has as many gradient steps
# Core-seconds, measured, results/maze.md: a run of our preset at 10.24 million frames.
_OURS = {
    "backplay": 390.0, "uniform": 540.0, "standard": 420.0, "florensa": 300.0,
    "cloned+ppo": 480.0, "kickstarted": 660.0, "gail": 600.0, "gail+uniform": 600.0,
    "gail+default": 600.0, "dagger": 600.0,
}  # fmt: skip
_CLONING = 40.0
_SAMPLING = 0.3  # of such a run's seconds, what goes with its frames and not with gradient steps
# At a hundredth of the paper's frames a run took 35 s: 25 s for its frames and evaluations, 45 ms
# for each of its 125 gradient steps, the rest before the first update.
_BEGIN = 2.0
_LEAST_EFFORT = 1 / (MINIBATCHES * PASSES)  # an update has one gradient step at least
_FEWEST = 640_000  # frames below which our preset has fewer updates
_PAPER = 23.0  # a million frames: 71 to 86 minutes for 204.8
_MANY_MAZES = 3.0  # times as much where hardly any state comes twice


@dataclass(frozen=True, kw_only=True)
class MazeJob:
    """One run on a set of mazes."""

    kind: ClassVar[str] = "maze"
    curve: ClassVar[tuple[str, ...]] = (*_PLAYED, "sampled_success")
    measures: ClassVar[tuple[str, ...]] = (
        *_PLAYED, "extra_std", "sampled_success", "held_out_success", "held_out_sampled_success",
        "one_off", "three_off",
    )  # fmt: skip

    regime: str
    """One of `maze.REGIMES`; "cloned" trains nothing and has 0 frames."""
    extra: int = 0
    """N of N-Optimal: steps that demonstrations waste."""
    seed: int = 0
    """Of the network, the starts and the learner."""
    frames: int = 10_240_000
    """Budget; schedules are stretched to it."""
    preset: str = "ours"
    """One of `maze.PRESETS`."""
    mazes: int = 100
    """Mazes to train on."""
    held_out: int = 10
    """Mazes to measure on alone."""
    maze_seed: int = 0
    """Of the mazes."""
    evaluations: int = 40
    """How often every maze is played on the way."""
    effort: float = 1.0
    """Share of our preset's gradient steps that are made: a short run may be a cheap one."""
    size: int = SIZE
    """Cells along each side."""
    label: str = ""
    """Added to the setting, where an experiment compares what is otherwise the same."""

    def __post_init__(self) -> None:
        require_one_of("regime", self.regime, maze.REGIMES)
        require_one_of("preset", self.preset, maze.PRESETS)
        require_whole(
            self, extra=0, seed=0, frames=0, mazes=1, held_out=0, maze_seed=0, evaluations=1, size=4
        )
        trains = self.regime != "cloned"
        require((self.frames > 0) == trains, "frames", "1 or more; of cloned 0", self.frames)
        real = isinstance(self.effort, float) and 0 < self.effort <= 1
        require(real, "effort", "a number above 0, at most 1.0", self.effort)
        require(isinstance(self.label, str), "label", "a text", self.label)

    @property
    def name(self) -> str:
        """As `optimal-backplay-0`."""
        return file_name(self.setting, self.regime, self.seed)

    @property
    def setting(self) -> str:
        """The set of mazes: `Optimal`, `5-Optimal`; with what sets it apart from the paper's."""
        words = [f"{self.extra}-Optimal" if self.extra else "Optimal"]
        words += [f"{self.mazes} mazes"] * (self.mazes != 100)
        words += [f"{self.size}x{self.size}"] * (self.size != SIZE)
        words += [f"set {self.maze_seed}"] * (self.maze_seed != 0)
        words += ["the paper's settings"] * (self.preset == "paper")
        words += [self.label] * bool(self.label)
        return ", ".join(words)

    @property
    def run(self) -> maze.MazeRun:
        """The run as `experiments.maze` knows it."""
        return maze.MazeRun(
            regime=self.regime, preset=self.preset, frames=max(1, self.frames), seed=self.seed,
            evaluations=self.evaluations,
        )  # fmt: skip

    @classmethod
    def of(cls, library: MazeLibrary, run: maze.MazeRun) -> MazeJob:
        """A run on the mazes of a file, which the run directory then keeps."""
        mazes = library.training
        return cls(
            regime=run.regime, preset=run.preset, seed=run.seed, evaluations=run.evaluations,
            frames=0 if run.regime == "cloned" else run.frames, extra=library.extra,
            mazes=len(mazes), held_out=len(library.held_out), maze_seed=library.seed,
            size=mazes.height, label=f"file {mazes.digest}",
        )  # fmt: skip

    def library(self, files: Sequence[Path] = ()) -> MazeLibrary:
        """Its mazes: those of a file, or those that its seed gives."""
        if files:
            return load_mazes(files[0])
        share = self.size / SIZE
        return generate(
            mazes=self.mazes, held_out=self.held_out, extra=self.extra, seed=self.maze_seed,
            size=self.size, walls=round(WALLS * share**2), min_length=round(MIN_LENGTH * share),
        )  # fmt: skip

    @property
    def seconds(self) -> float:
        """As measured, results/maze.md: by regime, frames and gradient steps."""
        if self.regime == "cloned":
            return _CLONING
        many = _MANY_MAZES if self.mazes > 1_000 else 1.0
        if self.preset == "paper":
            return many * _PAPER * self.frames / 1_000_000
        share = self.frames / SETTLED
        whole = _OURS[self.regime] * max(1.0, share)
        steps = max(self.effort, _LEAST_EFFORT) * min(1.0, self.frames / _FEWEST)
        return _BEGIN + many * whole * (_SAMPLING * min(1.0, share) + (1 - _SAMPLING) * steps)

    def begin(
        self,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> MazeWork:
        """Makes the mazes and the learner; regimes that imitate clone first, for about a minute."""
        library = self.library(files)
        on_clone = _cloning(on_progress) if on_progress else None
        if self.regime == "cloned":
            return MazeWork(library, clone_mazes(library.training, self.seed, on_clone), None)
        config = with_effort(maze.settings(self.run), self.effort, self.preset)
        made = maze.training(self.run, library, config=config, on_clone=on_clone, workers=workers)
        network = made.learner.network
        assert isinstance(network, FastMazeNetwork)
        return MazeWork(library, network, made)

    @classmethod
    def exhibit(cls, records: Sequence[RunRecord]) -> Exhibit:
        """Walks in the first maze, as films."""
        from backplay.paper.maze.exhibit import exhibit

        return exhibit(records)


JOB = MazeJob


class MazeWork:
    """A run on a set of mazes in progress."""

    def __init__(
        self, library: MazeLibrary, network: FastMazeNetwork, training: Training | None
    ) -> None:
        self.library, self.network, self.training = library, network, training
        self.evaluated: dict[str, Any] = {}
        """What the last evaluation found."""

    def line(self, progress: Progress) -> dict[str, Any]:
        """What came of the update; at evaluations, of every maze from its true start."""
        mazes = self.library.training
        line = progress_line(progress)
        line["by_steps_back"] = by_steps_back(progress.episodes, mazes.lengths)
        if progress.evaluation is not None:
            greedy = self._greedy(maze.measured(mazes)).summary()
            self.evaluated = {
                **{name: greedy[name] for name in _PLAYED},
                "sampled_success": progress.evaluation.success,
            }
            line["evaluation"] = self.evaluated
        return line

    def result(self) -> dict[str, Any]:
        """Every maze greedy and sampled, those held out, and the first paths."""
        library = self.library
        on_training = maze.measure(self.network, library.training)
        held_out = (
            maze.measure(self.network, library.held_out) if library.held_out.num_mazes else None
        )
        first = library.training.select(range(min(SHOWN, len(library.training))))
        greedy, sampled = on_training["greedy"], on_training["sampled"]
        apart = held_out or {"greedy": {"success": None}, "sampled": {"success": None}}
        found = {
            "measures": {
                **{name: greedy[name] for name in (*_PLAYED, "extra_std")},
                "sampled_success": sampled["success"],
                "held_out_success": apart["greedy"]["success"],
                "held_out_sampled_success": apart["sampled"]["success"],
                **{name: self._from_off(steps) for name, steps in OFF.items()},
            },
            "training": on_training,
            "held_out": held_out,
            "measured_mazes": len(maze.measured(library.training)),
            "paths": drawn(first, self._greedy(first)),
        }
        self.network.forget()
        return found

    def state(self) -> dict[str, Any]:
        """Where it stands; where nothing is trained, what was cloned."""
        if self.training is not None:
            return self.training.state()
        weights = self.network.state_dict()
        return {"learner": {"network": {k: v.numpy().copy() for k, v in weights.items()}}}

    def close(self) -> None:
        """Closes the envs."""
        if self.training is not None:
            self.training.close()

    def _greedy(self, mazes: MazeSet) -> Played:
        """The likeliest actions in the first mazes of the set, or in all of them.

        What a network keeps is rounded by the batches it came in, so it forgets: measuring must not
        change what is learned next.
        """
        played = play(mazes, self._likeliest)
        self.network.forget()
        return played

    def _from_off(self, steps: int) -> float | None:
        """Success with the likeliest actions from all cells so far off the demonstrations."""
        mazes = maze.measured(self.library.training)
        reached = reached_from(mazes, *cells_off(mazes, steps), self._likeliest)
        return float(reached.mean()) if len(reached) else None

    def _likeliest(self, places: NDArray[np.int32]) -> NDArray[np.int64]:
        with torch.inference_mode():
            logits: torch.Tensor = self.network(torch.from_numpy(places))[0]
        return logits.argmax(-1).numpy()


def with_effort(config: TrainConfig, effort: float, preset: str) -> TrainConfig:
    """The settings with a share of the gradient steps that an update has with all frames.

    Whole passes while it can, then one pass in fewer, larger minibatches.
    """
    if effort == 1.0 or preset != "ours":
        return config
    batch = config.num_envs * config.ppo.num_steps
    steps = max(1, round(effort * MINIBATCHES * PASSES))
    passes = max(1, round(steps / MINIBATCHES))
    minibatches = max(1, round(steps / passes))
    ppo = replace(config.ppo, passes=passes, minibatch_size=max(1, batch // minibatches))
    return replace(config, ppo=ppo)


def _cloning(say: Say) -> Callable[[CloningProgress], None]:
    def on_clone(at: CloningProgress) -> None:
        if at.epoch % 10 == 0:
            told = f"loss {at.loss:.3f}, agreement {at.agreement:.1%}"
            say(f"pass {at.epoch} over the demonstrations: {told}")

    return on_clone
