"""`backplay maze`: the paper's first experiment: mazes, training, measurements, the table."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from backplay.cli.options import require_at_least, require_new_file
from backplay.cli.report import ReportConfig as AnyReportConfig
from backplay.errors import BackplayError, ensure
from backplay.paper.maze.job import REGIMES

if TYPE_CHECKING:
    from backplay.cli.maze_runs import OpenMazeRun
    from backplay.envs.maze.sets import MazeSet
    from backplay.train.job import Work

PARTS = {
    "generate": "make mazes with demonstrations in one file",
    "show": "show a maze, its demonstration and what was learned",
    "train": "train an agent on the mazes of a file",
    "evaluate": "measure a trained agent beside the paper's numbers",
    "report": "make the page of runs, as backplay report does, and the paper's table",
}

EXAMPLES = """\
from nothing to the table:
  backplay maze generate optimal.npz
  backplay maze train optimal.npz --regime backplay --dir runs/backplay-0
  backplay maze train optimal.npz --regime uniform --dir runs/uniform-0
  backplay maze report runs/backplay-0 runs/uniform-0
"""

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
    """Resume the run in this directory, as it was set up."""


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
class ReportConfig(AnyReportConfig):
    """The page of `backplay report`; prints the paper's table, its numbers beside ours, as well.

        backplay maze report runs/backplay-0 runs/backplay-1 runs/uniform-0
        backplay maze report runs --out page

    Runs that differ in nothing but their seed are one row. `backplay maze show --run` draws what
    one of them learned in any maze.
    """


def generate(config: GenerateConfig) -> int:
    """Makes mazes and writes their file; 130 after Ctrl-C."""
    from backplay.envs.maze import generate as make
    from backplay.ui.display import counting

    require_new_file(config.out, overwrite=config.overwrite)
    wanted = max(1, config.mazes) + max(0, config.held_out)
    try:
        with counting(wanted, "mazes") as count:
            library = make(
                mazes=config.mazes, held_out=config.held_out, extra=config.extra,
                seed=config.seed, size=config.size, walls=config.walls,
                min_length=config.min_length, max_steps=config.max_steps,
                progress=lambda made, _: count(made, ""),
            )  # fmt: skip
    except KeyboardInterrupt:
        print("stopped; nothing was written")
        return 130
    library.save(config.out)
    lengths = library.training.lengths
    print(
        f"{config.out}: {config.mazes} mazes to train on, {config.held_out} held out;"
        f" demonstrations of {lengths.min()} to {lengths.max()} steps,"
        f" {config.extra} more than needed"
    )
    return 0


def show(config: ShowConfig) -> int:
    """Prints a maze with a path in it; writes its picture if that is asked for."""
    from backplay.envs.maze import draw

    if config.out is not None:
        if config.out.suffix != ".png":
            raise BackplayError("--out", expected="a file that ends in .png", got=str(config.out))
        require_new_file(config.out, overwrite=config.overwrite)
    one = _chosen(config)
    walls, start, goal = one.walls[0], int(one.starts[0]), int(one.goals[0])
    learned, words = None, ""
    if config.run is not None:
        from backplay.cli.maze_runs import learned_path, open_maze_run

        learned, how = learned_path(open_maze_run(config.run), one)
        words = f", learned: {how}"
    shown = one.paths[0] if learned is None else learned
    print(draw.text(walls, start, goal, path=shown, colour=sys.stdout.isatty()), end="")
    print(
        f"maze {config.maze}: demonstration {one.lengths[0]} steps,"
        f" shortest path {one.distances[0]}{words}"
    )
    if config.out is not None:
        from backplay.data.files import write_atomically
        from backplay.paper.maze.exhibit import pixels_as_png

        drawn = draw.picture(walls, start, goal, demonstration=one.paths[0], path=learned)
        write_atomically(config.out, pixels_as_png(drawn))
        print(config.out)
    return 0


def _chosen(config: ShowConfig) -> MazeSet:
    """The maze that is asked for, as a set of one."""
    from backplay.envs.maze import load_mazes

    library = load_mazes(config.file)
    mazes = library.held_out if config.held_out else library.training
    ensure(mazes.num_mazes, f"{config.file} has no mazes held out")
    if not 0 <= config.maze < mazes.num_mazes:
        raise BackplayError("--maze", expected=f"0 to {mazes.num_mazes - 1}", got=config.maze)
    return mazes.select([config.maze])


def train(config: TrainConfig) -> int:
    """Trains to the end or until Ctrl-C, which is exit code 130."""
    from backplay.cli.carrying import carry
    from backplay.cli.maze_runs import open_maze_run
    from backplay.ui.interrupts import exit_code

    if config.resume is not None:
        if replace(config, resume=None) != TrainConfig():
            raise BackplayError(
                "--resume", expected="no other option: a run goes on as it was set up",
                do="Start a new run for other settings.",
            )  # fmt: skip
        opened, work = open_maze_run(config.resume), None
        opened.run.load()  # a damaged checkpoint is refused before anything is cloned
    else:
        try:
            opened, work = _begun(config)
        except KeyboardInterrupt:
            print("stopped while it imitated the demonstrations; nothing was written")
            return exit_code([])
    again = f"backplay maze train --resume {shlex.quote(str(opened.path))}"
    code = carry(opened.run, again, work=work)
    if code == 0:
        opened.say_result()
    return code


def _begun(config: TrainConfig) -> tuple[OpenMazeRun, Work]:
    """A new run directory, and its work at the beginning."""
    import torch

    from backplay import runs
    from backplay.cli.maze_runs import open_maze_run
    from backplay.envs.maze import load_mazes
    from backplay.paper.maze.job import MazeJob
    from backplay.runs.execute import prepare
    from backplay.train.job import require_one_of
    from backplay.ui.display import open_display

    if config.file is None:
        raise BackplayError(
            "train", expected="a file of mazes", got="none",
            do="Make one with backplay maze generate optimal.npz.",
        )  # fmt: skip
    require_at_least(config, threads=1)
    require_one_of("regime", config.regime, REGIMES)
    name = f"{config.file.stem}-{config.regime}-{config.preset}-{config.seed}"
    path = config.dir or Path("runs") / name
    runs.require_free(path)
    job = MazeJob.of(
        load_mazes(config.file), regime=config.regime, preset=config.preset, seed=config.seed,
        frames=0 if config.regime == "cloned" else config.frames, evaluations=config.evaluations,
    )  # fmt: skip
    torch.set_num_threads(config.threads)
    with open_display() as display:  # first, so that bad input leaves no directory behind
        work = job.begin(display.say, files=[config.file])
    prepare(path, job, [config.file], threads=config.threads)
    return open_maze_run(path), work


def evaluate(config: EvaluateConfig) -> int:
    """Prints what comes of every maze, beside the paper's numbers."""
    from backplay.cli.maze_runs import measured_text, network_of, open_maze_run
    from backplay.paper.maze.regimes import measure
    from backplay.paper.maze.regimes import measured as measured_mazes
    from backplay.runs.execute import last_state

    require_at_least(config, seed=0)
    opened = open_maze_run(config.dir)
    mazes = opened.library.held_out if config.held_out else opened.library.training
    ensure(mazes.num_mazes, f"{config.dir} has no mazes held out")
    state = last_state(opened.run)
    measured = measure(network_of(opened, state), mazes, config.seed)
    kind = "held-out" if config.held_out else "training"
    print(f"{config.dir}: {opened.words(int(state['frames']))}")
    print(f"{measured_mazes(mazes).num_mazes} {kind} mazes, from the true start:")
    print(measured_text(measured, None if config.held_out else opened.paper))
    return 0


def report(config: ReportConfig) -> int:
    """The page of `backplay report`, and in front of what it prints the paper's table."""
    from backplay.cli.report import report_runs
    from backplay.paper.maze.exhibit import measured_cells
    from backplay.report.records import grouped
    from backplay.report.texts import in_columns

    groups = grouped(report_runs(config))
    print(in_columns(measured_cells(groups, "training", "greedy", paper=True), left=2))
    return 0
