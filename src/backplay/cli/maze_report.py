"""`backplay maze report`: run directories become a table, figures and one page."""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from backplay.cli.maze_runs import OpenMazeRun, learned_paths, open_maze_run
from backplay.data.files import write_atomically
from backplay.envs.maze.draw import picture
from backplay.errors import BackplayError
from backplay.paper.maze.figures import DrawnPath, draw_curves, draw_paths, draw_starts
from backplay.paper.maze.page import write_maze_page
from backplay.paper.maze.results import MazeResult, grouped, table, table_text
from backplay.paper.maze.run import PAPER
from backplay.report.figures import as_png, as_svg

PAGE, RESULT = "index.html", "result.json"
FIGURES = ("curves", "starts", "paths")
OURS = {PAGE, RESULT, *(f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg"))}
TABLES = ("greedy", "sampled", "held-out greedy")


def write_report(directories: Sequence[Path], out: Path, mazes: Sequence[int]) -> None:
    """Reads the runs, prints the table and writes the page with its figures."""
    _refuse_nonsense(directories, out)
    opened = [open_maze_run(directory) for directory in directories]
    results = [read_result(one) for one in opened]
    unfinished = [
        str(one.path) for one, run in zip(opened, results, strict=True) if not run.measured
    ]
    if len(unfinished) == len(opened):
        raise BackplayError(
            "report", expected="at least one run that has ended", got=", ".join(unfinished),
            do=f"Go on with one: backplay maze train --resume {unfinished[0]}",
        )  # fmt: skip
    groups = grouped(results)
    for group in groups:
        seeds = [run.seed for run in group.runs]
        if len(set(seeds)) < len(seeds):
            raise BackplayError(
                f"{group.set_name}, {group.name}: the same run twice", expected="every seed once",
                got=f"the seeds {', '.join(map(str, seeds))}",
            )  # fmt: skip
    tables = {
        which: table_text(table(groups, which, PAPER if which == "greedy" else None))
        for which in TABLES
    }
    by_identity = dict(zip(map(id, results), opened, strict=True))
    paths = [
        (f"{group.set_name}, {group.name}", _drawn(by_identity[id(group.first)], mazes))
        for group in groups
        if by_identity[id(group.first)].run.checkpoint.exists()
    ]
    figures = {"curves": draw_curves(groups), "starts": draw_starts(groups)}
    paths = [(words, drawn) for words, drawn in paths if drawn]
    if paths:
        figures["paths"] = draw_paths(paths)
    shown = {}
    for name, figure in figures.items():
        as_bytes = {"png": as_png(figure), "svg": as_svg(figure)}
        for kind, data in as_bytes.items():
            write_atomically(out / f"{name}.{kind}", data)
        # The paths are pixels already.
        shown[name] = (
            ("image/png", as_bytes["png"])
            if name == "paths"
            else ("image/svg+xml", as_bytes["svg"])
        )
    made: Any = {"command": _command(directories, out, mazes), "versions": _versions()}
    numbers = {"tables": tables, "unfinished": unfinished, **made}
    write_atomically(out / RESULT, (json.dumps(numbers, indent=1) + "\n").encode())
    page = write_maze_page(tables, shown, unfinished=unfinished, **made)
    write_atomically(out / PAGE, page.encode())
    print(_text(tables["greedy"]))
    if unfinished:
        print(f"not ended yet, and in no table: {', '.join(unfinished)}")
    print(f"open {out / PAGE}")


def read_result(opened: OpenMazeRun) -> MazeResult:
    """What a run measured, as plain data."""
    run, lines, result = opened.job, opened.run.metrics(), opened.result
    measured: dict[str, Any] = {}
    if result is not None:
        measured = dict(result["training"])
        for name, summary in (result["held_out"] or {}).items():
            measured[f"held-out {name}"] = summary
    return MazeResult(
        regime=run.regime, preset=run.preset, extra=opened.library.extra, frames=run.frames,
        mazes=opened.library.training.digest,
        seed=run.seed, seconds=opened.run.seconds,
        curve=[(line["frames"], line["evaluation"]) for line in lines if "evaluation" in line],
        starts=[
            (line["frames"], *counts) for line in lines for counts in line.get("by_steps_back", ())
        ],
        measured=measured,
    )  # fmt: skip


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


def _text(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _refuse_nonsense(directories: Sequence[Path], out: Path) -> None:
    if not directories:
        raise BackplayError("report", expected="at least one run directory", got="none")
    resolved = [directory.resolve() for directory in directories]
    for i, directory in enumerate(resolved):
        if directory in resolved[:i]:
            raise BackplayError(f"{directories[i]} is named twice", expected="every run once")
    if out.exists() and not out.is_dir():
        raise BackplayError(f"{out} is a file", do="Choose another --out; nothing was written.")
    if out.is_dir() and not {file.name for file in out.iterdir()} <= OURS:
        raise BackplayError(
            f"{out} holds other files than a report's",
            do="Choose another --out; nothing was written.",
        )


def _command(directories: Sequence[Path], out: Path, mazes: Sequence[int]) -> str:
    """What to type to get the same again."""
    words = ["backplay", "maze", "report", *map(str, directories), "--out", str(out)]
    return shlex.join([*words, "--mazes", *map(str, mazes)])


def _versions() -> dict[str, str]:
    packages = {
        name: metadata.version(name)
        for name in ("backplay", "torch", "numpy", "numba", "matplotlib")
    }
    return {**packages, "python": platform.python_version(), "machine": platform.machine()}
