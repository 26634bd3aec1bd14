"""The Pommerman experiments: the paper's Figures 3 and 4, its per-map table, its held-out maps.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data.

The paper says that its models trained on about 50 million frames, and that with 100 maps the last
window opens at epoch 510, after 52 million: such a run would end before it trained on the true
start alone. So at scale 1 a run with four maps has 500 epochs, 51.2 million frames, and one with
100 maps 850 epochs, 87 million: in both three fifths pass before the last window. All have a
network that one core can train.
"""

from __future__ import annotations

from functools import partial

from backplay.curricula.windows import PAPER_EPOCH
from backplay.paper.experiment import Experiment, scaled, seeds_from
from backplay.paper.pommerman.claims import (
    FOUR,
    HUNDRED,
    PAPERS_OWN,
    WHY,
    all_ahead,
    default_claims,
    four_claims,
    hundred_claims,
    imitation_claim,
    why_claims,
)
from backplay.paper.pommerman.job import (
    EPOCHS,
    IMITATING,
    ON_FACTS,
    PAPER_REGIMES,
    PRECISIONS,
    REGIMES,
    PommermanJob,
)
from backplay.train.job import Job

GAMES, MANY = 400, 12  # games at the end, at least; with many maps, the paper's 32 of each
SEEDS = 3
LEVELS = 0.4, "two fifths"  # 20 million frames on four maps: curves have levelled off by then
PAPERS = 0.6, "three fifths"  # 52 million on 100 maps, as many as the paper names
SHORT = 0.2, "a fifth"


def _jobs(
    scale: float,
    seeds: int,
    *,
    sets: tuple[tuple[int, str], ...],
    rewards: str,
    preset: str = "ours",
    regimes: tuple[str, ...] = REGIMES,
    shield: bool = False,
) -> list[Job]:
    return [
        PommermanJob(
            regime=regime, maps=maps, perspective=perspective, rewards=rewards, preset=preset,
            shield=shield, precision=PRECISIONS[-1] if preset in ON_FACTS else PRECISIONS[0],
            seed=seed, frames=scaled(EPOCHS[maps] * PAPER_EPOCH, scale),
            final_games=GAMES // maps if maps < MANY else 32,
        )
        for maps, perspective in sets
        for seed in seeds_from(0, seeds)
        for regime in regimes
    ]  # fmt: skip


def _why_jobs(scale: float, seeds: int) -> list[Job]:
    """Backplay and Standard on four maps: each preset that learns in minutes, then shields."""
    return [
        job
        for preset, shield in (*((one, False) for one in ("ours", *WHY)), ("ours", True))
        for job in _jobs(
            scale,
            seeds,
            sets=FOUR[:1],
            rewards="sparse",
            preset=preset,
            shield=shield,
            regimes=("backplay", "standard"),
        )
    ]


_AGAINST = (
    "One learner against three FSMTS agents, from the first state of every map, actions drawn."
)


def _ours(scale: float, share: str) -> str:
    """Whose network and frames, of an experiment with the preset `ours`."""
    return (
        " The network sees the paper's two frames as facts and adds up their rows; it and the"
        f" learner's settings are ours, and at scale {scale} a run has {share} of the frames. The"
        " paper's learner on the same network is pommerman-paper."
    )


EXPERIMENTS = (
    Experiment(
        name="pommerman-4", title="Pommerman on four maps, sparse rewards", where="Figure 3b, c",
        about=f"{_AGAINST} Backplay follows the winner, or the runner-up of the same games."
        + _ours(*LEVELS),
        scale=LEVELS[0], seeds=SEEDS, jobs=partial(_jobs, sets=FOUR, rewards="sparse"),
        claims=(*four_claims(), *default_claims(FOUR)),
    ),
    Experiment(
        name="pommerman-100", title="Pommerman on 100 maps, sparse rewards",
        where="Figure 3a, appendix A.8",
        about=f"{_AGAINST} Ten more maps are held out." + _ours(*PAPERS),
        scale=PAPERS[0], seeds=SEEDS, jobs=partial(_jobs, sets=HUNDRED, rewards="sparse"),
        claims=(*hundred_claims(), *default_claims(HUNDRED)),
    ),
    Experiment(
        name="pommerman-dense", title="Pommerman with rewards for items", where="Figure 4",
        about=f"{_AGAINST} Picking up an item pays 0.1." + _ours(*SHORT),
        scale=SHORT[0], seeds=SEEDS, jobs=partial(_jobs, sets=HUNDRED + FOUR, rewards="dense"),
        claims=tuple(all_ahead(HUNDRED, "dense", 4)),
    ),
    Experiment(
        name="pommerman-paper", title="the paper's learner in Pommerman",
        where="Figure 3, appendix A.8",
        about=f"{_AGAINST} Batches, passes, learning rate, windows and frames are the paper's, on"
        " four and on 100 maps; the network is ours, because one core would need weeks for a run"
        " with the paper's (the preset paper of a job). With 100 maps the windows last longer than"
        " the 50 million frames that the paper names; a run has 87 million.",
        scale=1.0, seeds=SEEDS,
        jobs=partial(
            _jobs, sets=FOUR + HUNDRED, rewards="sparse", preset="paper-learner",
            regimes=PAPER_REGIMES,
        ),
        claims=(*four_claims(PAPERS_OWN), *hundred_claims(PAPERS_OWN)),
    ),
    Experiment(
        name="pommerman-why", title="why Standard fails in Pommerman, or does not", where="ours",
        about=f"{_AGAINST} From our learner to the paper's by one change at a time: facts that are"
        " not as seen from the own cell, the paper's learner (24 gradient steps in 102,400"
        " frames), both; and games in which nobody is burned by the explosion of an own bomb.",
        scale=LEVELS[0], seeds=1, jobs=_why_jobs, claims=why_claims(), shares="pommerman-4",
    ),
    Experiment(
        name="pommerman-imitation", title="cloning and DAgger in Pommerman", where="Appendix A.9",
        about=f"{_AGAINST} Rewards do not count: what the winners did is cloned, or an FSMTS agent"
        " with a memory of its own is asked at every step what it would do in the learner's place."
        " The network is ours, as in pommerman-4, and a run has two million frames; cloning plays"
        " on while it learns only so that both have the same clock.",
        scale=0.04, seeds=1,
        jobs=partial(_jobs, sets=FOUR[:1], rewards="sparse", regimes=IMITATING),
        claims=(imitation_claim(),),
    ),
)  # fmt: skip
