"""Curricula side by side on many tasks: one half to choose the default, the other to report on it.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data. Tasks and seeds of the two
halves are apart. A curriculum that is added to `paper.regimes.REGIMES` is run here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from backplay.paper.curricula_bench.observed import HEADS, OBSERVED
from backplay.paper.curricula_bench.tasks import CHOOSE, ENOUGH, LATE, REPORT, SHORT, Bench
from backplay.paper.experiment import Experiment, seeds_from
from backplay.paper.regimes import CUTS, REGIMES
from backplay.report.claims import Claim, Final, FramesTo, at_least, at_most
from backplay.train.job import Job

if TYPE_CHECKING:
    from backplay.report.exhibit import Exhibit
    from backplay.report.records import RunRecord

CHOOSING = 100  # the first seed that chooses; those that report begin at 0
NEAR = 0.05  # success that may be lacking where two regimes count as equal
LEFT_OUT = ("reverse",)  # it walks as well as it starts, and has an experiment with the Maze
ALWAYS = ("default", "uniform", "backplay")  # on every task; the others where a run is short


def _jobs(tasks: Sequence[Bench], first: int, scale: float, seeds: int) -> list[Job]:
    return [
        task.job(regime, seed, scale)
        for task in tasks
        for seed in seeds_from(first, seeds)
        for regime in REGIMES
        if (regime not in LEFT_OUT if task.rivals else regime in ALWAYS)
    ]


def _claims(task: Bench, behind: str = "") -> list[Claim]:
    """That the default is as good as Uniform and the windows in the end, and twice as fast.

    Args:
        task: of the bench.
        behind: the names of those two regimes.
    """
    setting = task.job("default", 0).setting

    def final(regime: str) -> Final:
        return Final(setting, regime, task.measure)

    return [
        *(
            at_least(f"{setting}: the default ends at most {NEAR:.0%} below {words}", "ours",
                     final("default") - final(f"{regime}{behind}"), -NEAR)
            for regime, words in (("uniform", "Uniform"), ("backplay", "the windows"))
        ),
        _twice_as_fast(task, f"uniform{behind}"),
    ]  # fmt: skip


def _twice_as_fast(task: Bench, uniform: str = "uniform") -> Claim:
    setting, enough = task.job("default", 0).setting, round(ENOUGH * task.best, 3)
    ours, theirs = (
        FramesTo(setting, regime, task.measure, enough) for regime in ("default", uniform)
    )
    text = f"{setting}: the default needs at most half of Uniform's frames"
    return at_most(text, "ours", ours / theirs, 0.5)


def _exhibit(records: Sequence[RunRecord]) -> Exhibit:
    from backplay.paper.curricula_bench.exhibit import exhibit

    return exhibit(records)


def _experiment(name: str, title: str, tasks: tuple[Bench, ...], first: int) -> Experiment:
    return Experiment(
        name=name, title=title, where="ours",
        about="Every curriculum on every task with the same learner, frames and demonstrations:"
        " mazes, the paper's grid worlds and tree, a chain with a trap, a slippery bridge,"
        " Gymnasium, MiniGrid, PointMaze and Pommerman, with our PPO and Stable-Baselines3's."
        " default is what the library does unasked, backplay the paper's windows. Success is from"
        " the true start, actions drawn; frames are counted to nine tenths of what the best policy"
        " reaches.",
        scale=1.0, seeds=5, jobs=partial(_jobs, tasks, first), exhibit=_exhibit,
        claims=tuple(claim for task in tasks for claim in _claims(task)),
    )  # fmt: skip


def _cut_jobs(scale: float, seeds: int) -> list[Job]:
    return [
        task.job(regime, seed, scale)
        for task in SHORT
        for seed in seeds_from(0, seeds)
        for regime in CUTS
    ]


def _longer_jobs(scale: float, seeds: int) -> list[Job]:
    return [
        task.job(regime, seed, times * scale)
        for task in LATE
        for seed in seeds_from(0, seeds)
        for regime, times in (("default", 1), ("uniform", 2))
    ]


CUT = Experiment(
    name="curricula-cut", title="all curricula, cut as the default cuts", where="ours",
    about="The default ends a training episode after twice what the demonstration took, which most"
    " rules do not. Here all are run with that cut, and without any.",
    scale=1.0, seeds=3, jobs=_cut_jobs, exhibit=_exhibit,
    claims=tuple(claim for task in SHORT for claim in _claims(task, " (cut)")),
)  # fmt: skip

LONGER = Experiment(
    name="curricula-longer", title="Uniform with twice the frames", where="ours",
    about="The tasks of the bench on which Uniform does not arrive: there it has twice the frames"
    " that the default has.",
    scale=1.0, seeds=5, jobs=_longer_jobs,
    claims=tuple(map(_twice_as_fast, LATE)),
)  # fmt: skip

EXPERIMENTS = (
    _experiment("curricula", "all curricula, tasks to report on", REPORT, 0),
    _experiment("curricula-choose", "all curricula, tasks to choose on", CHOOSE, CHOOSING),
    CUT,
    LONGER,
    OBSERVED,
    HEADS,
)
