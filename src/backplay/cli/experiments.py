"""`backplay experiments`: which experiments there are, what they cost, what they claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import tyro

from backplay.ui.display import duration

if TYPE_CHECKING:
    from backplay.paper.experiment import Experiment
    from backplay.report.claims import Claim
    from backplay.train.job import Job


@dataclass(frozen=True, kw_only=True)
class ExperimentsConfig:
    """Lists the experiments that `backplay reproduce` can make: the paper's and ours.

        backplay experiments
        backplay experiments maze-table

    The first shows what each is, how many runs of how many frames it has, and what all of them
    take on one core at its default scale. The second shows the runs and the claims of one.
    """

    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[NAME]")] = ""
    """Shows this one in detail."""


def experiments(config: ExperimentsConfig) -> None:
    """Prints the table of all, or one in detail."""
    if config.name:
        from backplay.paper.catalogue import experiment

        print("\n".join(_details(experiment(config.name))))
    else:
        print("\n".join(_overview()))


def _overview() -> list[str]:
    from backplay.paper.catalogue import experiments
    from backplay.report.texts import in_columns

    rows = [("name", "what", "runs", "frames each", "one core")]
    for experiment in experiments():
        jobs = experiment.jobs(experiment.scale, experiment.seeds)
        cost = duration(experiment.seconds(jobs))
        what = f"{experiment.title} ({experiment.where})"
        rows.append((experiment.name, what, str(len(jobs)), _frames(jobs), cost))
    return [in_columns(rows, left=2), "", "backplay reproduce NAME makes one of them."]


def _details(experiment: Experiment) -> list[str]:
    from backplay.report.texts import in_columns

    jobs = experiment.jobs(experiment.scale, experiment.seeds)
    cost = duration(experiment.seconds(jobs))
    rows = [("measured on", "regime", "runs", "frames", "seeds")]
    counts = Counter((job.setting, job.regime, job.frames) for job in jobs)
    first = {(job.setting, job.regime, job.frames): job.name for job in reversed(jobs)}
    for key, seeds in counts.items():
        setting, regime, frames = key
        rows.append((setting, regime, f"{first[key]} …", f"{frames:,}", str(seeds)))
    claims = [f"  {line}" for claim in experiment.claims for line in _in_words(claim)]
    return [
        f"{experiment.title} ({experiment.where})",
        experiment.about,
        "",
        f"{len(jobs)} runs at scale {experiment.scale:g}, {cost} on one core:",
        indent(in_columns(rows, left=3), "  "),
        "",
        *(["claims:", *claims, ""] if claims else []),
        f"backplay reproduce {experiment.name}",
    ]


def _in_words(claim: Claim) -> list[str]:
    """What is claimed, and what must be measured for it to hold."""
    target = f"{claim.aim:g}" + (f" ± {claim.tolerance:g}" if claim.tolerance else "")
    paper = "" if claim.paper is None else f"; the paper has {claim.paper:g}"
    return [f"{claim.text} ({claim.where})", f"    holds if {claim.holds} {target}{paper}"]


def _frames(jobs: Sequence[Job]) -> str:
    """The frames of each job: one number, or from the least to the most."""
    least, most = min(job.frames for job in jobs), max(job.frames for job in jobs)
    return _short(most) if least == most else f"{_short(least)}–{_short(most)}"


def _short(frames: int) -> str:
    if frames < 1_000_000:
        return f"{frames:,}"
    return f"{frames / 1e6:.4g} M"
