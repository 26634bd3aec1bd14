"""The paper's Table 1, measured: what each method needs, and what comes of it in the Maze.

Comes in: a scale and a number of seeds; later, records of the runs. Goes out: jobs, claims, and one
table. The paper's table has words alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

from backplay.paper.experiment import scaled, seeds_from
from backplay.paper.maze.job import MazeJob
from backplay.report.claims import Claim, Final, at_least
from backplay.report.exhibit import Table
from backplay.report.records import RunRecord, grouped
from backplay.train.job import Job

if TYPE_CHECKING:
    from backplay.report.records import Group

NEEDS = {
    "standard": "nothing",
    "backplay": "states, resets",
    "uniform": "states, resets",
    "florensa": "one state near the goal, resets, a reversible env",
    "cloned": "states, actions",
    "cloned+ppo": "states, actions",
    "kickstarted": "states, actions",
    "gail": "states, actions",
    "gail+uniform": "states, actions, resets",
    "gail+default": "states, actions, resets",
    "dagger": "states, actions, an expert who can be asked",
}
"""By regime: of demonstrations, and of the env. All but cloning act in the env."""
FRAMES = {12: 512_000, 24: 2_048_000}
"""Of a run at scale 1, by cells along a side: enough for Backplay, see results/0.1.0/maze.md."""
REVERSE_FRAMES = {8: 2_048_000, 12: 5_120_000, 24: 10_240_000}
"""The same where the reverse curriculum is looked at: enough for it, too."""
ASKING = 0.1  # share of these frames that DAgger has: what it needs are labels
LABEL = "imitation"
SETTINGS = {
    (12, 0): f"Optimal, 12x12, {LABEL}", (24, 0): f"Optimal, {LABEL}",
    (24, 5): f"5-Optimal, {LABEL}", (24, 10): f"10-Optimal, {LABEL}",
}  # fmt: skip
"""By cells along a side, and steps that demonstrations waste."""
SETTING = SETTINGS[24, 0]
IMITATING = ("cloned", "dagger", "gail", "gail+uniform", "gail+default", "backplay")
"""Regimes that are run where demonstrations waste steps, too: whom that harms."""
MANY, FEWER = 20_000, (10, 100, 1_000)  # mazes to learn from
NETWORKS = {"planning": (4, 2_560_000), "sight": (9, 10_240_000)}
"""Networks for mazes never seen, by the field of `MazeJob` that asks for them: what it says, and
the frames of a run at scale 1."""
_TABLE = {
    "success": "success", "optimal": "shortest paths", "sampled_success": "success, drawn actions",
    "one_off": "one cell off", "three_off": "three cells off",
}  # fmt: skip


def jobs(scale: float, seeds: int) -> list[Job]:
    """All regimes with the same frames, those that imitate first; longer demonstrations last."""
    rest = tuple(regime for regime in NEEDS if regime not in IMITATING)
    shares = {"cloned": 0.0, "dagger": ASKING}
    return [
        MazeJob(
            regime=regime, seed=seed, size=size, extra=extra, label=LABEL, evaluations=20,
            frames=round(shares.get(regime, 1.0) * scaled(FRAMES[size], scale)),
        )
        for size, extra in SETTINGS
        for seed in seeds_from(0, seeds)
        for regime in (*IMITATING, *(() if extra else rest))
    ]  # fmt: skip


def reverse_jobs(scale: float, seeds: int) -> list[Job]:
    """Florensa's curriculum where it must work, beside Backplay: small mazes, then the paper's."""
    return [
        MazeJob(regime=regime, seed=seed, size=size, frames=scaled(frames, scale), evaluations=20)
        for size, frames in REVERSE_FRAMES.items()
        for seed in seeds_from(0, seeds)
        for regime in ("florensa", "backplay", "standard")
    ]


def unseen_jobs(scale: float, seeds: int) -> list[Job]:
    """Both networks, on more and more mazes, measured on a thousand that they never saw."""
    kinds = [("uniform", MANY), ("backplay", MANY), ("default", MANY), ("standard", MANY)]
    kinds += [("uniform", mazes) for mazes in FEWER]
    return [
        MazeJob(
            regime=regime, seed=seed, frames=scaled(frames, scale), mazes=mazes, held_out=1_000,
            maze_seed=5, evaluations=20, planning=amount * (network == "planning"),
            sight=amount * (network == "sight"),
        )
        for network, (amount, frames) in NETWORKS.items()
        for seed in seeds_from(0, seeds)
        for regime, mazes in kinds
    ]  # fmt: skip


def unseen_claims() -> tuple[Claim, ...]:
    """That mazes never seen are within reach: the paper's agents reached none."""
    return tuple(
        at_least(
            f"{regime.capitalize()}, with {words}, {what} a thousand mazes never seen",
            "ours; section 4.3 reports that nothing generalised",
            Final(
                f"Optimal, {MANY} mazes, {network} {NETWORKS[network][0]}, set 5", regime, measure
            ), target,
        )
        for network, words in (("planning", "a network that plans"), ("sight", "sight"))
        for measure, target, what in (
            ("held_out_success", 0.9, "reaches 90 % of the goals of"),
            ("held_out_optimal", 0.5, "takes a shortest path in half of"),
        )
        for regime in ("backplay", "uniform", "default", "standard")
    )  # fmt: skip


def claims() -> tuple[Claim, ...]:
    """What the paper's Table 1 and section 4.2 say, as far as they say anything measurable."""
    of = partial(Final, SETTING)
    return (
        at_least("Cloning suffers one cell off the demonstration, Backplay does not",
                 "Section 3.2", of("backplay", "one_off") - of("cloned", "one_off"), 0.1),
        at_least("GAIL does no better than Backplay with the same frames", "Table 1",
                 of("backplay", "success") - of("gail", "success"), 0.0),
        at_least("Who is told what to do where it goes astray suffers less than who is not", "ours",
                 of("dagger", "one_off") - of("cloned", "one_off"), 0.1),
    )  # fmt: skip


def reverse_claims() -> tuple[Claim, ...]:
    """That it learns small mazes, and gets less far in larger ones."""
    small = (
        at_least(f"Florensa's curriculum learns mazes of {size} x {size} cells", "ours",
                 Final(f"Optimal, {size}x{size}", "florensa", "success"), 0.9)
        for size in (8, 12)
    )  # fmt: skip
    behind = Final("Optimal", "backplay", "success") - Final("Optimal", "florensa", "success")
    text = "It is behind Backplay in mazes of 24 x 24 cells"
    return (*small, at_least(text, "Table 2", behind, 0.1, paper=0.49))


def tables(records: Sequence[RunRecord]) -> tuple[Table, ...]:
    """One for each kind of mazes of which there are runs."""
    found = (_table(*kind, [one for one in records if one.finished]) for kind in SETTINGS)
    return tuple(one for one in found if one is not None)


def _table(size: int, extra: int, records: Sequence[RunRecord]) -> Table | None:
    """One row for each regime: what it needs, and means over seeds of what it came to."""
    groups = grouped(one for one in records if one.setting == SETTINGS[size, extra])
    by_regime = {group.regime: group for group in groups}
    if not by_regime:
        return None
    head = ("regime", "needs", "seeds", "frames", "labels asked", *_TABLE.values())
    rows = [_row(regime, by_regime[regime]) for regime in NEEDS if regime in by_regime]
    note = (
        "Greedy from every true start, or from every cell so many steps off a demonstration; the"
        " expert whom DAgger asks is A*. A label is an answer about a state not asked about before."
    )
    longer = f", demonstrations {extra} steps longer than need be" if extra else ""
    title = f"What each method needs, and what comes of it (Table 1): {size} x {size} cells{longer}"
    return Table(title, note, [head, *rows])


def _row(regime: str, group: Group) -> tuple[str, ...]:
    def mean(name: str) -> float:
        found = [value for run in group.runs if (value := run.measures.get(name)) is not None]
        return sum(found) / len(found) if found else float("nan")

    labels = mean("labels")
    return (
        regime, NEEDS[regime], str(len(group.runs)),
        f"{group.runs[0].frames / 1e6:.3g} M" if group.runs[0].frames else "0",
        f"{labels:,.0f}" if isfinite(labels) else "0",
        *(f"{mean(name):.0%}" if isfinite(mean(name)) else "–" for name in _TABLE),
    )  # fmt: skip
