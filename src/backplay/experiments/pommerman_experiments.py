"""The Pommerman experiments: the paper's Figures 3 and 4, its per-map table, its held-out maps.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data. At scale 1 a run has the
paper's frames, with a network that two cores can train.
"""

from __future__ import annotations

from functools import partial

from backplay.curricula.backplay import PAPER_EPOCH
from backplay.experiments.experiment import Experiment, scaled, seeds_from
from backplay.experiments.jobs import Job
from backplay.experiments.pommerman_jobs import EPOCHS, REGIMES, PommermanJob
from backplay.report.claims import Claim, Difference, Final

SCALE, SEEDS = 0.05, 3
CLEARLY = 0.1  # a difference in wins that counts as one
FOUR = ((4, "winner"), (4, "runner-up"))
HUNDRED = ((100, "winner"),)


def _jobs(
    scale: float, seeds: int, *, sets: tuple[tuple[int, str], ...], rewards: str
) -> list[Job]:
    return [
        PommermanJob(
            regime=regime, maps=maps, perspective=perspective, rewards=rewards, seed=seed,
            frames=scaled(EPOCHS[maps] * PAPER_EPOCH, scale),
        )
        for maps, perspective in sets
        for seed in seeds_from(0, seeds)
        for regime in REGIMES
    ]  # fmt: skip


def _ahead(maps: int, perspective: str, rewards: str, other: str, where: str) -> Claim:
    setting = f"{perspective}, {maps} maps, {rewards}"
    return Claim(
        text=f"Backplay wins more games than {other.capitalize()}: {setting}", where=where,
        quantity=Difference(
            Final(setting, "backplay", "success"), Final(setting, other, "success")
        ),
        holds="at least", target=CLEARLY,
    )  # fmt: skip


def _all_ahead(sets: tuple[tuple[int, str], ...], rewards: str, figure: int) -> list[Claim]:
    parts = {(100, "winner"): "a", (4, "winner"): "b", (4, "runner-up"): "c"}
    return [
        _ahead(*one, rewards, other, f"Figure {figure}{parts[one]}")
        for one in sets
        for other in ("standard", "uniform")
    ]


def _four_claims() -> list[Claim]:
    setting = "winner, 4 maps, sparse"
    return [
        Claim(
            text="Backplay wins most games against three FSMTS agents on 4 maps",
            where="Section 4.3, Figure 3b", quantity=Final(setting, "backplay", "success"),
            holds="at least", target=0.5,
        ),
        *_all_ahead(FOUR, "sparse", 3),
        Claim(
            text="Standard learns not to use bombs, Backplay does not", where="Appendix A.7",
            quantity=Difference(
                Final(setting, "backplay", "bomb_share"), Final(setting, "standard", "bomb_share")
            ),
            holds="at least", target=0.01,
        ),
    ]  # fmt: skip


def _hundred_claims() -> list[Claim]:
    setting = "winner, 100 maps, sparse"
    of = partial(Final, setting, "backplay")
    return [
        *_all_ahead(HUNDRED, "sparse", 3),
        Claim(
            text="Backplay wins 80 % of the games on half of the maps", where="Appendix A.8",
            quantity=of("maps_won_80"), paper=0.5, holds="at least",
        ),
        Claim(
            text="Backplay wins half of the games on every map", where="Appendix A.8, caption",
            quantity=of("least_won_map"), paper=0.5, holds="at least",
        ),
        Claim(
            text="Backplay wins 416 of 1,000 games on ten maps held out", where="Section 4.3",
            quantity=of("held_out_success"), paper=0.416, holds="at least",
        ),
    ]  # fmt: skip


_AGAINST = (
    "One learner against three FSMTS agents, from the first state of every map, actions drawn."
)

POMMERMAN_EXPERIMENTS = (
    Experiment(
        name="pommerman-4", title="Pommerman on four maps, sparse rewards", where="Figure 3b, c",
        about=f"{_AGAINST} Backplay follows the winner, or the runner-up of the same games.",
        scale=SCALE, seeds=SEEDS, jobs=partial(_jobs, sets=FOUR, rewards="sparse"),
        claims=tuple(_four_claims()),
    ),
    Experiment(
        name="pommerman-100", title="Pommerman on 100 maps, sparse rewards",
        where="Figure 3a, appendix A.8", about=f"{_AGAINST} Ten more maps are held out.",
        scale=SCALE, seeds=SEEDS, jobs=partial(_jobs, sets=HUNDRED, rewards="sparse"),
        claims=tuple(_hundred_claims()),
    ),
    Experiment(
        name="pommerman-dense", title="Pommerman with rewards for items", where="Figure 4",
        about=f"{_AGAINST} Picking up an item pays 0.1.",
        scale=SCALE, seeds=SEEDS, jobs=partial(_jobs, sets=HUNDRED + FOUR, rewards="dense"),
        claims=tuple(_all_ahead(HUNDRED, "dense", 4)),
    ),
)  # fmt: skip
