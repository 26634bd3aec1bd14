"""What runs in mazes have to show: the paper's table beside ours, learned paths, walks as films.

Comes in: records of runs, whose results keep measurements and boards with paths, and whose lines of
metrics hold deciles of how far from the goal episodes start. Goes out: tables, figures, films.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imsave
from numpy.typing import NDArray

from backplay.envs.maze import draw
from backplay.errors import BackplayError
from backplay.paper.films import Filmed, films, moments
from backplay.paper.maze.job import PAPER
from backplay.paper.maze.methods import tables as of_methods
from backplay.report.axes import dress_frames, panels
from backplay.report.exhibit import Exhibit, Table
from backplay.report.means import mean_of, share_of
from backplay.report.records import Group, RunRecord, grouped
from backplay.report.texts import Cells, estimate, number
from backplay.runs import open_run

SCALE = 9  # pixels along a cell


_MEASURES = {
    "success": "success", "optimal": "optimal", "within_5": "within 5",
    "extra_mean": "extra steps, mean", "extra_std": "extra steps, std",
}  # fmt: skip
_TABLES = {
    "Beside the paper's Table 2": ("training", "greedy",
        "Every maze once from its true start, with the likeliest actions. In brackets: the paper,"
        " after 204.8 million frames. Extra steps are those beyond the shortest path; a failure"
        " counts with its full time, as there."),
    "With drawn actions": ("training", "sampled", "The same with actions drawn from the policy."),
    "On mazes held out": ("held_out", "greedy",
        "Mazes that no agent was trained on, with the likeliest actions."),
}  # fmt: skip
PATHS = "What they learned"
_PATHS = (
    "Broad and pale: the demonstration. Narrow: the likeliest actions of the first seed's agent,"
    " from the ring to the disc."
)
STARTS = "How far from the goal episodes start"
SHOWN = ("florensa", "backplay", "uniform", "standard")
COLOURS = dict(zip(SHOWN, ("#c23b22", "#0b6bcb", "#3f7d3a", "#8a94a3"), strict=True))

Deciles = list[tuple[int, list[int]]]


class DrawnPath(NamedTuple):
    """A maze with paths in it, as pixels."""

    caption: str
    pixels: NDArray[np.uint8]
    """[height, width, 3]"""


def draw_paths(rows: Sequence[tuple[str, Sequence[DrawnPath]]]) -> Figure:
    """Mazes with demonstrations and learned paths: a named row for each agent."""
    across = max((len(paths) for _, paths in rows), default=1)
    figure = Figure(figsize=(2.9 * across, 3.2 * max(1, len(rows))), dpi=110, layout="constrained")
    cells = figure.subplots(max(1, len(rows)), across, squeeze=False)
    for axes in cells.flat:
        axes.set_axis_off()
    for line, (name, paths) in zip(cells, rows, strict=False):
        for axes, (caption, pixels) in zip(line, paths, strict=False):
            axes.imshow(pixels, interpolation="antialiased")
            axes.set_title(f"{name}\n{caption}", fontsize=8, loc="left")
    return figure


def pixels_as_png(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels [height, width, 3] as the bytes of a PNG of that size."""
    buffer = io.BytesIO()
    imsave(buffer, pixels, format="png")
    return buffer.getvalue()


def exhibit(records: Sequence[RunRecord]) -> Exhibit:
    """Tables with the paper's numbers, paths in the first mazes, and the first walk as a film."""
    groups = grouped(records)
    tables = [
        Table(title, note, measured_cells(groups, where, how, paper=not number))
        for number, (title, (where, how, note)) in enumerate(_TABLES.items())
    ]
    rows = [
        (f"{group.setting}, {group.regime}", drawn)
        for group in groups
        if group.ended and (drawn := _paths(group.ended[0]))
    ]
    starts = draw_distances(records)
    return Exhibit(
        figures={
            **({PATHS: draw_paths(rows)} if rows else {}),
            **({} if starts is None else {STARTS: starts}),
        },
        words={PATHS: _PATHS},
        tables=(*of_methods(records), *(table for table in tables if len(table.cells) > 1)),
        films=films(records, "paths", _in_first_maze),
    )  # fmt: skip


def measured_cells(groups: Sequence[Group], where: str, how: str, *, paper: bool) -> Cells:
    """What runs measured in mazes, a row for each group that did: means and intervals over seeds.

    Args:
        groups: of runs that trained in mazes.
        where: "training" or "held_out".
        how: "greedy" or "sampled".
        paper: whether its numbers stand in brackets behind ours.
    """
    titles = [
        f"{title} (paper)" if paper and name != "success" else title
        for name, title in _MEASURES.items()
    ]  # the paper does not say how often its agents succeed
    cells: Cells = [("set", "regime", "seeds", *titles)]
    for group in groups:
        found = [(one.result.get(where) or {}).get(how) for one in group.ended]
        runs = [
            replace(one, measures={name: measured.get(name) for name in _MEASURES})
            for one, measured in zip(group.ended, found, strict=True)
            if isinstance(measured, dict)
        ]
        if runs:
            theirs = PAPER.get((group.regime, wasted(group.first.setting)), {}) if paper else {}
            ours = Group(runs)
            numbers = [_cell(ours, name, theirs.get(name)) for name in _MEASURES]
            cells.append((group.setting, group.regime, f"{len(runs)}", *numbers))
    return cells


def wasted(setting: str) -> int:
    """The steps that demonstrations of a set of mazes take more than needed: 5 of 5-Optimal."""
    found = re.match(r"(\d+)-Optimal", setting)
    return int(found[1]) if found else 0


def _cell(group: Group, name: str, theirs: float | None) -> str:
    if not group.values(name):
        return "–"
    unit = "share" if share_of(group, name) else ""
    behind = f" ({number(theirs, unit)})" if theirs is not None else ""
    return estimate(mean_of(group, name), unit) + behind


def _paths(record: RunRecord) -> list[DrawnPath]:
    """The mazes that a result keeps, with demonstration and path; none of a damaged one."""
    try:
        return [
            DrawnPath(
                f"maze {i}: {ending(one)}",
                draw.picture(
                    _walls(one), one["start"], one["goal"], demonstration=one["demonstration"],
                    path=one["path"], scale=SCALE,
                ),
            )
            for i, one in enumerate(record.result.get("paths") or ())
        ]  # fmt: skip
    except (KeyError, TypeError, ValueError, IndexError):
        return []


def _in_first_maze(record: RunRecord, kept: Sequence[dict[str, Any]]) -> Filmed:
    pictures, words = walk(record, kept)
    return pictures, f"the first maze: {words}"


def walk(record: RunRecord, kept: Sequence[dict[str, Any]]) -> Filmed:
    """The first of some boards, with the demonstration and the path as it grows."""
    one = kept[0]
    path, walls = one["path"], _walls(one)
    pictures = [
        draw.picture(
            walls, one["start"], one["goal"], agent=path[at],
            demonstration=one["demonstration"], path=path[: at + 1], scale=SCALE,
        )
        for at in moments(len(path) - 1)
    ]  # fmt: skip
    return pictures, f"{ending(one)}. Pale: demonstration."


def ending(one: Mapping[str, Any]) -> str:
    """How a walk on a board went."""
    steps = len(one["path"]) - 1
    if one["path"][-1] != one["goal"]:
        return "never reaches the goal"
    return f"{steps} steps, {steps - one['shortest']} too many"


def _walls(one: Mapping[str, Any]) -> NDArray[np.bool_]:
    """The walls of a board that a result keeps, [height, width]."""
    walls = np.zeros(one["height"] * one["width"], np.bool_)
    walls[one["walls"]] = True
    return walls.reshape(one["height"], one["width"])


def deciles(record: RunRecord) -> Deciles:
    """Frames, and the deciles of the distances of starts then; empty where nothing was kept."""
    try:
        lines = open_run(Path(record.path)).metrics()
    except BackplayError:  # the record's notes say it already
        return []
    found: Deciles = []
    for line in lines:
        at, kept = line.get("frames"), line.get("start_distances")
        if type(at) is int and isinstance(kept, list) and _are_deciles(kept):
            found.append((at, kept))
    return found


def draw_distances(records: Sequence[RunRecord]) -> Figure | None:
    """Median of the starts' distances over frames, and the band between 10 and 90 %."""
    settings: dict[str, dict[str, Deciles]] = {}
    for record in records:
        kept = deciles(record) if record.kind == "maze" and record.regime in SHOWN else []
        if kept and record.regime not in settings.get(record.setting, {}):  # one seed is enough
            settings.setdefault(record.setting, {})[record.regime] = kept
    if not settings:
        return None
    figure, cells = panels(len(settings))
    for axes, (setting, regimes) in zip(cells, settings.items(), strict=True):
        for regime, kept in regimes.items():
            at, rows = np.array([at for at, _ in kept]), np.array([row for _, row in kept])
            colour = COLOURS[regime]
            axes.plot(at, rows[:, 5], color=colour, label=regime, linewidth=1.2)
            axes.fill_between(at, rows[:, 1], rows[:, 9], color=colour, alpha=0.15, linewidth=0)
        dress_frames(axes, setting, "steps to the goal")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, fontsize=8)
    return figure


def _are_deciles(kept: list[object]) -> bool:
    return len(kept) == 11 and all(type(n) is int for n in kept)
