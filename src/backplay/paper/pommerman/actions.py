"""Which actions runs chose over time: shares of each, stacked, a panel for each kind of run.

Comes in: lines of metrics, of which those after an evaluation may hold `actions`, how often each
action was chosen. Goes out: a figure. Does not know: what the actions do, or who chose them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from backplay.report.axes import dress_frames, panels

COLOURS = ("#8a94a3", "#0b6bcb", "#5aa9e6", "#3f7d3a", "#9bc07f", "#c23b22")

Counts = list[tuple[int, list[int]]]
"""Frames, and how often each action was chosen in the evaluation then."""


def action_counts(lines: Iterable[Mapping[str, Any]]) -> Counts:
    """What one run's lines of metrics say of its actions; lines without a word of them are left."""
    found: Counts = []
    for line in lines:
        frames, counts = line.get("frames"), line.get("actions")
        whole = isinstance(counts, list) and all(type(n) is int and n >= 0 for n in counts)
        if type(frames) is int and whole and counts and sum(counts):
            found.append((frames, [int(n) for n in counts]))
    return found


def action_shares(runs: Sequence[Counts]) -> tuple[list[int], np.ndarray[Any, Any]]:
    """Frames [n], and the share of each action in all runs then, [n, actions]."""
    most = max((len(counts) for run in runs for _, counts in run), default=0)
    summed: dict[int, np.ndarray[Any, Any]] = {}
    for run in runs:
        for at, counts in run:
            summed.setdefault(at, np.zeros(most))[: len(counts)] += counts
    frames = sorted(summed)
    totals = np.array([summed[moment] for moment in frames]).reshape(len(frames), most)
    return frames, totals / np.maximum(1, totals.sum(1, keepdims=True))


def draw_actions(kinds: Mapping[str, Sequence[Counts]], names: Sequence[str]) -> Figure | None:
    """The shares of the actions over frames, seeds together; None if no run counted them.

    Args:
        kinds: the runs of each kind, by its title.
        names: of the actions, in the order in which they are counted.
    """
    shown = {title: action_shares(runs) for title, runs in kinds.items() if any(runs)}
    if not shown:
        return None
    figure, cells = panels(len(shown), around=(1.4, 0.5), sharey=True)
    for axes, (title, (frames, shares)) in zip(cells, shown.items(), strict=True):
        _draw(axes, title, frames, shares, names)
    handles, labels = cells[0].get_legend_handles_labels()
    figure.legend(
        handles[::-1], labels[::-1], loc="outside right center", frameon=False, fontsize=8
    )
    return figure


def _draw(
    axes: Axes, title: str, frames: list[int], shares: np.ndarray[Any, Any], names: Sequence[str]
) -> None:
    colours = [COLOURS[i % len(COLOURS)] for i in range(shares.shape[1])]
    labels = [*names, *(f"action {i}" for i in range(len(names), shares.shape[1]))]
    # A single evaluation is no area: it is drawn as wide as the time before it.
    at, rows = (frames, shares) if len(frames) > 1 else ([0, *frames], np.vstack([shares, shares]))
    axes.stackplot(
        at, rows.T, labels=labels[: shares.shape[1]], colors=colours, linewidth=0, alpha=0.9
    )
    dress_frames(axes, title)
    axes.set_ylim(0, 1)
    axes.set_xlim(at[0], at[-1])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
