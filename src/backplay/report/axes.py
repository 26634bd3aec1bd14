"""Axes that figures share: panels in rows, and how they are dressed.

Comes in: how many panels, their words. Goes out: a figure and its axes. Does not know: what is
drawn in them.
"""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from backplay.report.colours import LINES

ACROSS = 3  # panels in a row at most, so that a page stays readable
PANEL = (4.3, 2.9)  # inches


def panels(
    count: int,
    *,
    size: tuple[float, float] = PANEL,
    around: tuple[float, float] = (0.6, 0.5),
    **shared: Any,
) -> tuple[Figure, list[Axes]]:
    """A figure with so many panels, in rows of at most `ACROSS`; `shared` as for `subplots`.

    Each has its `size` in inches, and the figure so much `around` them.
    """
    across = min(ACROSS, max(1, count))
    down = -(-max(1, count) // across)
    whole = (around[0] + size[0] * across, around[1] + size[1] * down)
    figure = Figure(figsize=whole, dpi=130, layout="constrained")
    cells = figure.subplots(down, across, squeeze=False, **shared)
    for axes in cells.flat[count:]:
        axes.set_visible(False)
    return figure, list(cells.flat[:count])


def dress(axes: Axes, title: str = "", x: str = "", y: str = "") -> None:
    """A title to the left, names of the axes, faint lines, no frame."""
    if title:
        axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(x or axes.get_xlabel(), fontsize=9)
    axes.set_ylabel(y or axes.get_ylabel(), fontsize=9)
    axes.grid(color=LINES, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def dress_frames(axes: Axes, title: str = "", y: str = "") -> None:
    """As `dress`, over the frames of training."""
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(_millions))
    dress(axes, title, "frames of training", y)


def _millions(value: float, _: Any) -> str:
    if not value:
        return "0"
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g}k"
