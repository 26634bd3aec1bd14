"""The paper's three grid worlds and its tree (section 3.2): what it argues, as claims.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data. The paper shows pictures
and ran nothing; scale 1 is the budget of results/0.1.0/grid-worlds.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from backplay.paper.experiment import Experiment, scaled, seeds_from
from backplay.paper.grid_worlds.job import FRAMES, OWN, SETTINGS, GridJob
from backplay.report.claims import Claim, Final, FramesTo, Ratio, at_least, at_most
from backplay.train.job import Job

GOOD = 0.95
WHERE = "Section 3.2, Figure 2"
OPEN, BOTTLENECKS, BASIN, TREE = SETTINGS.values()


APART = ("standard", "uniform", "backplay", "rcg")


def _jobs(regimes: Iterable[str], apart: bool, scale: float, seeds: int) -> list[Job]:
    return [
        GridJob(
            world=world, regime=regime, seed=seed, apart=apart,
            frames=0 if regime == "cloning" else scaled(FRAMES[world], scale),
        )
        for world in SETTINGS
        for seed in seeds_from(1, seeds)  # the settings were chosen with seed 0
        for regime in regimes
    ]  # fmt: skip


def _times(setting: str, slow: str, fast: str, measure: str = "success") -> Ratio:
    """How many times the frames of one regime another needs."""
    return FramesTo(setting, slow, measure, GOOD) / FramesTo(setting, fast, measure, GOOD)


def _faster(text: str, times: Ratio) -> Claim:
    """That one needs fewer frames than another; as many is no news."""
    return at_least(text, WHERE, times, 1.0, strict=True)


def _saved(setting: str, regime: str) -> Final:
    return Final(setting, regime, "fewer_than_demonstration")


def _claims() -> list[Claim]:
    return [
        _faster("Backplay learns faster than Standard in the open world",
                _times(OPEN, "standard", "backplay")),
        at_least("Backplay surpasses the demonstration in the open world", WHERE,
                 _saved(OPEN, "backplay"), 1.0),
        at_most("Cloning does not surpass the demonstration in the open world", WHERE,
                _saved(OPEN, "cloning"), 0.0),
        _faster("Backplay learns faster than RCG in the open world",
                _times(OPEN, "rcg", "backplay")),
        _faster("Backplay learns faster than Standard behind bottlenecks",
                _times(BOTTLENECKS, "standard", "backplay")),
        # The paper's reason, walks into the side chamber, is not measured.
        _faster("RCG needs more frames than Backplay behind bottlenecks",
                _times(BOTTLENECKS, "rcg", "backplay")),
        at_most("Cloning learns the shortest path behind bottlenecks", WHERE,
                Final(BOTTLENECKS, "cloning", "more_than_shortest"), 0.0),
        at_least("Cloning suffers beside the path behind bottlenecks, Backplay does not", WHERE,
                 Final(BOTTLENECKS, "backplay", "beside_greedy")
                 - Final(BOTTLENECKS, "cloning", "beside_greedy"), 0.1),
        at_least("Backplay surpasses its demonstrator beside the basin", WHERE,
                 _saved(BASIN, "backplay"), 1.0),
        at_most("Standard finds the shortest path beside the basin as soon as Backplay", WHERE,
                _times(BASIN, "standard", "backplay", "optimal"), 1.0),
        at_least("Cloning takes more steps than Backplay beside the basin", WHERE,
                 Final(BASIN, "cloning", "steps") - Final(BASIN, "backplay", "steps"), 1.0),
        _faster("RCG finds the shortest path beside the basin sooner than Backplay",
                _times(BASIN, "backplay", "rcg", "optimal")),
        at_most("One leaf's demonstration gains nothing on a tree with random leaves",
                "Section 3.2, last paragraph", _times(TREE, "standard", "backplay"), 1.1),
    ]  # fmt: skip


EXPERIMENTS = (
    Experiment(
        name="grid-worlds", title="three grid worlds and a tree", where="Figure 2, section 3.2",
        about="The paper argues with three pictures and a tree, and ran nothing on them: learner,"
        " network and frames are ours. Seven regimes learn in each with the same PPO on a table.",
        scale=1.0, seeds=5, jobs=partial(_jobs, tuple(OWN), False),
        claims=tuple(_claims()),
    ),
    Experiment(
        name="grid-worlds-apart", title="the grid worlds with values apart", where="ours",
        about="The runs of grid-worlds that train, with values that have no part in common: a place"
        " not yet seen then looks better than those where steps were paid for, and all regimes"
        " explore more.",
        scale=1.0, seeds=5, jobs=partial(_jobs, APART, True),
        claims=(
            _faster("Standard learns faster than Backplay behind bottlenecks",
                    _times(f"{BOTTLENECKS}, values apart", "backplay", "standard")),
            _faster("Backplay learns faster than Standard on the tree",
                    _times(f"{TREE}, values apart", "standard", "backplay")),
        ),
    ),
)  # fmt: skip
