"""Studies of graphs, by simulation: does the chain foretell what a table learns on a graph?

Comes in: sizes and a generator. Goes out: a `Study` each.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np

from backplay.curricula import Curriculum, Standard, Uniform
from backplay.theory.bounds import walking_cost
from backplay.theory.graphs import GraphTask, grid, maze, regular, tree
from backplay.theory.projection import project
from backplay.theory.simulate import Runs, simulate_graph
from backplay.theory.starts import phases, stepwise
from backplay.theory.study import Panel, Series, Sizes, Study, Table, judged, short

TASK_SEED = 0  # of the random graphs: the same whatever the seed of the runs
SHARES = {"50 % of the leaves": 0.5, "90 %": 0.9, "all": 1.0}


def graphs(sizes: Sizes, rng: np.random.Generator) -> Study:
    """Trials on graphs beside the exact count on the projected chain."""
    tasks = {
        "grid 10 x 10": grid(10, 10),
        "maze 12 x 12 with 30 walls": maze(12, 30, np.random.default_rng(TASK_SEED)),
        "random 3-regular, 200 nodes": regular(200, 3, np.random.default_rng(TASK_SEED)),
    }
    rows, findings, panels = [], [], []
    for name, task in tasks.items():
        found = project(task.graph, task.goal)
        horizon, cells, seen, foretold = 4 * task.length, [], [], []
        for regime, curriculum in _regimes(task.length).items():
            runs = simulate_graph(task, curriculum, horizon=horizon, runs=sizes.graph_runs, rng=rng)
            where = phases(curriculum, found.chain.length)
            chain = walking_cost(found.chain, where, horizon).trials
            mean, low, high = _mean(runs)
            cells.append(f"{short(mean)}, chain {short(chain)}")
            seen.append((mean, low, high))
            foretold.append(chain)
            findings.append(
                judged(
                    "the projected chain foretells the trials on the graph", f"{name}, {regime}",
                    "about", chain, mean, (low, high),
                )
            )  # fmt: skip
        error = found.summary()["value_error"]
        rows.append([f"{name}, M = {task.length}", f"{error:.0%}", *cells])
        panels.append(_beside(name, list(_regimes(task.length)), foretold, seen))
    return Study(
        "graphs", "Graphs and their chains",
        f"Simulated on graphs ({sizes.graph_runs} runs, walking, H = 4 M) beside the exact count on"
        " the projected chain. A table learns node by node, the chain a whole distance at once: the"
        " counts differ, the order of the regimes survives.",
        panels,
        [
            Table(
                "Trials on graphs",
                ["graph", "value error of the chain, mean", *_regimes(1)], rows,
            )
        ],
        findings,
    )  # fmt: skip


def trees(sizes: Sizes, rng: np.random.Generator) -> Study:
    """A tree with a random leaf as start and one demonstration."""
    rows, findings = [], []
    names = (*SHARES, "own leaf only")
    gains: dict[str, list[tuple[float, float, float]]] = {name: [] for name in names}
    for depth in sizes.depths:
        task = tree(depth, rng)
        own = replace(task, starts=task.demonstration[:1])
        cells = []
        for name, values in gains.items():
            here, share = (task, SHARES[name]) if name in SHARES else (own, 1.0)
            gain = _gain(here, share, sizes.tree_runs, rng)
            values.append(gain)
            cells.append(f"{gain[0]:.2f}" if gain[0] < 3 else f"{gain[0]:.2g}")
        rows.append([f"{depth}", *cells])
        findings.append(
            judged(
                "no gain on average from random leaves: Standard over Backplay is 1",
                f"depth {depth}, 90 % of the leaves", "at most", 1.0,
                gains["90 %"][-1][0], gains["90 %"][-1][1:],
            )
        )  # fmt: skip
    depths = [float(depth) for depth in sizes.depths]
    series = []
    for name, values in gains.items():
        means, lows, highs = (list(column) for column in zip(*values, strict=True))
        series.append(Series(name, depths, means, "line", lows, highs))
    return Study(
        "trees", "The tree with random leaves",
        f"Trials of Standard over trials of Backplay ({sizes.tree_runs} runs, H = 3 depth, m = 1)"
        " until a share of all leaves is updated, and from the demonstration's own leaf alone.",
        [Panel("Standard over Backplay", "depth", "ratio of trials", series)],
        [Table("Trials of Standard over trials of Backplay", ["depth", *gains], rows)], findings,
    )  # fmt: skip


def _regimes(length: int) -> dict[str, Curriculum]:
    return {
        "Standard": Standard(), "Uniform": Uniform(), "Backplay, m = 1": stepwise(length, 1)
    }  # fmt: skip


def _gain(
    task: GraphTask, share: float, runs: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Trials of Standard over trials of Backplay, with the interval of the ratio of means."""
    slow, fast = (
        simulate_graph(
            task, curriculum, horizon=3 * task.length, runs=runs, rng=rng, share=share
        ).trials
        for curriculum in (Standard(), stepwise(task.length, 1))
    )
    ratio = float(slow.mean() / fast.mean())
    relative = [float(t.std() / t.mean()) / sqrt(runs) for t in (slow, fast)]
    half = 1.96 * sqrt(relative[0] ** 2 + relative[1] ** 2)
    return ratio, ratio * (1 - half), ratio * (1 + half)


def _mean(runs: Runs) -> tuple[float, float, float]:
    """Mean trials with a 95 % interval."""
    mean = float(runs.trials.mean())
    half = 1.96 * float(runs.trials.std()) / sqrt(len(runs.trials))
    return mean, mean - half, mean + half


def _beside(
    name: str, regimes: list[str], foretold: list[float], seen: list[tuple[float, float, float]]
) -> Panel:
    x = [float(i) for i in range(len(regimes))]
    means, lows, highs = ([float(v) for v in column] for column in zip(*seen, strict=True))
    return Panel(
        name, "", "trials",
        [
            Series("chain, exact", x, foretold, "dots"),
            Series("graph", x, means, "dots", lows, highs),
        ],
        x_labels=regimes,
    )  # fmt: skip
