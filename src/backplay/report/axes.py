"""What figures share: colours by regime, panels in rows, and how axes are dressed.

Comes in: names of regimes, how many panels, their words. Goes out: colours, the same in every
figure and on every page; a figure and its axes. Does not know: what is drawn in them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

REGIMES = {
    "backplay": "#0b6bcb", "uniform": "#c2570c", "standard": "#7a5195", "florensa": "#3f7d3a",
    "reverse": "#3f7d3a", "cloned": "#6b7280", "cloned+ppo": "#8a6d1f", "kickstarted": "#b03a63",
}  # fmt: skip
OTHERS = ("#1f8a8a", "#a0522d", "#5b5bd6", "#4d7c0f", "#be185d", "#334155")
SERIES = ("#0b6bcb", "#c2570c", "#7a5195", "#3f7d3a", "#8a6d1f")
"""Of lines that are no regimes, in their order."""
SUCCESS = ("#c4491d", "#d67a4a", "#e3a983", "#cfc6b2", "#8fbcb4", "#459a93", "#0c7a74")
"""From never to always."""
INK, LINES = "#1b2330", "#e1e5ea"
ACROSS = 3  # panels in a row at most, so that a page stays readable
PANEL = (4.3, 2.9)  # inches


def base(regime: str) -> str:
    """The regime without what stands behind it in brackets."""
    return regime.lower().partition(" (")[0]


def colour_of(regime: str, regimes: Iterable[str]) -> str:
    """The regime's own; else one by its place among those that have none."""
    if base(regime) in REGIMES:
        return REGIMES[base(regime)]
    others = dict.fromkeys(base(one) for one in regimes if base(one) not in REGIMES)
    return OTHERS[list(others).index(base(regime)) % len(OTHERS)]


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
