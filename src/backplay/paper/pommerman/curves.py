"""Wins from the true starts while runs train, as in the paper's Figures 3 and 4.

Comes in: records of runs. Goes out: a figure with a panel for each setting: a line for each regime,
the interval of its rate of wins, and a red bar where Backplay's windows have come to the true
starts. Does not know: who played.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from backplay.paper.pommerman.job import EPOCHS
from backplay.rates import wilson
from backplay.report.axes import colour_of, dress_frames, panels
from backplay.report.records import Group, RunRecord

TITLE = "Wins while training (Figures 3 and 4)"
WORDS = (
    "Games from the first state of every map, actions drawn. Lines: all seeds together; bands: the"
    " 95 % interval of the rate of wins in so many games, which says nothing of other seeds. Red:"
    " from here on Backplay starts at the true start alone."
)
RED = "#d11a2a"
LAST_WINDOW = {4: 300, 100: 510}  # the epoch at which it opens, by maps: appendix A.1
MANY = 32  # maps above which an evaluation plays one game of each, whatever the job says


def draw_wins(groups: Sequence[Group]) -> Figure | None:
    """The figure; None where nothing was evaluated yet."""
    shown = [group for group in groups if any(run.curve for run in group.runs)]
    settings = list(dict.fromkeys(group.setting for group in shown))
    if not settings:
        return None
    figure, cells = panels(len(settings), sharey=True)
    for axes, setting in zip(cells, settings, strict=True):
        here = [group for group in shown if group.setting == setting]
        for group in here:
            _draw(axes, group, [one.regime for one in shown])
        _dress(axes, setting, _last_window(here))
    lines: dict[str, Any] = {}
    for axes in cells:
        handles, labels = axes.get_legend_handles_labels()
        lines |= dict(zip(labels, handles, strict=True))
    figure.legend(
        list(lines.values()), list(lines), loc="outside lower center", ncols=6, frameon=False,
        fontsize=8,
    )  # fmt: skip
    return figure


def pooled(group: Group) -> list[tuple[int, float, float, float]]:
    """Frames, the share of games won by all seeds then, and its interval."""
    played: dict[int, list[tuple[float, int]]] = {}
    for run in group.runs:
        for frames, rate in run.curve_of("success"):
            played.setdefault(frames, []).append((rate, _games(run)))
    found = []
    for frames, each in sorted(played.items()):
        games = sum(n for _, n in each)
        won = sum(rate * n for rate, n in each)
        found.append((frames, won / games, *wilson(won, games)))
    return found


def _games(run: RunRecord) -> int:
    """Of one evaluation on the way."""
    maps, games = (int(json.loads(run.asked.get(name, "0"))) for name in ("maps", "games"))
    return max(1, maps * games if maps <= MANY else maps)


def _last_window(groups: Sequence[Group]) -> float | None:
    """Frames at which the last of Backplay's windows opens, if somebody follows them."""
    for group in groups:
        if group.regime == "backplay":
            maps = 100 if int(json.loads(group.first.asked.get("maps", "4"))) > 4 else 4
            return group.first.frames * LAST_WINDOW[maps] / EPOCHS[maps]
    return None


def _draw(axes: Axes, group: Group, regimes: Sequence[str]) -> None:
    frames, rates, low, high = zip(*pooled(group), strict=True)
    colour = colour_of(group.regime, regimes)
    seeds = sum(bool(run.curve) for run in group.runs)
    axes.plot(frames, rates, color=colour, linewidth=1.8, label=group.regime, zorder=3)
    axes.fill_between(frames, low, high, color=colour, alpha=0.15, linewidth=0, zorder=2)
    words = f"{seeds} seed{'s' if seeds > 1 else ''}"
    axes.annotate(words, (frames[-1], rates[-1]), xytext=(3, 0), textcoords="offset points",
                  fontsize=6.5, color=colour, va="center")  # fmt: skip


def _dress(axes: Axes, setting: str, last_window: float | None) -> None:
    if last_window is not None:
        axes.axvline(last_window, color=RED, linewidth=2.2, alpha=0.8, zorder=1)
    axes.margins(x=0.08)
    dress_frames(axes, setting)
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
