"""What the bench shows: every curriculum over all tasks in one picture and two tables.

Comes in: records of its runs. Goes out: success over the share of the frames, the chance to beat
Uniform and the windows, frames to nine tenths. Success is a share of what the best policy of a task
has. Curricula are compared on the tasks that all of them have runs of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from backplay.paper.curricula_bench.observed import recovery
from backplay.paper.curricula_bench.tasks import CHOOSE, ENOUGH, REPORT, Bench
from backplay.report.axes import INK, colour_of, dress
from backplay.report.exhibit import Exhibit, Table
from backplay.report.records import RunRecord
from backplay.report.statistics import (
    Estimate,
    bootstrap,
    frames_to,
    iqm,
    probability_of_improvement,
)
from backplay.report.texts import estimate

TASKS: dict[str, Bench] = {task.job("default", 0).setting: task for task in (*CHOOSE, *REPORT)}
RIVALS = {"uniform": "Uniform", "backplay": "the windows", "default": "the default"}
DASHES = ("-", "--", ":")  # of curves of one colour
POINTS = np.linspace(0.0, 1.0, 21)  # shares of the frames at which curves are averaged
TITLE = "All tasks together"
WORDS = (
    "Left: interquartile mean over tasks and seeds of success from the true start, as a share of"
    " what the best policy has, over the share of each task's frames. Right: the chance that a run"
    " has a higher mean success over its frames than one of Uniform on the same task, with a"
    " stratified bootstrap over seeds."
)
NOTE = (
    "Success as a share of the best policy's, interquartile mean over tasks and seeds; area is its"
    " mean over a run. Intervals are a stratified bootstrap."
)

Curves = dict[str, dict[str, list[NDArray[np.float64]]]]
"""By regime and task, one for each seed: success at POINTS."""


def exhibit(records: Sequence[RunRecord]) -> Exhibit:
    """The picture and the tables; nothing where fewer than two regimes have runs."""
    known = [run for run in records if run.finished and run.setting in TASKS]
    found = in_common(curves(known))
    if len(found) < 2:
        return Exhibit()
    tables = (
        Table(TITLE, NOTE, overall(found)),
        Table(f"Frames to {ENOUGH:.0%} of the best success", "Median over seeds, in thousands; of"
              " runs that never get there –.", frames_cells(known)),
        *recovery(known).tables,
    )  # fmt: skip
    return Exhibit(figures={TITLE: draw(found)}, words={TITLE: WORDS}, tables=tables)


def curves(records: Sequence[RunRecord]) -> Curves:
    """Success over the share of the frames; before the first evaluation it is 0."""
    found: Curves = defaultdict(lambda: defaultdict(list))
    for run in sorted(records, key=lambda run: run.seed):
        task = TASKS[run.setting]
        at, values = zip((0, 0.0), *run.curve_of(task.measure), strict=True)
        shares = np.array(at) / max(run.frames, at[-1])
        found[run.regime][run.setting].append(np.interp(POINTS, shares, values) / task.best)
    return found


def in_common(found: Curves) -> Curves:
    """Of every regime the tasks that all of them have: others would weigh for one alone."""
    both = set.intersection(*map(set, found.values())) if found else set()
    kept = {
        regime: {task: runs for task, runs in of.items() if task in both}
        for regime, of in found.items()
    }
    return kept if both else {}


def areas(of: Mapping[str, Sequence[NDArray[np.float64]]]) -> dict[str, list[float]]:
    """The mean over each run, by task."""
    return {task: [float(curve.mean()) for curve in runs] for task, runs in of.items()}


def better(found: Curves, regime: str, rival: str) -> Estimate | None:
    """The chance to have the larger area, over the tasks that both have."""
    ours, theirs = areas(found[regime]), areas(found.get(rival, {}))
    both = [task for task in ours if task in theirs]
    if not both or regime == rival:
        return None
    rng = np.random.default_rng(0)
    return probability_of_improvement([ours[t] for t in both], [theirs[t] for t in both], rng)


def overall(found: Curves) -> list[tuple[str, ...]]:
    """A row for each regime, the largest area first."""
    rows = []
    for regime, of in found.items():
        ends = [[float(curve[-1]) for curve in runs] for runs in of.values()]
        means = list(areas(of).values())
        cells = [_middle(ends), _middle(means)]
        chances = [better(found, regime, rival) for rival in RIVALS]
        shown = ["–" if one is None else estimate(one, "share") for one in chances]
        counts = f"{len(of)}", f"{sum(map(len, ends))}"
        rows.append((cells[1].value, (regime, *counts, *(estimate(c, "share") for c in cells),
                                      *shown)))  # fmt: skip
    head = ("regime", "tasks", "runs", "at the end", "area",
            *(f"chance to beat {words}" for words in RIVALS.values()))  # fmt: skip
    return [head, *(row for _, row in sorted(rows, key=lambda row: -row[0]))]


def frames_cells(records: Sequence[RunRecord]) -> list[tuple[str, ...]]:
    """A row for each task, a column for each regime."""
    regimes = list(dict.fromkeys(run.regime for run in records))
    rows: list[tuple[str, ...]] = [("task", *regimes)]
    for setting in dict.fromkeys(run.setting for run in records):
        task, cells = TASKS[setting], []
        for regime in regimes:
            runs = [run for run in records if (run.setting, run.regime) == (setting, regime)]
            firsts = [frames_to(run.curve_of(task.measure), ENOUGH * task.best) for run in runs]
            middle = np.median([np.inf if one is None else one for one in firsts or [None]])
            cells.append(f"{middle / 1_000:.0f}" if np.isfinite(middle) else "–" if runs else "")
        rows.append((setting, *cells))
    return rows


def draw(found: Curves) -> Figure:
    """The curves of all regimes, and beside them how they compare with Uniform."""
    figure = Figure(figsize=(10.5, 4.2), dpi=130, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
    order = sorted(found, key=lambda one: -iqm(np.concatenate(list(areas(found[one]).values()))))
    colours = {one: INK if one == "default" else colour_of(one, found) for one in order}
    for place, regime in enumerate(order):
        colour, first = colours[regime], regime == "default"
        before = [colours[one] for one in order[:place]].count(colour)  # there are few colours
        runs = np.array([curve for of in found[regime].values() for curve in of])
        left.plot(POINTS, iqm(runs.T), color=colour, ls=DASHES[before % len(DASHES)],
                  lw=2.8 if first else 1.5, zorder=3 if first else 2, label=regime)  # fmt: skip
    left.set(xlabel="share of the frames", ylabel="success, share of the best", ylim=(0, 1.02))
    left.legend(fontsize=7.5, frameon=False, ncols=2)
    chances = {one: better(found, one, "uniform") for one in order}
    shown = [(one, chance) for one, chance in chances.items() if chance is not None]
    for place, (regime, chance) in enumerate(reversed(shown)):
        colour = colours[regime]
        if chance.low is not None and chance.high is not None:
            right.plot([chance.low, chance.high], [place, place], color=colour, lw=2)
        right.plot(chance.value, place, "o", color=colour)
    right.set_yticks(range(len(shown)), [one for one, _ in reversed(shown)], fontsize=8)
    right.axvline(0.5, color=INK, lw=0.8, ls=":")
    right.set(xlabel="chance to beat Uniform", xlim=(0, 1))
    for axes in (left, right):
        dress(axes)
    return figure


def _middle(strata: Sequence[Sequence[float]]) -> Estimate:
    """The interquartile mean with its interval."""
    value = float(iqm(np.concatenate([np.asarray(values) for values in strata])))
    return Estimate(value, *bootstrap(strata, iqm, np.random.default_rng(0)))
