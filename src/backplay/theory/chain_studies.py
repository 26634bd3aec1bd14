"""Studies of chains: the gap, trials against the length, longer trials.

Comes in: sizes and a generator. Goes out: a `Study` each. All but the dots of `trials` is exact.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from scipy.linalg import eigh_tridiagonal

from backplay.curricula import Curriculum, Standard, Uniform
from backplay.theory.bounds import Cost, merging_cost, number
from backplay.theory.chains import Chain
from backplay.theory.growth import growth
from backplay.theory.hitting import log_passage_times, log_relaxation
from backplay.theory.simulate import simulate_chain
from backplay.theory.starts import phases, stepwise, windowed
from backplay.theory.study import Finding, Panel, Series, Sizes, Study, Table, judged, short

GAPS = (
    (0.1, 0.0), (0.3, 0.0), (0.38, 0.0), (0.4, 0.0), (0.45, 0.0), (0.5, 0.0), (0.7, 0.0),
    (0.1, 0.5), (0.2, 0.5),
)  # fmt: skip


def gap(sizes: Sizes, rng: np.random.Generator) -> Study:
    """Does the reciprocal gap grow like alpha^(-M / 2)?"""
    lengths = sizes.gap_lengths
    rows, findings = [], []
    for alpha, beta in GAPS:
        logs = [log_relaxation(Chain.constant(m, alpha, beta)) for m in lengths]
        found = growth(lengths, logs, rng, logarithms=True)
        slope = (logs[-1] - logs[-2]) / (lengths[-1] - lengths[-2])
        away, claimed, short_chain = (
            1 - alpha - beta,
            -log(alpha) / 2,
            Chain.constant(50, alpha, beta),
        )
        findings.append(
            judged(
                "1/gap grows at rate -log(alpha)/2 a state, or faster", _named(alpha, beta),
                "at least", claimed, found.rate, found.rate_interval,
            )
        )  # fmt: skip
        rows.append([
            f"{alpha:g}, {beta:g}", f"{slope:.3f}",
            f"{log(away / alpha):.3f}" if away >= alpha else "-", f"{claimed:.3f}",
            short(number(float(log_passage_times(short_chain)[-1]))),
            short(number(log_relaxation(short_chain))), short(alpha**-25.0),
        ])  # fmt: skip
    mixing, limit = _mixing_gap(0.3, 160), (sqrt(0.7) - sqrt(0.3)) ** 2
    rate = log(_mixing_gap(0.3, 80) / mixing) / 80
    findings.append(
        judged(
            "1/gap of the walk that goes on through the goal grows at that rate",
            "alpha = 0.3, M = 80 to 160", "at least", -log(0.3) / 2, rate, (rate, rate),
        )
    )  # fmt: skip
    head = [
        "alpha, beta", "growth of log(1/gap) per state", "log r", "claimed: -log(alpha)/2",
        "E tau, M = 50", "1/gap, M = 50", "alpha^(-25)",
    ]  # fmt: skip
    ends = f"M = {lengths[-2]} to {lengths[-1]}"
    title = f"The reciprocal gap (growth from {ends})"
    return Study(
        "gap", "The reciprocal spectral gap",
        f"How fast 1/gap of the absorbed chain grows with each state, {ends}, against the paper's"
        " claim, which holds where 1 - alpha - beta is at least sqrt(alpha). The walk that goes on"
        f" through the goal has a gap of {mixing:.4f} at alpha = 0.3, M = 160; limit {limit:.4f}.",
        [_gap_panel(lengths[-2:])], [Table(title, head, rows)], findings,
    )  # fmt: skip


def _gap_panel(lengths: tuple[int, ...]) -> Panel:
    alphas = [float(alpha) for alpha in np.linspace(0.06, 0.9, 43)]
    near, far = ([log_relaxation(Chain.constant(m, a)) for a in alphas] for m in lengths)
    span = lengths[1] - lengths[0]
    rates = [(b - a) / span for a, b in zip(near, far, strict=True)]
    drift = [a for a in alphas if a <= 0.5]
    return Panel(
        "growth of log(1/gap) with each state, beta = 0", "alpha", "rate",
        [
            Series("exact", alphas, rates),
            Series("claimed: -log(alpha)/2", alphas, [-log(a) / 2 for a in alphas], "dashes"),
            Series("log((1 - alpha)/alpha)", drift, [log((1 - a) / a) for a in drift], "dots"),
        ],
        log_y=False,
    )  # fmt: skip


def _mixing_gap(alpha: float, length: int) -> float:
    """The gap of the walk on 0..M that stays where it is instead of leaving at either end."""
    stays = np.zeros(length + 1)
    stays[0], stays[-1] = alpha, 1 - alpha
    beside = np.full(length, sqrt(alpha * (1 - alpha)))
    return 1 - float(eigh_tridiagonal(stays, beside, eigvals_only=True)[-2])


def _regimes(length: int) -> dict[str, Curriculum]:
    return {
        "Standard": Standard(), "Uniform": Uniform(),
        "Backplay, m = 1": stepwise(length, 1),
        "Backplay, windows of 4": windowed(length, min(4, length)),
    }  # fmt: skip


def trials(sizes: Sizes, rng: np.random.Generator) -> Study:
    """Trials against M below, at and above alpha = 1/2, exact and simulated."""
    panels: list[Panel] = []
    findings: list[Finding] = []
    for alpha in (0.3, 0.5, 0.7):
        exact = {name: _costs(name, sizes.lengths, alpha) for name in _regimes(4)}
        series = []
        for name, costs in exact.items():
            counts = [number(cost.log_trials) for cost in costs]
            series.append(Series(name, [float(m) for m in sizes.lengths], counts))
            series.append(_simulated(name, sizes, alpha, costs, rng))
            findings += _rates(name, sizes.lengths, alpha, costs, rng)
        panels.append(Panel(f"alpha = {alpha:g}", "M", "trials", series, log_x=True))
    findings.sort(key=lambda finding: finding.claim)
    return Study(
        "trials", "Trials until the start is updated",
        "Merging reading, trials of at most M steps. Lines are exact; dots are means of"
        f" {sizes.chain_runs} simulated runs with 95 % intervals, where that is affordable.",
        panels, [], findings,
    )  # fmt: skip


def _costs(name: str, lengths: tuple[int, ...], alpha: float) -> list[Cost]:
    return [
        merging_cost(Chain.constant(m, alpha), phases(_regimes(m)[name], m), m) for m in lengths
    ]


def _simulated(
    name: str, sizes: Sizes, alpha: float, costs: list[Cost], rng: np.random.Generator
) -> Series:
    x, y, low, high = [], [], [], []
    for m, cost in zip(sizes.lengths, costs, strict=True):
        if (
            cost.steps * sizes.chain_runs > sizes.steps
            or cost.trials * sizes.chain_runs > sizes.steps
        ):
            continue
        runs = simulate_chain(
            Chain.constant(m, alpha), _regimes(m)[name],
            horizon=m, runs=sizes.chain_runs, rng=rng, merging=True,
        )  # fmt: skip
        mean, half = runs.trials.mean(), 1.96 * runs.trials.std() / sqrt(sizes.chain_runs)
        x.append(float(m))
        y.append(float(mean))
        low.append(float(mean - half))
        high.append(float(mean + half))
    return Series(f"{name}, simulated", x, y, "dots", low, high)


def _rates(
    name: str, lengths: tuple[int, ...], alpha: float, costs: list[Cost], rng: np.random.Generator
) -> list[Finding]:
    found = growth(lengths, [cost.log_steps for cost in costs], rng, logarithms=True)
    where = f"{name}, alpha = {alpha:g}, steps, H = M"
    if name == "Standard":
        text, rate = "steps grow at rate -log(alpha)/2 or faster", -log(alpha) / 2
        return [judged(text, where, "at least", rate, found.rate, found.rate_interval)]
    power = 3.0 if name == "Uniform" else 2.0
    text = f"steps grow like M^{power:g} or slower"
    return [judged(text, where, "at most", power, found.exponent, found.exponent_interval)]


def horizons(sizes: Sizes, rng: np.random.Generator) -> Study:
    """Standard's trials with longer trials: what is left of the exponential."""
    lengths, times, heads = (10, 20, 40), (1, 2, 4, 16), ("H = M", "H = 2M", "H = 4M", "H = 16M")
    rows, findings = [], []
    for alpha in (0.3, 0.5, 0.6, 0.8):
        cells = []
        for k, head in zip(times, heads, strict=True):
            logs = [
                merging_cost(Chain.constant(m, alpha), phases(Standard(), m), k * m).log_trials
                for m in lengths
            ]
            cells.append(", ".join(short(number(x)) for x in logs))
            found = growth(lengths, logs, rng, logarithms=True)
            findings.append(
                judged(
                    "Standard's trials grow at rate -log(alpha)/2 or faster",
                    f"alpha = {alpha:g}, {head}", "at least", -log(alpha) / 2,
                    found.rate, found.rate_interval,
                )
            )  # fmt: skip
        rows.append([f"{alpha:g}", *cells])
    sizes_text = ", ".join(map(str, lengths))
    return Study(
        "horizons", "Longer trials",
        "Expected trials of Standard, merging. With trials of M steps the straight way alone"
        " succeeds, so the count is exponential for every alpha; with longer ones drift decides.",
        [], [Table(f"Expected trials of Standard, M = {sizes_text}", ["alpha", *heads], rows)],
        findings,
    )  # fmt: skip


def _named(alpha: float, beta: float) -> str:
    return f"alpha = {alpha:g}, beta = {beta:g}"
