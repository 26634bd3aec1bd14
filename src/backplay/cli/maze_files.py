"""`backplay maze generate` and `backplay maze show`: files of mazes, made and looked at."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from backplay.cli.options import require_new_file
from backplay.data.files import write_atomically
from backplay.envs.maze import draw, load_mazes
from backplay.envs.maze import generate as make
from backplay.envs.maze.sets import MazeSet
from backplay.errors import BackplayError
from backplay.ui.display import counting

if TYPE_CHECKING:
    from backplay.cli.maze import GenerateConfig, ShowConfig


def write_mazes(config: GenerateConfig) -> int:
    """Makes mazes and writes their file; 130 after Ctrl-C."""
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


def show_maze(config: ShowConfig) -> None:
    """Prints a maze with a path in it; writes its picture if that is asked for."""
    if config.out is not None:
        if config.out.suffix != ".png":
            raise BackplayError("--out", expected="a file that ends in .png", got=str(config.out))
        require_new_file(config.out, overwrite=config.overwrite)
    one = _chosen(config)
    walls, start, goal = one.walls[0], int(one.starts[0]), int(one.goals[0])
    learned, words = (None, "") if config.run is None else _learned(config.run, one)
    shown = one.paths[0] if learned is None else learned
    print(draw.text(walls, start, goal, path=shown, colour=sys.stdout.isatty()), end="")
    print(
        f"maze {config.maze}: demonstration {one.lengths[0]} steps,"
        f" shortest path {one.distances[0]}{words}"
    )
    if config.out is not None:
        from backplay.paper.maze.figures import pixels_as_png

        drawn = draw.picture(walls, start, goal, demonstration=one.paths[0], path=learned)
        write_atomically(config.out, pixels_as_png(drawn))
        print(config.out)


def _chosen(config: ShowConfig) -> MazeSet:
    """The maze that is asked for, as a set of one."""
    library = load_mazes(config.file)
    mazes = library.held_out if config.held_out else library.training
    if not mazes.num_mazes:
        raise BackplayError(f"{config.file} has no mazes held out")
    if not 0 <= config.maze < mazes.num_mazes:
        raise BackplayError("--maze", expected=f"0 to {mazes.num_mazes - 1}", got=config.maze)
    return mazes.select([config.maze])


def _learned(directory: Path, one: MazeSet) -> tuple[list[int], str]:
    """The cells that a run's agent visits in a maze, and how it went."""
    from backplay.cli.maze_runs import learned_paths, open_maze_run

    path = learned_paths(open_maze_run(directory), one)[0]
    return path.cells, f", learned: {path.words}"
