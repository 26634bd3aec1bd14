"""The demo as an experiment: three regimes that differ in where training episodes start.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data.
"""

from __future__ import annotations

from backplay.paper.demo.job import REGIMES, SETTING, TASK, DemoJob
from backplay.paper.experiment import Experiment, scaled, seeds_from
from backplay.report.claims import Final, at_least, at_most
from backplay.train.job import Job


def _jobs(scale: float, seeds: int) -> list[Job]:
    """Seed by seed, so that the regimes stay side by side."""
    return [
        DemoJob(regime=regime, seed=seed, frames=scaled(TASK.frames, scale))
        for seed in seeds_from(0, seeds)
        for regime in REGIMES
    ]


def _success(regime: str) -> Final:
    return Final(SETTING, regime, "success")


EXPERIMENTS = (
    Experiment(
        name="demo", title="MountainCar from one demonstration", where="ours",
        about="The car is too weak to drive straight up, and the only reward is at the flag. The"
        " same learner, the same frames, the same seeds: the regimes differ in nothing but where"
        " training episodes start.",
        scale=1.0, seeds=3, jobs=_jobs,
        claims=(
            at_most("Without the demonstration the flag is not reached", "ours",
                    _success("standard"), 0.05),
            at_least("Backplay reaches it more often than Standard", "ours",
                     _success("backplay") - _success("standard"), 0.3),
        ),
    ),
)  # fmt: skip
