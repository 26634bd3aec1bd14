"""The Maze experiments: the paper's Table 2, its learning curves, and ours.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data. At scale 1 a run has the
paper's 204.8 million frames; our preset needs a twentieth of them. Below that, gradient steps
shrink faster than the frames, so that a tiny scale is a cheap look at everything and no more: at a
hundredth nobody learns a way, and a run takes half a minute instead of ten.
"""

from __future__ import annotations

from backplay.paper.experiment import Experiment, scaled, seeds_from
from backplay.paper.maze import methods
from backplay.paper.maze.claims import (
    BUDGET_CLAIM,
    DEFAULT_FRAMES,
    ENOUGH_FRAMES,
    FAR,
    FEW,
    NEW_MAZES,
    REGIMES,
    budget,
    cloning_claims,
    curve_claims,
    default_claims,
    far_claims,
    new_claims,
    paper_claims,
    table_claims,
)
from backplay.paper.maze.job import PAPER_EPOCH, PAPER_EPOCHS, MazeJob
from backplay.train.job import Job

FULL = PAPER_EPOCHS * PAPER_EPOCH
ENOUGH = 0.05  # of FULL, for our preset
EXTRAS = (0, 5, 10)
IMITATING = ("cloned", "cloned+ppo", "kickstarted")
BUDGETS = (1_024_000, 1_500_000, ENOUGH_FRAMES, 3_000_000, 5_000_000, 10_240_000)
"""Frames of maze-budget's runs at its own scale."""


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
    """Table 2, all of it but Standard beyond the Optimal mazes."""
    kinds = [(regime, extra) for extra in EXTRAS for regime in REGIMES[: 3 if extra else 4]]
    return [
        MazeJob(regime=regime, extra=extra, seed=seed, frames=scaled(FULL, scale), preset="paper")
        for regime, extra in kinds
        for seed in seeds_from(0, seeds)
    ]


def _budget_jobs(scale: float, seeds: int) -> list[Job]:
    """With all gradient steps at every scale: the setting says the frames, and nothing else."""
    budgets = dict.fromkeys(scaled(frames, scale / ENOUGH) for frames in BUDGETS)
    return [
        MazeJob(
            regime=regime, seed=seed, frames=frames, label=budget(frames), evaluations=20,
        )
        for frames in budgets
        for seed in seeds_from(0, seeds)
        for regime in ("default", "backplay", "uniform")
    ]  # fmt: skip


def _default_jobs(scale: float, seeds: int) -> list[Job]:
    return [
        MazeJob(
            regime=regime, seed=seed, frames=scaled(DEFAULT_FRAMES, scale), maze_seed=1,
            label=FEW, evaluations=20,
        )
        for seed in seeds_from(0, seeds)
        for regime in ("default", "backplay", "uniform")
    ]  # fmt: skip


def _far_jobs(scale: float, seeds: int) -> list[Job]:
    return [
        MazeJob(regime="default", extra=extra, seed=seed, frames=scaled(FULL, scale), label=FAR)
        for seed in seeds_from(0, seeds)
        for extra in EXTRAS
    ]


_SETS = (
    "100 mazes of 24 x 24 cells, every one played once from its true start with the likeliest"
    " actions."
)
_OURS = (
    " The network is the paper's; the learner's settings and Backplay's windows are ours, with a"
    " twentieth of its frames at scale 0.05. The paper's own settings are maze-paper."
)

EXPERIMENTS = (
    Experiment(
        name="maze-table", title="four regimes in 100 mazes", where="Table 2", shares="maze",
        about=f"{_SETS} Demonstrations are shortest paths, or 5 or 10 steps longer. The paper's"
        f" numbers are of its best seed for all but Backplay.{_OURS}",
        scale=ENOUGH, seeds=5, jobs=_table_jobs, claims=tuple(table_claims()),
    ),
    Experiment(
        name="maze-curves", title="learning curves in the Maze", where="Appendix A.4",
        shares="maze",
        about=f"{_SETS} The runs of maze-table, over time. The paper's curves run 3,500 epochs;"
        " ours are as long as its Table 2, 2,000 epochs stretched to the frames of a run, and"
        f" nothing later is claimed.{_OURS}",
        scale=ENOUGH, seeds=5, jobs=_table_jobs, claims=tuple(curve_claims()),
        figures=("curves", "starts"),
    ),
    Experiment(
        name="maze-cloning", title="imitation in the Maze", where="Section 4.2", shares="maze",
        about=f"{_SETS} Cloning alone, PPO from the cloned network, and PPO with the cloned network"
        f" as a teacher whose weight fades over the first half.{_OURS}",
        scale=ENOUGH, seeds=3, claims=tuple(cloning_claims()),
        jobs=lambda scale, seeds: maze_jobs(scale, seeds, IMITATING, (0, 5)),
    ),
    Experiment(
        name="maze-new", title="mazes never seen", where="Section 4.3", shares="maze",
        about="Ten mazes held out from the runs of maze-table, and Backplay on 20,000 mazes, of"
        f" which hardly any comes twice in a way that could be learned by heart.{_OURS}",
        scale=ENOUGH, seeds=3, jobs=_new_jobs, claims=tuple(new_claims()), figures=("bars",),
    ),
    Experiment(
        name="maze-budget", title="how few frames are enough", where="ours",
        about=f"{_SETS} Optimal demonstrations. Budgets are 1.024 to 10.24 million frames at the"
        " experiment's own scale; the name of each setting says the frames that were run. The"
        " paper's runs have 204.8 million. Network as in the paper, learner and windows ours.",
        scale=ENOUGH, seeds=3, jobs=_budget_jobs, claims=(BUDGET_CLAIM,),
    ),
    Experiment(
        name="maze-default", title="the default curriculum in the Maze", where="ours",
        about=f"{_SETS} Optimal demonstrations, a set of mazes on which nothing was chosen. The"
        " library's default, which knows no budget, beside our windows and Uniform. Network as in"
        " the paper, learner ours, 1.28 million frames at scale 1 where the paper's runs have"
        " 204.8.",
        scale=1.0, seeds=3, jobs=_default_jobs, claims=tuple(default_claims()),
    ),
    Experiment(
        name="maze-paper", title="the paper's own settings in the Maze", where="Table 2",
        about=f"{_SETS} Demonstrations are shortest paths, or 5 or 10 steps longer; network,"
        " learner, windows and, at scale 1, frames are the paper's, which take one core half an"
        " hour or more a run. Epochs in claims are shares of a run, 2,000 of them.",
        scale=1.0, seeds=1, jobs=_paper_jobs, claims=tuple(paper_claims()),
    ),
    Experiment(
        name="maze-far", title="our settings with the paper's frames", where="Table 2",
        about=f"{_SETS} Demonstrations are shortest paths, or 5 or 10 steps longer. Network as in"
        " the paper, learner ours, the library's default curriculum, and as many frames as the"
        " paper's runs have: how far can it go? The paper's own settings are maze-paper.",
        scale=1.0, seeds=1, jobs=_far_jobs, claims=tuple(far_claims()),
    ),
    Experiment(
        name="imitation", title="imitation on equal terms", where="ours",
        about="The paper's Table 1, which has words alone, measured: 100"
        " mazes of 12 x 12 cells and 100 of 24 x 24, every one played once from its true"
        " start, and from all cells one and three steps off its demonstration, with the likeliest"
        " actions. Every method has the same frames, half a million and 2 million, but for DAgger,"
        " which has a tenth: it asks for labels. Those that imitate, and Backplay, also in the"
        " larger mazes with demonstrations 5 and 10 steps longer than need be.",
        scale=1.0, seeds=3, jobs=methods.jobs, claims=methods.claims(),
    ),
    Experiment(
        name="maze-reverse", title="how far the reverse curriculum gets", where="ours",
        about="Florensa's curriculum in mazes of 8 x 8, 12 x 12 and 24 x 24 cells, beside Backplay"
        " and Standard, with 2, 5 and 10 million frames; how far from the goal it starts.",
        scale=1.0, seeds=3, jobs=methods.reverse_jobs, claims=methods.reverse_claims(),
    ),
    Experiment(
        name="maze-unseen", title="mazes never seen, by networks for all mazes", where="ours",
        about="Two networks without a weight for any cell of the board: one plans, by value"
        " iteration with a learned model; one sees the walls within 9 cells of the agent and where"
        " the goal lies. They learn from 10 to 20,000 mazes and are measured on 1,000 others, on"
        " larger ones (32 x 32) and on denser ones (160 walls).",
        scale=1.0, seeds=1, jobs=methods.unseen_jobs, claims=methods.unseen_claims(),
    ),
)  # fmt: skip
