"""Is the advice right? Eleven tasks, three seeds.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data.
"""

from __future__ import annotations

from backplay.paper.advice.job import FRAMES, AdviceJob
from backplay.paper.experiment import Experiment, scaled, seeds_from
from backplay.report.claims import Final, at_least
from backplay.train.job import Job


def _jobs(scale: float, seeds: int) -> list[Job]:
    return [
        AdviceJob(task=task, seed=seed, frames=scaled(frames, scale))
        for task, frames in FRAMES.items()
        for seed in seeds_from(0, seeds)
    ]


EXPERIMENTS = (
    Experiment(
        name="advise", title="what backplay advise says, and what training takes", where="ours",
        about="A look of half a minute at most, then runs under Standard, Uniform and the library's"
        " default until 90 % of the episodes from the true start succeed. The advice is right if it"
        " names the regime with the fewest frames, or one within a quarter of it.",
        scale=1.0, seeds=3, jobs=_jobs, figures=("bars",),
        claims=tuple(
            at_least(
                f"The advice is right on {task}", "ours", Final(task, "advice", "right"), 0.5
            )
            for task in FRAMES
        ),
    ),
)  # fmt: skip
