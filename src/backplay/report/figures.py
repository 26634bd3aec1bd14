"""Figures of runs: learning curves, success by start over time, bars of what runs came to.

Comes in: groups of records, which are plain data, and the paper's numbers. Goes out: figures, and
their bytes as PNG or SVG. Does not know: how anything was trained or measured.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from backplay.report.axes import (
    ACROSS,
    INK,
    LINES,
    PANEL,
    SUCCESS,
    base,
    colour_of,
    dress,
    dress_frames,
    panels,
)
from backplay.report.means import (
    bin_width,
    cell_levels,
    farthest,
    last_frame,
    mean_curve,
    mean_of,
    start_counts,
)
from backplay.report.records import Group, is_share

FEW = 5  # seeds below which each is drawn, and no band
TITLE = 46  # letters in a line above a panel
STRIP = (1.05, 1.13)  # where the true start is drawn, in parts of the highest step back
Style = Literal["-", "--", "-.", ":"]
RATES = LinearSegmentedColormap.from_list("success", list(SUCCESS))


def draw_curves(groups: Sequence[Group], measures: Mapping[str, str]) -> Figure:
    """Measures from the true start against frames: a panel for each measure and setting.

    Args:
        groups: in the order of their settings.
        measures: what to show, and its title.
    """
    settings = list(dict.fromkeys(group.setting for group in groups)) or [""]
    if len(settings) == 1:
        rows = [[(measure, settings[0]) for measure in measures]]
    else:
        lines = [settings[at : at + ACROSS] for at in range(0, len(settings), ACROSS)]
        rows = [[(measure, one) for one in line] for measure in measures for line in lines]
    across = max(map(len, rows))
    figure = _figure(across, len(rows), above=0.5)
    cells = figure.subplots(len(rows), across, squeeze=False)
    first: dict[str, Axes] = {}
    for line, row in zip(cells, rows, strict=True):
        for axes in line[len(row) :]:
            axes.set_visible(False)
        for axes, (measure, setting) in zip(line, row, strict=False):
            shown = [group for group in groups if group.setting == setting]
            _draw_curves_of(axes, shown, measure, groups)
            _title(axes, f"{setting}: {measures[measure]}")
            axes.sharey(first.setdefault(measure, axes))
            _dress_values(axes, measure, groups)
    _legend(figure, groups, list(measures), across)
    return figure


def draw_starts(groups: Sequence[Group]) -> Figure:
    """How far from the end episodes started over time, and how many reached the goal.

    Panels of one setting have the same axes. The true start is a strip above the others.
    """
    shown = [group for group in groups if any(run.starts for run in group.runs)]
    figure, cells = panels(len(shown), around=(1.1, 0.1))
    ends: dict[str, tuple[int, int]] = {}
    for group in shown:
        top, last = ends.get(group.setting, (0, 0))
        ends[group.setting] = max(top, farthest(group)), max(last, last_frame(group))
    for axes, group in zip(cells, shown, strict=True):
        _draw_starts_of(axes, group, *ends[group.setting])
        _title(axes, f"{group.setting}: {group.regime}" if len(ends) > 1 else group.regime)
    _rates_bar(figure, cells or figure.axes)
    return figure


def draw_overview(groups: Sequence[Group], measure: str, title: str) -> Figure:
    """One measure of all groups over time, and beside it where the first one's episodes started."""
    figure = _figure(2, 1, above=0.9)
    left, right = figure.subplots(1, 2)
    _draw_curves_of(left, groups, measure, groups)
    _title(left, f"{measure.replace('_', ' ')} from the true start")
    _dress_values(left, measure, groups)
    _draw_starts_of(right, groups[0], farthest(groups[0]), last_frame(groups[0]))
    _title(right, f"{groups[0].regime}: where training episodes start")
    _rates_bar(figure, right)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.5)
    _legend(figure, groups, [measure], 2, "outside lower left")
    return figure


def draw_bars(
    groups: Sequence[Group],
    measure: str,
    title: str,
    paper: Mapping[tuple[str, str], float] | None = None,
) -> Figure:
    """What runs came to, a block of bars for each setting, with every seed and the paper's marks.

    Args:
        groups: in the order of their settings.
        measure: of the runs that have ended.
        title: of the figure.
        paper: its numbers by setting and regime.
    """
    shown = [group for group in groups if group.values(measure)]
    places, heads = _places(shown)
    height = 0.9 + 0.27 * (max([*places, 0.0]) + 1)
    figure = Figure(figsize=(8.6, height), dpi=130, layout="constrained")
    axes = figure.subplots()
    marked = None
    for group, place in zip(shown, places, strict=True):
        dots = group.values(measure)
        mean, low, high = mean_of(group, measure)
        axes.barh(place, mean, height=0.8, color=_colour(group, groups), alpha=0.75, zorder=2)
        if low is not None and high is not None:
            axes.hlines(place, low, high, color=INK, linewidth=1.4, zorder=4)
        axes.plot(dots, [place] * len(dots), "o", color=INK, mec="white", mew=0.6, ms=4, zorder=4)
        mark = (paper or {}).get((group.setting, group.regime))
        if mark is not None:
            (marked,) = axes.plot(mark, place, "D", mfc="white", mec=INK, ms=6, zorder=5)
    axes.set_yticks(
        places, [_literal(textwrap.fill(one.regime, 40)) for one in shown], fontsize=8.5
    )
    for place, setting in heads.items():
        words = _literal(textwrap.shorten(setting, 110, placeholder=" …"))
        axes.annotate(
            words, (0.0, place), xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", va="center", fontsize=8.5, fontweight="bold",
        )  # fmt: skip
    axes.set_ylim(max([*places, 0.0]) + 0.7, -0.7)
    axes.set_title(title, fontsize=10, loc="left")
    dress(axes)
    axes.grid(visible=False, axis="y")
    _dress_values(axes, measure, shown, axis="x")
    if marked is not None:
        axes.legend([marked], ["paper"], frameon=False, fontsize=8, loc="lower right",
                    bbox_to_anchor=(1.0, 1.0))  # fmt: skip
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


def _figure(across: int, down: int, *, above: float = 0.1) -> Figure:
    size = (1.1 + PANEL[0] * across, above + PANEL[1] * down)
    return Figure(figsize=size, dpi=130, layout="constrained")


def _draw_curves_of(
    axes: Axes, shown: Sequence[Group], measure: str, groups: Sequence[Group]
) -> None:
    for group in shown:
        _draw_curve(axes, group, measure, _colour(group, groups), _style(group, groups))
    dress_frames(axes)


def _draw_curve(axes: Axes, group: Group, measure: str, colour: str, style: str) -> None:
    """A line with its seeds or their interval; where nothing was trained, a dotted one."""
    frames, means, seeds = mean_curve(group, measure)
    if not frames:
        ends = group.values(measure)
        if ends and not group.first.frames:
            axes.axhline(
                float(np.mean(ends)), color=colour, linestyle=":", lw=1.6, label=group.regime
            )
        return
    marker = "o" if len(frames) == 1 else ""
    values = [one.value for one in means]
    axes.plot(frames, values, style, marker=marker, color=colour, lw=2.0, label=group.regime)
    if seeds >= FEW:
        low = [np.nan if one.low is None else one.low for one in means]
        high = [np.nan if one.high is None else one.high for one in means]
        axes.fill_between(frames, low, high, color=colour, alpha=0.18, linewidth=0)
    elif seeds > 1:
        for curve in filter(None, (run.curve_of(measure) for run in group.runs)):
            axes.plot(*zip(*curve, strict=True), style, color=colour, alpha=0.4, lw=0.8)


def _draw_starts_of(axes: Axes, group: Group, top: int, last: int) -> None:
    """One map; `top` steps back and the `last` frame are the ends of its axes."""
    starts, top = start_counts(group), max(1, top)
    rates, shares = cell_levels(starts)
    colours = RATES(np.nan_to_num(rates))
    colours[..., 3] = np.select([shares == 0, shares < 0.1, shares < 0.4], [0.0, 0.45, 0.75], 1.0)
    bins = starts.episodes.shape[1]
    places = [(colours[:, :bins], (0.0, float(bin_width(group) * bins)))] if bins else []
    if starts.true_episodes.any():
        places.append((colours[:, bins:], (STRIP[0] * top, STRIP[1] * top)))
        axes.axhline((1 + STRIP[0]) / 2 * top, color=LINES, linewidth=0.8)
    for cells, (low, high) in places:
        axes.imshow(
            cells.transpose(1, 0, 2), origin="lower", aspect="auto", interpolation="nearest",
            extent=(0, last_frame(group), low, high), zorder=3,
        )  # fmt: skip
    ticks = [at for at in MaxNLocator(5, integer=True).tick_values(0, top) if 0 <= at <= top]
    axes.set_yticks([*ticks, sum(STRIP) / 2 * top], [*(f"{at:.0f}" for at in ticks), "true start"])
    axes.set_ylim(0, STRIP[1] * top)
    dress_frames(axes, y="steps back from the end")
    axes.set_xlim(0, last)
    axes.tick_params(axis="y", labelsize=8.5)


def _rates_bar(figure: Figure, axes: Any) -> None:
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), RATES), ax=axes, pad=0.02, aspect=30)
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    bar.set_label("reached the goal from there")
    bar.outline.set_visible(False)


def _legend(
    figure: Figure, groups: Sequence[Group], measures: Sequence[str], across: int,
    where: Literal["outside upper left", "outside lower left"] = "outside upper left",
) -> None:  # fmt: skip
    """One for all panels: every line that is drawn, and of how many seeds."""
    seeds: dict[str, list[int]] = {}
    handles: dict[str, Line2D] = {}
    for group in groups:
        counts = [mean_curve(group, measure).seeds for measure in measures]
        if not group.first.frames:
            counts += [len(group.values(measure)) for measure in measures]
        if max(counts, default=0):
            style: Style = _style(group, groups) if group.first.frames else ":"
            handles.setdefault(
                group.regime, Line2D([], [], color=_colour(group, groups), linestyle=style, lw=2.0)
            )
            seeds.setdefault(group.regime, []).append(max(counts))
    labels = [_literal(f"{regime}, {_seeds(counts)}") for regime, counts in seeds.items()]
    if labels:
        wide = (1.1 + PANEL[0] * across) / (0.085 * max(map(len, labels)) + 0.7)
        figure.legend(
            list(handles.values()), labels, loc=where, frameon=False, fontsize=8.5,
            ncols=max(1, min(len(labels), int(wide))),
        )  # fmt: skip


def _seeds(counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    number = f"{most}" if least == most else f"{least} to {most}"
    return f"{number} seed{'s' if most > 1 else ''}"


def _colour(group: Group, groups: Sequence[Group]) -> str:
    return colour_of(group.regime, (one.regime for one in groups))


def _style(group: Group, groups: Sequence[Group]) -> Style:
    """A line of its own for each kind of the same regime."""
    alike = dict.fromkeys(one.regime for one in groups if base(one.regime) == base(group.regime))
    styles: tuple[Style, ...] = ("-", "--", "-.", ":")
    return styles[list(alike).index(group.regime) % 4]


def _places(groups: Sequence[Group]) -> tuple[list[float], dict[float, str]]:
    """Where bars stand, and above each block of them the name of its setting."""
    places: list[float] = []
    heads: dict[float, str] = {}
    at = 0.0
    for i, group in enumerate(groups):
        if not i or group.setting != groups[i - 1].setting:
            at += 0.3 if i else 0.0
            heads[at] = group.setting
            at += 1.0
        places.append(at)
        at += 1.0
    return places, heads


def _title(axes: Axes, words: str) -> None:
    axes.set_title(_literal(textwrap.fill(words, TITLE)), fontsize=9.5, loc="left")


def _literal(words: str) -> str:
    """Words as they are: between two dollars nothing is set as a formula."""
    return words.replace("$", r"\$")


def _dress_values(axes: Axes, measure: str, groups: Sequence[Group], axis: str = "y") -> None:
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
        axes.set(**{f"{axis}lim": (-0.03 if axis == "y" else 0.0, 1.03)})
        getattr(axes, f"{axis}axis").set_major_formatter(PercentFormatter(1.0))
