"""The Maze experiments: the paper's Table 2, its learning curves, and ours.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data. At scale 1 a run has the
paper's 204.8 million frames; our preset needs a twentieth of them. Below that, gradient steps
shrink faster than the frames, so that a tiny scale is a cheap look at everything and no more: at a
hundredth nobody learns a way, and a run takes half a minute instead of ten.
"""

from __future__ import annotations

from backplay.experiments.experiment import Experiment, scaled, seeds_from
from backplay.experiments.jobs import Job
from backplay.experiments.maze import PAPER_EPOCH, PAPER_EPOCHS
from backplay.experiments.maze_claims import (
    BUDGET_CLAIM,
    NEW_MAZES,
    REGIMES,
    budget,
    cloning_claims,
    curve_claims,
    new_claims,
    paper_claims,
    table_claims,
)
from backplay.experiments.maze_job import MazeJob

FULL = PAPER_EPOCHS * PAPER_EPOCH
ENOUGH = 0.05  # of FULL, for our preset
EXTRAS = (0, 5, 10)
IMITATING = ("cloned", "cloned+ppo", "kickstarted")
SHARES = (10, 15, 20, 30, 50, 100)  # per cent of the frames of maze-budget's largest runs


def effort_at(scale: float) -> float:
    """The share of our preset's gradient steps that are made."""
    return min(1.0, (scale / ENOUGH) ** 2)


def maze_jobs(
    scale: float, seeds: int, regimes: tuple[str, ...], extras: tuple[int, ...]
) -> list[Job]:
    """Jobs of our preset on the paper's sets."""
    frames = scaled(FULL, scale)
    return [
        MazeJob(
            regime=regime, extra=extra, seed=seed, effort=effort_at(scale),
            frames=0 if regime == "cloned" else frames,
            evaluations=max(10, min(40, round(40 * scale / ENOUGH))),
        )
        for extra in extras
        for seed in seeds_from(0, seeds)
        for regime in regimes
    ]  # fmt: skip


def _table_jobs(scale: float, seeds: int) -> list[Job]:
    return maze_jobs(scale, seeds, REGIMES, EXTRAS)


def _new_jobs(scale: float, seeds: int) -> list[Job]:
    known = maze_jobs(scale, seeds, REGIMES, (0,))
    return known + [
        MazeJob(
            regime="backplay", seed=seed, frames=scaled(FULL, scale), effort=effort_at(scale),
            mazes=NEW_MAZES, held_out=100, evaluations=10,
        )
        for seed in seeds_from(0, seeds)
    ]  # fmt: skip


def _paper_jobs(scale: float, seeds: int) -> list[Job]:
    return [
        MazeJob(regime=regime, seed=seed, frames=scaled(FULL, scale), preset="paper")
        for seed in seeds_from(0, seeds)
        for regime in REGIMES
    ]


def _budget_jobs(scale: float, seeds: int) -> list[Job]:
    return [
        MazeJob(
            regime=regime, seed=seed, frames=scaled(FULL, scale * share / 100),
            label=budget(share), evaluations=20,
        )
        for share in SHARES
        for seed in seeds_from(0, seeds)
        for regime in ("backplay", "uniform")
    ]  # fmt: skip


_SETS = (
    "100 mazes of 24 x 24 cells, every one played once from its true start with the likeliest"
    " actions."
)

MAZE_EXPERIMENTS = (
    Experiment(
        name="maze-table", title="four regimes in 100 mazes", where="Table 2", shares="maze",
        about=f"{_SETS} Demonstrations are shortest paths, or 5 or 10 steps longer. The paper's"
        " numbers are of its best seed for all but Backplay.",
        scale=ENOUGH, seeds=5, jobs=_table_jobs, claims=tuple(table_claims()),
    ),
    Experiment(
        name="maze-curves", title="learning curves in the Maze", where="Appendix A.4",
        shares="maze", about=f"{_SETS} The runs of maze-table, over time.",
        scale=ENOUGH, seeds=5, jobs=_table_jobs, claims=tuple(curve_claims()),
        figures=("curves", "starts"),
    ),
    Experiment(
        name="maze-cloning", title="imitation in the Maze", where="Section 4.2", shares="maze",
        about=f"{_SETS} Cloning alone, PPO from the cloned network, and PPO with the cloned network"
        " as a teacher whose weight fades over the first half.",
        scale=ENOUGH, seeds=3, claims=tuple(cloning_claims()),
        jobs=lambda scale, seeds: maze_jobs(scale, seeds, IMITATING, (0, 5)),
    ),
    Experiment(
        name="maze-new", title="mazes never seen", where="Section 4.3", shares="maze",
        about="Ten mazes held out from the runs of maze-table, and Backplay on 20,000 mazes, of"
        " which hardly any comes twice in a way that could be learned by heart.",
        scale=ENOUGH, seeds=3, jobs=_new_jobs, claims=tuple(new_claims()), figures=("bars",),
    ),
    Experiment(
        name="maze-budget", title="how few frames are enough", where="ours",
        about=f"{_SETS} Optimal demonstrations, budgets from a tenth of 10.24 million frames on.",
        scale=ENOUGH, seeds=3, jobs=_budget_jobs, claims=(BUDGET_CLAIM,),
    ),
    Experiment(
        name="maze-paper", title="the paper's own settings in the Maze", where="Table 2",
        about=f"{_SETS} Optimal demonstrations, the paper's learner and windows; all of its frames"
        " take one core more than an hour a run.",
        scale=1.0, seeds=3, jobs=_paper_jobs, claims=tuple(paper_claims()),
    ),
)  # fmt: skip
