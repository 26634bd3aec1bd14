"""`backplay maze`: the paper's first experiment: mazes, training, measurements, the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import tyro

from backplay.errors import BackplayError
from backplay.paper.maze.run import REGIMES

PARTS = {
    "generate": "make mazes with demonstrations in one file",
    "show": "show a maze, its demonstration and what was learned",
    "train": "train an agent on the mazes of a file",
    "evaluate": "measure a trained agent beside the paper's numbers",
    "report": "make the table and the figures from many runs",
}

HELP = f"""\
backplay maze: the paper's first experiment.

usage: backplay maze COMMAND [OPTIONS]

commands:
{chr(10).join(f"  {name:<10}{what}" for name, what in PARTS.items())}

from nothing to the table:
  backplay maze generate optimal.npz
  backplay maze train optimal.npz --regime backplay --dir runs/backplay-0
  backplay maze train optimal.npz --regime uniform --dir runs/uniform-0
  backplay maze report runs/backplay-0 runs/uniform-0

`backplay maze COMMAND --help` explains each command with examples."""

File = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
Directory = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
Regime = Annotated[str, tyro.conf.arg(metavar=f"{{{','.join(REGIMES)}}}")]


@dataclass(frozen=True, kw_only=True)
class GenerateConfig:
    """Makes random mazes with a demonstration each: some to train on, some held out.

        backplay maze generate optimal.npz
        backplay maze generate five.npz --extra 5 --seed 1
        backplay maze generate small.npz --size 8 --walls 12 --min-length 8 --mazes 10

    A demonstration takes exactly --extra steps more than the shortest path: 0, 5 and 10 are the
    paper's Optimal, 5-Optimal and 10-Optimal. The same seed gives the same file.
    """

    out: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT")]
    """Where to write them."""
    extra: int = 0
    """Steps of a demonstration beyond the shortest path."""
    mazes: int = 100
    """Mazes to train on."""
    held_out: int = 10
    """Mazes to measure on."""
    seed: int = 0
    """Of all of them."""
    size: int = 24
    """Rows and columns."""
    walls: int = 120
    """Cells that are walls."""
    min_length: int = 35
    """Fewest steps of a demonstration."""
    max_steps: int = 200
    """Steps after which an episode is cut off."""
    overwrite: bool = False
    """Replace the file if it exists."""


@dataclass(frozen=True, kw_only=True)
class ShowConfig:
    """Shows a maze in the terminal, or writes a picture of it.

        backplay maze show optimal.npz --maze 3
        backplay maze show optimal.npz --maze 3 --run runs/backplay-0 --out maze.png

    In the picture the demonstration is broad and pale, and what the run learned (its likeliest
    actions) is a narrow line over it. The text has room for one path: the learned one if there is
    one.
    """

    file: File
    """Mazes made by backplay maze generate."""
    maze: int = 0
    """Which one."""
    held_out: bool = False
    """Of the mazes held out."""
    run: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """A run whose agent shows what it learned."""
    out: Path | None = None
    """A .png to write."""
    overwrite: bool = False
    """Replace the file if it exists."""


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Trains an agent on the mazes of a file; its episodes start where the regime says.

        backplay maze train optimal.npz
        backplay maze train optimal.npz --regime uniform --seed 1 --dir runs/uniform-1
        backplay maze train optimal.npz --preset paper --frames 204800000
        backplay maze train --resume runs/uniform-1

    Regimes: backplay moves its starts from the end of the demonstrations to their beginning;
    uniform starts anywhere on them; standard only in the initial state; florensa from random walks
    that lead away from the goal; cloned imitates the demonstrations and trains no further;
    cloned+ppo trains on from there; kickstarted trains beside an imitation loss that fades; gail
    imitates by a judge, from starts as their names say; dagger asks the planner what to do.

    The preset paper has the settings of the paper and its code, ours what learns in fewer frames.
    Schedules are stretched to --frames. Ctrl-C stops, saves and says how to go on; a run that goes
    on ends as if it had never stopped.
    """

    file: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = None
    """Mazes made by backplay maze generate."""
    regime: Regime = "backplay"
    """Where episodes start, or what is learned otherwise."""
    preset: Literal["ours", "paper"] = "ours"
    """Whose settings."""
    frames: int = 10_240_000
    """Frames to train for; the paper's 2,000 epochs are 204,800,000."""
    seed: int = 0
    """Of the network, the starts and the learner."""
    evaluations: int = 40
    """How often every maze is played from its true start on the way."""
    threads: int = 1
    """Of the learner. The same run with other threads differs in rounding."""
    dir: Path | None = None
    """The run's directory; by default runs/FILE-REGIME-PRESET-SEED."""
    resume: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Go on with the run in this directory, as it was set up."""


@dataclass(frozen=True, kw_only=True)
class EvaluateConfig:
    """Plays every maze of a run once from its true start, with likeliest and with drawn actions.

        backplay maze evaluate runs/backplay-0
        backplay maze evaluate runs/backplay-0 --held-out

    Prints success, the share of shortest paths and of paths at most 5 steps longer, and the steps
    beyond the shortest path, with the paper's row beside it. As there, a failure counts with its
    full time.
    """

    dir: Directory
    """The run's directory."""
    held_out: bool = False
    """On the mazes held out instead."""
    seed: int = 0
    """Of the drawn actions."""


@dataclass(frozen=True, kw_only=True)
class ReportConfig:
    """Makes the paper's table, with its numbers beside ours, and the figures, from run directories.

        backplay maze report runs/backplay-0 runs/backplay-1 runs/uniform-0
        backplay maze report runs/* --out page --mazes 3 17 42

    Runs that differ in nothing but their seed are summed up: means with 95 % intervals over seeds.
    The page is that of `backplay report`: learning curves, success by distance from the end over
    time, learned paths over demonstrations, tables.
    """

    dirs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR...")]
    """Directories of runs."""
    out: Path = Path("maze-report")
    """Directory of the page, the figures and the numbers."""
    mazes: tuple[int, ...] = (0, 1, 2, 3)
    """Mazes whose learned paths are drawn."""


def generate(config: GenerateConfig) -> int:
    """Makes mazes and writes their file."""
    from backplay.cli.maze_files import write_mazes

    return write_mazes(config)


def show(config: ShowConfig) -> int:
    """Prints a maze, or writes its picture."""
    from backplay.cli.maze_files import show_maze

    show_maze(config)
    return 0


def train(config: TrainConfig) -> int:
    """Trains to the end or until Ctrl-C, which is exit code 130."""
    from backplay.cli import maze_training

    if config.resume is not None:
        if replace(config, resume=None) != TrainConfig():
            raise BackplayError(
                "--resume", expected="no other option: a run goes on as it was set up",
                do="Start a new run for other settings.",
            )  # fmt: skip
        return maze_training.resume(config.resume)
    if config.file is None:
        raise BackplayError(
            "train", expected="a file of mazes", got="none",
            do="Make one with backplay maze generate optimal.npz.",
        )  # fmt: skip
    from backplay.paper.maze.run import MazeRun

    run = MazeRun(
        regime=config.regime, preset=config.preset, frames=config.frames, seed=config.seed,
        evaluations=config.evaluations,
    )  # fmt: skip
    name = f"{config.file.stem}-{config.regime}-{config.preset}-{config.seed}"
    directory = config.dir or Path("runs") / name
    return maze_training.begin(config.file, run, config.threads, directory)


def evaluate(config: EvaluateConfig) -> int:
    """Prints what comes of every maze, beside the paper's numbers."""
    from backplay.cli.maze_runs import checkpoint_of, measured_text, network_of, open_maze_run
    from backplay.paper.maze.regimes import measure
    from backplay.paper.maze.regimes import measured as measured_mazes
    from backplay.paper.maze.run import PAPER

    if config.seed < 0:
        raise BackplayError("--seed", expected="at least 0", got=config.seed)
    opened = open_maze_run(config.dir)
    library = opened.library
    mazes = library.held_out if config.held_out else library.training
    if not mazes.num_mazes:
        raise BackplayError(f"{config.dir} has no mazes held out")
    state = checkpoint_of(opened)
    measured = measure(network_of(opened, state), mazes, config.seed)
    paper = None if config.held_out else PAPER.get((opened.job.regime, library.extra))
    kind = "held-out" if config.held_out else "training"
    print(f"{config.dir}: {opened.words(int(state['frames']))}")
    print(f"{measured_mazes(mazes).num_mazes} {kind} mazes, from the true start:")
    print(measured_text(measured, paper))
    return 0


def report(config: ReportConfig) -> int:
    """Writes the page and prints the table."""
    from backplay.cli.maze_report import write_report

    write_report(config.dirs, config.out, config.mazes)
    return 0
