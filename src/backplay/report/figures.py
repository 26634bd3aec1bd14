"""Figures of runs: learning curves, success by start over time, bars of what runs came to.

Comes in: groups of records, which are plain data, and the paper's numbers. Goes out: figures, and
their bytes as PNG or SVG. Does not know: how anything was trained or measured.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from backplay.report.charts import cell_levels
from backplay.report.curves import bin_width, last_frame, mean_curve, start_counts
from backplay.report.intervals import mean_of
from backplay.report.picture import SUCCESS
from backplay.report.records import Group, is_share

COLOURS = {
    "backplay": "#0b6bcb", "uniform": "#c2570c", "standard": "#7a5195", "florensa": "#3f7d3a",
    "reverse": "#3f7d3a", "cloned": "#6b7280", "cloned+ppo": "#8a6d1f", "kickstarted": "#b03a63",
}  # fmt: skip
_OTHERS = ("#1f8a8a", "#a0522d", "#5b5bd6", "#4d7c0f", "#be185d", "#334155")
ACROSS = 3  # panels in a row at most, so that a page stays readable


def draw_curves(groups: Sequence[Group], measures: Mapping[str, str]) -> Figure:
    """Measures from the true start against frames: a column for each setting, a row for each.

    Args:
        groups: in the order of their settings.
        measures: what to show, and its title.
    """
    settings = list(dict.fromkeys(group.setting for group in groups)) or [""]
    size = (1.2 + 4.6 * len(settings), 0.2 + 3.1 * len(measures))
    figure = Figure(figsize=size, dpi=130, layout="constrained")
    cells = figure.subplots(len(measures), len(settings), squeeze=False, sharey="row")
    for row, (measure, title) in zip(cells, measures.items(), strict=True):
        for axes, setting in zip(row, settings, strict=True):
            shown = [group for group in groups if group.setting == setting]
            for group in shown:
                _draw_curve(axes, group, measure, _colour(group, groups), _style(group, groups))
            axes.set_title(f"{setting}: {title}", fontsize=10, loc="left")
            _dress_frames(axes)
            _dress_values(axes, measure, groups)
            if axes is row[0] or row is cells[0]:
                _legend(axes)
    return figure


def draw_starts(groups: Sequence[Group]) -> Figure:
    """How far from the end episodes started over time, and how many reached the goal."""
    shown = [group for group in groups if any(run.starts for run in group.runs)]
    across = min(ACROSS, max(1, len(shown)))
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


def draw_bars(
    groups: Sequence[Group],
    measure: str,
    title: str,
    paper: Mapping[tuple[str, str], float] | None = None,
) -> Figure:
    """What runs came to, a cluster for each setting, with every seed and the paper's marks.

    Args:
        groups: in the order of their settings.
        measure: of the runs that have ended.
        title: of the figure.
        paper: its numbers by setting and regime.
    """
    shown = [group for group in groups if group.values(measure)]
    size = (2.0 + 0.62 * max(4, len(shown)), 3.6)
    figure = Figure(figsize=size, dpi=130, layout="constrained")
    axes = figure.subplots()
    places = _places(shown)
    marked = False
    for group, place in zip(shown, places, strict=True):
        colour = _colour(group, groups)
        dots = group.values(measure)
        mean, low, high = mean_of(group, measure)
        axes.bar(place, mean, width=0.8, color=colour, alpha=0.75, zorder=2)
        if low is not None and high is not None:
            axes.vlines(place, low, high, color="#1b2330", linewidth=1.4, zorder=4)
        axes.plot([place] * len(dots), dots, ".", color="#1b2330", alpha=0.55, ms=4, zorder=3)
        mark = (paper or {}).get((group.setting, group.regime))
        if mark is not None:
            label = None if marked else "paper"
            axes.plot(place, mark, "D", mfc="white", mec="#1b2330", ms=6, zorder=5, label=label)
            marked = True
    names = [f"{group.regime}\n{group.setting}" for group in shown]
    axes.set_xticks(places, names, fontsize=7.5, rotation=35, ha="right")
    axes.set_title(title, fontsize=10, loc="left")
    _dress(axes)
    _dress_values(axes, measure, shown)
    if marked:
        axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 1.0))
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


def _draw_curve(axes: Axes, group: Group, measure: str, colour: str, style: str) -> None:
    """A line with its interval over seeds; where nothing was trained, a dotted one for its end."""
    frames, means, seeds = mean_curve(group, measure)
    if frames:
        marker = "o" if len(frames) == 1 else ""
        values = [one.value for one in means]
        label = _with_seeds(group, seeds)
        axes.plot(frames, values, style, marker=marker, color=colour, lw=1.9, label=label)
        if seeds > 1:
            low = [np.nan if one.low is None else one.low for one in means]
            high = [np.nan if one.high is None else one.high for one in means]
            axes.fill_between(frames, low, high, color=colour, alpha=0.18, linewidth=0)
        return
    ends = group.values(measure)
    if ends and not group.first.frames:
        label = _with_seeds(group, len(ends))
        axes.axhline(float(np.mean(ends)), color=colour, linestyle=":", linewidth=1.6, label=label)


def _with_seeds(group: Group, seeds: int) -> str:
    return f"{group.regime}, {seeds} seed{'s' if seeds > 1 else ''}"


def _draw_starts_of(axes: Axes, group: Group) -> None:
    episodes, successes = start_counts(group)
    rates, shares = cell_levels(episodes, successes)
    colours = SUCCESS(np.nan_to_num(rates))
    colours[..., 3] = np.select([shares == 0, shares < 0.1, shares < 0.4], [0.0, 0.45, 0.75], 1.0)
    axes.imshow(
        colours.transpose(1, 0, 2), origin="lower", aspect="auto", interpolation="nearest",
        extent=(0, last_frame(group), 0, bin_width(group) * episodes.shape[1]), zorder=3,
    )  # fmt: skip
    axes.set_title(f"{group.setting}: {group.regime}", fontsize=10, loc="left")
    axes.set_ylabel("steps back from the end", fontsize=9)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _dress_frames(axes)


def _colour(group: Group, groups: Sequence[Group]) -> str:
    """The regime's own, whatever settings stand behind it in brackets; else by its place."""
    base = _base(group)
    if base in COLOURS:
        return COLOURS[base]
    others = dict.fromkeys(_base(one) for one in groups if _base(one) not in COLOURS)
    return _OTHERS[list(others).index(base) % len(_OTHERS)]


def _style(group: Group, groups: Sequence[Group]) -> str:
    """A line of its own for each kind of the same regime."""
    alike = dict.fromkeys(one.regime for one in groups if _base(one) == _base(group))
    return ("-", "--", "-.", ":")[list(alike).index(group.regime) % 4]


def _base(group: Group) -> str:
    return group.regime.lower().partition(" (")[0]


def _places(groups: Sequence[Group]) -> list[float]:
    """Where bars stand: a gap between two settings."""
    places, at = [], 0.0
    for i, group in enumerate(groups):
        if i:
            at += 1.0 if group.setting == groups[i - 1].setting else 1.7
        places.append(at)
    return places


def _legend(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8, loc="best")


def _dress_values(axes: Axes, measure: str, groups: Sequence[Group]) -> None:
    """Shares from 0 to 100 %, whatever was reached."""
    seen = [value for group in groups for value in group.values(measure)]
    seen += [
        measured[measure]
        for group in groups
        for run in group.runs
        for _, measured in run.curve
        if measure in measured
    ]
    if is_share(measure, seen):
        axes.set_ylim(-0.03, 1.03)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def _dress_frames(axes: Axes) -> None:
    axes.set_xlim(left=0)
    axes.set_xlabel("frames of training", fontsize=9)
    axes.xaxis.set_major_formatter(FuncFormatter(_millions))
    _dress(axes)


def _dress(axes: Axes) -> None:
    axes.grid(color="#e1e5ea", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _millions(value: float, _: Any) -> str:
    if not value:
        return "0"
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g}k"
