"""The Maze as a job: its mazes are made from a seed, or are a file of the run.

Comes in: regime, preset, budget, mazes. Goes out: the same as data, checked, and on `begin` the
work. Does not know: how it is trained or shown, which `work` and `exhibit` do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from backplay.errors import ensure
from backplay.paper import regimes
from backplay.paper.experiment import FolderJob
from backplay.train.job import require_one_of, require_whole

if TYPE_CHECKING:
    from backplay.envs.maze.sets import MazeLibrary

OWN = (
    "backplay", "uniform", "standard", "florensa", "cloned", "cloned+ppo", "kickstarted",
    "gail", "gail+uniform", "gail+default", "dagger",
)  # fmt: skip
REGIMES = tuple(dict.fromkeys((*OWN, *regimes.REGIMES)))
"""Those of the paper's Maze, and all curricula; experiments sweep their numbers, too."""
FOR_ALL_MAZES = ("backplay", "uniform", "standard", "default")
"""Regimes for networks that know mazes never seen: those with sight, and those that plan."""
PRESETS = ("ours", "paper")

PAPER_EPOCHS, PAPER_EPOCH = 2_000, 102_400

_COLUMNS = ("optimal", "within_5", "extra_mean", "extra_std")
_ROWS: dict[tuple[str, int], tuple[float | None, ...]] = {
    ("standard", 0): (0.0, 0.0, None, None),
    ("standard", 5): (0.0, 0.0, None, None),
    ("standard", 10): (0.0, 0.0, None, None),
    ("uniform", 0): (0.27, 0.91, 8.26, 32.92),
    ("uniform", 5): (0.51, 0.98, 2.04, 17.39),
    ("uniform", 10): (0.49, 0.98, 2.04, 16.79),
    ("florensa", 0): (0.20, 0.51, 63.36, 78.08),
    ("florensa", 5): (0.48, 0.77, 25.44, 56.89),
    ("florensa", 10): (0.49, 0.69, 39.75, 70.92),
    ("backplay", 0): (0.31, 1.00, 0.64, 4.96),
    ("backplay", 5): (0.37, 0.94, 7.94, 33.35),
    ("backplay", 10): (0.54, 0.99, 0.37, 3.49),
}
PAPER = {key: dict(zip(_COLUMNS, row, strict=True)) for key, row in _ROWS.items()}
"""Table 2 of the paper, after 2,000 epochs: by regime and steps that demonstrations waste."""


MINIBATCHES, PASSES = 8, 4  # of an update of our preset at 10.24 million frames
SIZE, WALLS, MIN_LENGTH = 24, 120, 35  # of the paper's mazes; smaller ones keep the proportions

PLAYED = ("success", "optimal", "within_5", "extra_mean")
SETTLED = 10_240_000  # frames up to which a run of our preset has as many gradient steps
# Core-seconds of a run of our preset at 10.24 million frames. Measured, results/0.1.0/maze.md;
# those of GAIL, DAgger and of networks with sight are estimates.
_OURS = {
    "backplay": 390.0, "uniform": 540.0, "standard": 420.0, "florensa": 300.0,
    "cloned+ppo": 480.0, "kickstarted": 660.0, "gail": 600.0, "gail+uniform": 600.0,
    "gail+default": 600.0, "dagger": 600.0,
}  # fmt: skip
_OTHERS = 450.0
_CLONING = 40.0
_SAMPLING = 0.3  # of such a run's seconds, what goes with its frames and not with gradient steps
# At a hundredth of the paper's frames a run took 35 s: 25 s for its frames and evaluations, 45 ms
# for each of its 125 gradient steps, the rest before the first update.
_BEGIN = 2.0
_LEAST_EFFORT = 1 / (MINIBATCHES * PASSES)  # an update has one gradient step at least
_FEWEST = 640_000  # frames below which our preset has fewer updates
_PAPER = 23.0  # a million frames: 31 to 86 minutes for 204.8, by the machine
_SIGHTED = 45.0  # a million frames of a network with sight
_PLANNING = 15.0  # the same of one that plans, for each of its sweeps
_MANY_MAZES = 3.0  # times as much where hardly any state comes twice


@dataclass(frozen=True, kw_only=True)
class MazeJob(FolderJob):
    """One run on a set of mazes."""

    kind: ClassVar[str] = "maze"
    curve: ClassVar[tuple[str, ...]] = (*PLAYED, "sampled_success")
    measures: ClassVar[tuple[str, ...]] = (
        *PLAYED, "extra_std", "sampled_success", "held_out_success", "held_out_sampled_success",
        "one_off", "three_off", "labels", "held_out_optimal", "larger_success", "denser_success",
    )  # fmt: skip

    regime: str
    """One of `REGIMES`; "cloned" trains nothing and has 0 frames."""
    extra: int = 0
    """N of N-Optimal: steps that demonstrations waste."""
    seed: int = 0
    """Of the network, the starts and the learner."""
    frames: int = 10_240_000
    """Budget; schedules are stretched to it. The paper's is 204.8 million."""
    preset: str = "ours"
    """`"paper"`: the settings of the paper and its code; `"ours"`: what learns in fewer frames."""
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
    sight: int = 0
    """How many cells around the agent the network sees; 0: the paper's network, which sees all."""
    planning: int = 0
    """Sweeps of a network that plans, for each cell along a side; 0: a network that does not."""
    epochs: int = PAPER_EPOCHS
    """Of the paper, for which the frames stand: 2,000 in Table 2, 3,500 in its learning curves."""
    forgets: str = "nothing"
    """What is forgotten whenever windows move that move by frames alone, one of FORGETS."""
    label: str = ""
    """Added to the setting, where an experiment compares what is otherwise the same."""

    def __post_init__(self) -> None:
        require_one_of("regime", self.regime, (*OWN, *regimes.ALL))
        require_one_of("preset", self.preset, PRESETS)
        require_one_of("forgets", self.forgets, regimes.FORGETS)
        require_whole(
            self, extra=0, seed=0, frames=0, mazes=1, held_out=0, maze_seed=0, evaluations=1,
            size=4, sight=0, planning=0, epochs=1,
        )  # fmt: skip
        trains = self.regime != "cloned"
        ensure((self.frames > 0) == trains, "frames", "1 or more; of cloned 0", self.frames)
        real = isinstance(self.effort, float) and 0 < self.effort <= 1
        ensure(real, "effort", "a number above 0, at most 1.0", self.effort)
        ensure(isinstance(self.label, str), "label", "a text", self.label)
        fits = self.regime in FOR_ALL_MAZES and self.preset == "ours"
        ensure(
            not (self.sight or self.planning) or (fits and not (self.sight and self.planning)),
            "sight, planning", f"0, or one of them, {', '.join(FOR_ALL_MAZES)} and our preset",
            f"{self.sight}, {self.planning} with {self.regime}",
        )  # fmt: skip

    @property
    def setting(self) -> str:
        """The set of mazes: `Optimal`, `5-Optimal`; with what sets it apart from the paper's."""
        words = [f"{self.extra}-Optimal" if self.extra else "Optimal"]
        words += [f"{self.mazes} mazes"] * (self.mazes != 100)
        words += [f"{self.size}x{self.size}"] * (self.size != SIZE)
        words += [f"sight {self.sight}"] * bool(self.sight)
        words += [f"planning {self.planning}"] * bool(self.planning)
        words += [f"set {self.maze_seed}"] * (self.maze_seed != 0)
        words += ["the paper's settings"] * (self.preset == "paper")
        words += [f"{self.epochs} epochs"] * (self.epochs != PAPER_EPOCHS)
        words += [f"forgets {self.forgets}"] * (self.forgets != "nothing")
        words += [self.label] * bool(self.label)
        return ", ".join(words)

    @classmethod
    def of(cls, library: MazeLibrary, **asked: Any) -> MazeJob:
        """A run on the mazes of a file, which the run directory then keeps."""
        mazes = library.training
        return cls(
            **asked, extra=library.extra, mazes=len(mazes), held_out=len(library.held_out),
            maze_seed=library.seed, size=mazes.height, label=f"file {mazes.digest}",
        )  # fmt: skip

    def library(self, files: Sequence[Path] = ()) -> MazeLibrary:
        """Its mazes: those of a file, or those that its seed gives."""
        from backplay.envs.maze import generate, load_mazes

        if files:
            return load_mazes(files[0])
        share = self.size / SIZE
        return generate(
            mazes=self.mazes, held_out=self.held_out, extra=self.extra, seed=self.maze_seed,
            size=self.size, walls=round(WALLS * share**2), min_length=round(MIN_LENGTH * share),
        )  # fmt: skip

    @property
    def seconds(self) -> float:
        """By regime, frames and gradient steps; see results/0.1.0/maze.md for what was measured."""
        if self.regime == "cloned":
            return _CLONING
        if self.sight:
            return _BEGIN + _SIGHTED * self.frames / 1_000_000
        if self.planning:
            return _BEGIN + _PLANNING * self.planning * self.frames / 1_000_000
        many = _MANY_MAZES if self.mazes > 1_000 else 1.0
        if self.preset == "paper":
            return many * _PAPER * self.frames / 1_000_000
        share = self.frames / SETTLED
        whole = _OURS.get(self.regime, _OTHERS) * max(1.0, share)
        steps = max(self.effort, _LEAST_EFFORT) * min(1.0, self.frames / _FEWEST)
        return _BEGIN + many * whole * (_SAMPLING * min(1.0, share) + (1 - _SAMPLING) * steps)


JOB = MazeJob
