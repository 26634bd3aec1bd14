"""Experiments of ours on Gymnasium's own tasks.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data.
"""

from __future__ import annotations

from backplay.paper.experiment import Experiment, scaled, seeds_from
from backplay.paper.sparse_tasks.job import REGIMES, TASKS, GymJob
from backplay.report.claims import Claim, Difference, Final
from backplay.train.job import Job

FULL = 300_000
SETTING = TASKS["mountaincar"].env


def _jobs(scale: float, seeds: int) -> list[Job]:
    return [
        GymJob(task="mountaincar", regime=regime, seed=seed, frames=scaled(FULL, scale))
        for seed in seeds_from(0, seeds)
        for regime in REGIMES
    ]


EXPERIMENTS = (
    Experiment(
        name="mountaincar", title="MountainCar from one scripted demonstration", where="ours",
        about="Our PPO at its default settings; the demonstration pushes in the direction of the"
        " motion. Success is reaching the flag from the true start, actions drawn.",
        scale=1.0, seeds=5, jobs=_jobs,
        claims=(
            Claim(
                text="Standard does not reach the flag", where="ours",
                quantity=Final(SETTING, "standard", "success"), holds="at most", target=0.05,
            ),
            Claim(
                text="Backplay reaches it more often than Standard", where="ours",
                quantity=Difference(
                    Final(SETTING, "backplay", "success"), Final(SETTING, "standard", "success")
                ),
                holds="at least", target=0.3,
            ),
            Claim(
                text="Backplay reaches it more often than Uniform", where="ours",
                quantity=Difference(
                    Final(SETTING, "backplay", "success"), Final(SETTING, "uniform", "success")
                ),
                holds="at least", target=0.0, strict=True,
            ),
        ),
    ),
)  # fmt: skip
