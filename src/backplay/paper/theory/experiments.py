"""The paper's analysis (section 3.1): what its theorem and its text predict, as claims.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data. Nothing is trained: scale
1 means the sizes of docs/theory.md, less than a half the quick ones.
"""

from __future__ import annotations

from math import log

from backplay.paper.experiment import Experiment, scaled, seeds_from
from backplay.paper.theory.job import STUDIES, TheoryJob
from backplay.report.claims import Claim, Final, at_least, at_most, near
from backplay.train.job import Job

QUICK = 0.5
ALPHAS = (0.3, 0.5, 0.7)
THEOREM = "Theorem 3.1"


def _jobs(scale: float, seeds: int) -> list[Job]:
    scaled(1, scale)  # refuses what is no scale
    return [
        TheoryJob(study=study, seed=seed, quick=scale < QUICK)
        for study in STUDIES
        for seed in seeds_from(0, seeds)
    ]


def _rate(alpha: float) -> float:
    return round(-log(alpha) / 2, 4)


def _measured(study: str, claim: str, where: str) -> Final:
    return Final(study, "theory", f"{claim} | {where}")


def _claims() -> list[Claim]:
    found: list[Claim] = []
    for alpha in ALPHAS:
        for regime, power in (("Backplay, m = 1", 2), ("Backplay, windows of 4", 2)):
            found.append(_grows(regime, alpha, power, THEOREM))
        steps = _measured(
            "trials", "steps grow at rate -log(alpha)/2 or faster",
            f"Standard, alpha = {alpha:g}, steps, H = M",
        )  # fmt: skip
        text = f"Standard's steps grow exponentially with M, alpha = {alpha:g}"
        found.append(at_least(text, THEOREM, steps, paper=_rate(alpha), exact=True))
        found.append(_grows("Uniform", alpha, 3, "Section 3.1, last paragraph"))
    for alpha in (0.1, 0.3, 0.5):
        found.append(_slower("merging", alpha))
    found.append(_slower("walking", 0.3))
    found += [_gap(alpha) for alpha in (0.3, 0.45)]
    gain = _measured(
        "trees", "no gain on average from random leaves: Standard over Backplay is 1",
        "depth 6, 90 % of the leaves",
    )  # fmt: skip
    text = "No gain on average from one leaf of a tree of depth 6"
    return [*found, at_most(text, "Section 3.2, last paragraph", gain, 1.1, paper=1.0)]


def _grows(regime: str, alpha: float, power: int, where: str) -> Claim:
    steps = _measured(
        "trials", f"steps grow like M^{power} or slower",
        f"{regime}, alpha = {alpha:g}, steps, H = M",
    )  # fmt: skip
    text = f"Steps of {regime} grow like M^{power} at most, alpha = {alpha:g}"
    return at_most(text, where, steps, paper=float(power), exact=True)


def _slower(reading: str, alpha: float) -> Claim:
    case = f"{reading}, alpha = {alpha:g}"
    trials = _measured("ratio", "Uniform's trials over Backplay's grow like M^1", case)
    text = f"Uniform is slower than Backplay by a factor of M, {case}"
    return near(text, "Section 3.1, last paragraph", trials, 0.1, paper=1.0, exact=True)


def _gap(alpha: float) -> Claim:
    claim = "1/gap grows at rate -log(alpha)/2 a state, or faster"
    gap = _measured("gap", claim, f"alpha = {alpha:g}, beta = 0")
    text = f"The reciprocal gap grows like alpha^(-M/2), alpha = {alpha:g}"
    return at_least(text, "Proof of theorem 3.1", gap, paper=_rate(alpha), exact=True)


EXPERIMENTS = (
    Experiment(
        name="theory", title="when Backplay helps, by analysis", where="Section 3.1",
        about="Chains, first-passage times and simulated graphs: the rates that the theorem and its"
        " proof predict, beside those measured. Most numbers are exact and the same for every seed."
        " Nothing is learned by a network; the paper has the analysis and no such numbers.",
        scale=1.0, seeds=2, jobs=_jobs, claims=tuple(_claims()), figures=(),
    ),
)  # fmt: skip
