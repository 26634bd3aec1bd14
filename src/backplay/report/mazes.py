"""Figures of the Maze experiment: learning curves, success by start over time, learned paths.

Comes in: groups of results, which are plain data, and pictures of mazes as pixels. Goes out:
figures, and their bytes as PNG or SVG. Does not know: how anything was trained or drawn in pixels.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.image import imsave
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from backplay.report.charts import cell_levels
from backplay.report.maze_results import Group, last_frame, mean_curve, start_counts
from backplay.report.picture import SUCCESS

COLOURS = {
    "backplay": "#0b6bcb", "uniform": "#c2570c", "standard": "#7a5195", "florensa": "#3f7d3a",
    "cloned": "#6b7280", "cloned+ppo": "#8a6d1f", "kickstarted": "#b03a63",
}  # fmt: skip
BIN = 4  # steps back in a row of the map of starts


class DrawnPath(NamedTuple):
    """A maze with paths in it, as pixels."""

    caption: str
    pixels: NDArray[np.uint8]
    """[height, width, 3]"""


def draw_curves(groups: Sequence[Group]) -> Figure:
    """Success and shortest paths from the true start against frames, a column for each set."""
    sets = [list(part) for _, part in groupby(groups, key=lambda group: group.set_name)]
    figure = Figure(figsize=(1.2 + 4.6 * max(1, len(sets)), 6.4), dpi=130, layout="constrained")
    cells = figure.subplots(2, max(1, len(sets)), squeeze=False, sharey=True)
    rows = (("success", "reached the goal"), ("optimal", "on a shortest path"))
    for column, part in zip(cells.T, sets, strict=False):
        for axes, (name, title) in zip(column, rows, strict=True):
            for group in part:
                _draw_curve(axes, group, name)
            axes.set_title(f"{part[0].set_name}: {title}", fontsize=10, loc="left")
            _dress(axes)
            axes.set_ylim(-0.03, 1.03)
            axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        if column[0].get_legend_handles_labels()[0]:
            column[0].legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def _draw_curve(axes: Axes, group: Group, name: str) -> None:
    """A line with its interval over seeds; where nothing was trained, a dotted one for its end."""
    colour = COLOURS.get(group.first.regime, "#333333")
    style = "-" if group.first.preset == "ours" else "--"
    seeds = len(group.runs)
    label = f"{group.name}, {seeds} seed{'s' if seeds > 1 else ''}"
    frames, means = mean_curve(group, name)
    if frames:
        axes.plot(frames, [one.mean for one in means], style, color=colour, lw=1.9, label=label)
        if means[0].low is not None:
            low, high = ([getattr(one, end) for one in means] for end in ("low", "high"))
            axes.fill_between(frames, low, high, color=colour, alpha=0.18, linewidth=0)
        return
    ends = [run.measured["greedy"][name] for run in group.runs if "greedy" in run.measured]
    if ends:
        level = float(np.mean([end or 0.0 for end in ends]))
        axes.axhline(level, color=colour, linestyle=":", linewidth=1.6, label=label)


def draw_starts(groups: Sequence[Group]) -> Figure:
    """How far from the end episodes started over time, and how many reached the goal."""
    shown = [group for group in groups if any(run.starts for run in group.runs)]
    across = min(3, max(1, len(shown)))
    down = max(1, -(-len(shown) // across))
    figure = Figure(figsize=(1.4 + 4.2 * across, 0.4 + 3.1 * down), dpi=130, layout="constrained")
    cells = figure.subplots(down, across, squeeze=False)
    for axes, group in zip(cells.flat, shown, strict=False):
        _draw_starts_of(axes, group)
    for axes in cells.flat[len(shown) :]:
        axes.set_visible(False)
    colours = ScalarMappable(Normalize(0, 1), SUCCESS)
    bar = figure.colorbar(colours, ax=cells, pad=0.02, aspect=30)
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    bar.set_label("reached the goal from there")
    return figure


def _draw_starts_of(axes: Axes, group: Group) -> None:
    episodes, successes = start_counts(group, width=BIN)
    rates, shares = cell_levels(episodes, successes)
    colours = SUCCESS(np.nan_to_num(rates))
    colours[..., 3] = np.select([shares == 0, shares < 0.1, shares < 0.4], [0.0, 0.45, 0.75], 1.0)
    axes.imshow(
        colours.transpose(1, 0, 2), origin="lower", aspect="auto", interpolation="nearest",
        extent=(0, last_frame(group), 0, BIN * episodes.shape[1]), zorder=3,
    )  # fmt: skip
    axes.set_title(f"{group.set_name}: {group.name}", fontsize=10, loc="left")
    axes.set_ylabel("steps back from the end", fontsize=9)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _dress(axes)


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


def as_png(figure: Figure) -> bytes:
    """The figure's bytes as a PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def as_svg(figure: Figure) -> bytes:
    """The figure's bytes as an SVG, the same for the same figure."""
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "backplay"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def pixels_as_png(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels [height, width, 3] as the bytes of a PNG of that size."""
    buffer = io.BytesIO()
    imsave(buffer, pixels, format="png")
    return buffer.getvalue()


def _dress(axes: Axes) -> None:
    axes.set_xlim(left=0)
    axes.set_xlabel("frames of training", fontsize=9)
    axes.xaxis.set_major_formatter(FuncFormatter(_millions))
    axes.grid(color="#e1e5ea", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _millions(value: float, _: Any) -> str:
    if not value:
        return "0"
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g}k"
