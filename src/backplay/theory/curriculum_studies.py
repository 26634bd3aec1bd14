"""Studies of curricula on chains: Backplay's step and its windows, Uniform against Backplay.

Comes in: sizes and a generator for the intervals of fits. Goes out: a `Study` each. All is exact.
"""

from __future__ import annotations

from math import log

import numpy as np

from backplay.curricula import Standard, Uniform
from backplay.theory.bounds import (
    Cost,
    log_backplay_sum,
    log_standard,
    log_uniform,
    merging_cost,
    number,
    walking_cost,
)
from backplay.theory.chains import Chain
from backplay.theory.growth import growth
from backplay.theory.starts import phases, stepwise, windowed
from backplay.theory.study import Panel, Series, Sizes, Study, Table, judged, short


def windows(sizes: Sizes, rng: np.random.Generator) -> Study:
    """Backplay's step m: starts at exact multiples against windows."""
    m_all, alpha, rows = 24, 0.3, []
    chain = Chain.constant(m_all, alpha)
    steps = (1, 2, 4, 8, 12, 24)
    kinds: dict[str, list[Cost]] = {"stepwise": [], "walking": [], "windowed": []}
    for m in steps:
        kinds["stepwise"].append(merging_cost(chain, phases(stepwise(m_all, m), m_all), m_all))
        kinds["walking"].append(walking_cost(chain, phases(stepwise(m_all, m), m_all), m_all))
        kinds["windowed"].append(merging_cost(chain, phases(windowed(m_all, m), m_all), m_all))
        costs = [costs[-1] for costs in kinds.values()]
        bound = number(log_backplay_sum(chain, m))
        cells = [f"{short(cost.trials)} ({short(cost.steps)})" for cost in costs]
        rows.append([f"{m}", *cells, short(bound)])
    uniform = merging_cost(chain, phases(Uniform(), m_all), m_all)
    walking = walking_cost(chain, phases(Uniform(), m_all), m_all)
    standard = merging_cost(chain, phases(Standard(), m_all), m_all)
    head = [
        "m", "stepwise, merging", "stepwise, walking", "windowed, merging",
        "the proof's sum, steps",
    ]  # fmt: skip
    logs = {name: [cost.log_trials for cost in costs] for name, costs in kinds.items()}
    stepped = growth(steps, logs["stepwise"], rng, logarithms=True)
    wide = growth(steps, logs["windowed"], rng, logarithms=True)
    findings = [
        judged(
            "stepwise trials grow at rate -log(alpha) in m", "alpha = 0.3, M = H = 24", "about",
            -log(alpha), stepped.rate, stepped.rate_interval,
        ),
        judged(
            "windowed trials grow like m^1 or slower", "alpha = 0.3, M = H = 24", "at most",
            1.0, wide.exponent, wide.exponent_interval,
        ),
    ]  # fmt: skip
    x = [float(m) for m in steps]
    lines = [
        Series(name, x, [number(value) for value in values])
        for name, values in (("exact multiples", logs["stepwise"]), ("windows", logs["windowed"]))
    ]
    note = (
        f"Standard: {short(standard.trials)} trials (the paper's lower bound:"
        f" {short(number(log_standard(m_all, alpha)))} steps). Uniform: {short(uniform.trials)}"
        f" trials, {short(uniform.steps)} steps (bound:"
        f" {short(number(log_uniform(m_all, alpha)))}); walking {short(walking.steps)} steps."
    )
    return Study(
        "windows", "Backplay's step m",
        f"alpha = 0.3, M = H = 24. Starts at exact multiples of m cost an exponent in m, windows"
        f" of m do not. {note}",
        [Panel("trials against m", "m", "trials", lines, log_x=True)],
        [Table("alpha = 0.3, M = H = 24, trials (steps)", head, rows)], findings,
    )  # fmt: skip


def ratio(sizes: Sizes, rng: np.random.Generator) -> Study:
    """Uniform's trials over Backplay's: the paper's factor M."""
    lengths = sizes.ratio_lengths
    rows, findings = [], []
    panels = []
    ratios: dict[str, list[Series]] = {"merging": [], "walking": []}
    for alpha in (0.1, 0.3, 0.5, 0.6):
        cells = []
        for reading, cost in (("merging", merging_cost), ("walking", walking_cost)):
            logs = [
                cost(Chain.constant(m, alpha), phases(Uniform(), m), m).log_trials
                - cost(Chain.constant(m, alpha), phases(stepwise(m, 1), m), m).log_trials
                for m in lengths
            ]
            values = [number(value) for value in logs]
            cells.append(
                ", ".join(f"{value:.1f}" if value < 16 else f"{value:.0f}" for value in values)
            )
            ratios[reading].append(
                Series(f"alpha = {alpha:g}", [float(m) for m in lengths], values)
            )
            found = growth(lengths, logs, rng, logarithms=True)
            findings.append(
                judged(
                    "Uniform's trials over Backplay's grow like M^1",
                    f"{reading}, alpha = {alpha:g}", "about", 1.0,
                    found.exponent, found.exponent_interval,
                )
            )  # fmt: skip
        rows.append([f"{alpha:g}", *cells])
    x = [float(m) for m in lengths]
    for reading, series in ratios.items():
        line = Series("M / 2", x, [m / 2 for m in x], "dashes")
        title = f"Uniform over Backplay, {reading}"
        panels.append(Panel(title, "M", "ratio of trials", [*series, line], log_x=True))
    listed = ", ".join(map(str, lengths))
    title = f"Trials of Uniform over trials of Backplay (m = 1), H = M, M = {listed}"
    return Study(
        "ratio", "Uniform against Backplay",
        "The paper says that Uniform is slower by a factor of M. In the merging reading that holds"
        " for alpha < 1/2; a learner that walks on loses far less.",
        panels, [Table(title, ["alpha", "merging", "walking"], rows)], findings,
    )  # fmt: skip
