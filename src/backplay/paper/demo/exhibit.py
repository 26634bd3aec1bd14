"""What the demo's runs have to show: where the car is over an episode, and films of it.

Comes in: records of runs, whose results keep a seed and actions. Goes out: a figure, films. An
episode is played again from its seed and actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

from matplotlib.figure import Figure

from backplay.paper.demo.job import TASK
from backplay.paper.films import films
from backplay.paper.sparse_tasks.exhibit import replayed
from backplay.report.axes import colour_of, dress, panels
from backplay.report.exhibit import Exhibit
from backplay.report.records import RunRecord
from backplay.restore.rollout import roll

POSITIONS = "One episode each: where the car is"
_WORDS = (
    "The likeliest actions of the first seed's agents, all from the same true start; grey: the"
    " demonstration, from its own."
)
FLAG = 0.5


def exhibit(records: Sequence[RunRecord]) -> Exhibit:
    """The first seed of each regime."""
    first: dict[str, RunRecord] = {}
    for run in records:
        if isinstance(run.result.get("episode"), dict):
            first.setdefault(run.regime, run)
    if not first:
        return Exhibit()
    shown = {regime: _positions(run.result["episode"]) for regime, run in first.items()}
    return Exhibit(
        figures={POSITIONS: draw_positions(shown)}, words={POSITIONS: _WORDS},
        films=films(records, "episode", lambda _, kept: replayed(TASK.make, kept)),
    )  # fmt: skip


def draw_positions(positions: dict[str, list[float]]) -> Figure:
    """Positions over steps, a line for each regime, with the demonstration and the flag."""
    figure, (axes,) = panels(1, size=(8.6, 3.0), around=(0.0, 0.0))
    shown = [float(seen[0]) for seen in TASK.demonstrate().observations]
    axes.plot(shown, color="#9aa6b5", linewidth=4, alpha=0.6, label="demonstration")
    for regime, line in positions.items():
        axes.plot(line, color=colour_of(regime, positions), linewidth=1.8, label=regime)
    axes.axhline(FLAG, color="#1b2330", linewidth=0.8, linestyle=":")
    axes.annotate("flag", (1.0, FLAG), xycoords=("axes fraction", "data"), fontsize=8.5)
    axes.set_xlim(left=0)
    dress(axes, x="steps of the episode", y="position of the car")
    figure.legend(loc="outside upper left", ncols=4, frameon=False, fontsize=8.5)
    return figure


def _positions(kept: dict[str, Any]) -> list[float]:
    with closing(TASK.make()) as env:
        return [
            float(seen[0]) for seen in roll(env, kept["actions"], seed=kept["seed"]).observations
        ]
