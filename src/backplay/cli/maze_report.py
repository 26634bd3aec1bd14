"""`backplay maze report`: run directories become the paper's table beside ours, and one page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from backplay.cli.maze_runs import OpenMazeRun, learned_paths, open_maze_run
from backplay.cli.report import say_the_rest
from backplay.cli.reports import require_report_folder, show_runs
from backplay.envs.maze.draw import picture
from backplay.errors import BackplayError
from backplay.paper.maze.exhibit import PATHS, measured_cells
from backplay.paper.maze.figures import DrawnPath, draw_paths
from backplay.paper.maze.work import SHOWN
from backplay.report.build import PAGE
from backplay.report.exhibit import Exhibit
from backplay.report.reading import read_run
from backplay.report.records import grouped, twice
from backplay.report.texts import in_columns


def write_report(directories: Sequence[Path], out: Path, mazes: Sequence[int]) -> None:
    """Reads the runs, prints the table and writes the page with its figures."""
    _refuse_nonsense(directories)
    require_report_folder(out)
    opened = [open_maze_run(directory) for directory in directories]
    records = [read_run(one.run) for one in opened]
    for run in records:
        if run.notes:
            raise BackplayError(run.notes[0])
    if not any(run.finished for run in records):
        raise BackplayError(
            "report", expected="at least one run that has ended",
            got=", ".join(run.path for run in records),
            do=f"Go on with one: backplay maze train --resume {records[0].path}",
        )  # fmt: skip
    groups = grouped(records)
    for first, again in twice(groups):
        raise BackplayError(
            f"{first.path} and {again.path} are the same run", expected="every seed once",
            got=f"seed {again.seed} twice",
        )  # fmt: skip
    by_path = {str(one.path): one for one in opened}
    rows = [
        (f"{group.setting}, {group.regime}", _drawn(by_path[group.ended[0].path], mazes))
        for group in groups
        if group.ended and tuple(mazes) != tuple(range(SHOWN))  # those are on every page
    ]
    drawn = [row for row in rows if row[1]]
    made = show_runs(
        records, out, title="The Maze, from demonstrations", tables=False,
        about="The paper's first experiment: mazes, a reward at the goal only, one demonstration"
        " for each. The regimes differ in where training episodes start.",
        command=_command(directories, out, mazes),
        more=Exhibit(figures={PATHS: draw_paths(drawn)} if drawn else {}),
    )  # fmt: skip
    print(in_columns(measured_cells(groups, "training", "greedy", paper=True), left=2))
    say_the_rest(records, made.unfinished)
    print(f"open {out / PAGE}")


def _drawn(opened: OpenMazeRun, indices: Sequence[int]) -> list[DrawnPath]:
    """Some mazes of a run with demonstration and learned path."""
    chosen = [i for i in indices if 0 <= i < opened.library.training.num_mazes]
    if not chosen:
        return []
    mazes = opened.library.training.select(chosen)
    drawn = []
    for i, path in enumerate(learned_paths(opened, mazes)):
        pixels = picture(
            mazes.walls[i], int(mazes.starts[i]), int(mazes.goals[i]),
            demonstration=mazes.paths[i], path=path.cells,
        )  # fmt: skip
        drawn.append(DrawnPath(f"maze {chosen[i]}: {path.words}", pixels))
    return drawn


def _refuse_nonsense(directories: Sequence[Path]) -> None:
    if not directories:
        raise BackplayError("report", expected="at least one run directory", got="none")
    resolved = [directory.resolve() for directory in directories]
    for i, directory in enumerate(resolved):
        if directory in resolved[:i]:
            raise BackplayError(f"{directories[i]} is named twice", expected="every run once")


def _command(directories: Sequence[Path], out: Path, mazes: Sequence[int]) -> str:
    """What to type to get the same again."""
    words = ["backplay", "maze", "report", *map(str, directories), "--out", str(out)]
    return shlex.join([*words, "--mazes", *map(str, mazes)])
