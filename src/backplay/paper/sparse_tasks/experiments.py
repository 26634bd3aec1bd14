"""Experiments of ours on tasks with sparse rewards, with our PPO and Stable-Baselines3's.

Comes in: a scale, a number of seeds. Goes out: jobs and claims, as data.
"""

from __future__ import annotations

from functools import partial

from backplay.paper.experiment import Experiment, scaled, seeds_from
from backplay.paper.sparse_tasks.job import GymJob
from backplay.paper.sparse_tasks.tasks import TASKS
from backplay.report.claims import Claim, Final, at_least, at_most
from backplay.train.job import Job

REGIMES = ("default", "backplay", "uniform", "standard")
FIRST = 5  # seed; those before it were seen while version 0.1.0 chose its default
_ABOUT = (
    " One scripted demonstration, 8 environments; success is reaching the goal from the true start,"
    " actions drawn. default is what the library does unasked, backplay the paper's windows,"
    " uniform any state of the demonstration, standard the true start alone."
)


def _jobs(task: str, trainers: tuple[str, ...], scale: float, seeds: int) -> list[Job]:
    return [
        GymJob(
            task=task, trainer=trainer, regime=regime, seed=seed,
            frames=scaled(TASKS[task].frames, scale),
        )
        for trainer in trainers
        for seed in seeds_from(FIRST, seeds)
        for regime in REGIMES
    ]  # fmt: skip


def _claims(task: str, trainers: tuple[str, ...]) -> list[Claim]:
    """That the default reaches the goal where Standard does not, and as often as Uniform."""
    claims = []
    for trainer in trainers:
        setting = GymJob(task=task, trainer=trainer, regime="default").setting
        ours, plain, anywhere = (
            Final(setting, regime, "success") for regime in ("default", "standard", "uniform")
        )
        where = f" ({trainer})" if len(trainers) > 1 else ""
        claims += [
            at_most(f"Standard does not reach the goal{where}", "ours", plain, 0.05),
            at_least(f"The default reaches it in 9 of 10 episodes{where}", "ours", ours, 0.9),
            at_least(f"The default reaches it more often than Uniform{where}", "ours",
                     ours - anywhere, 0.0, strict=True),
        ]  # fmt: skip
    return claims


def _experiment(name: str, title: str, about: str, *trainers: str) -> Experiment:
    return Experiment(
        name=name, title=title, where="ours", about=about + _ABOUT, scale=1.0, seeds=5,
        jobs=partial(_jobs, name, trainers), claims=tuple(_claims(name, trainers)),
    )  # fmt: skip


_IMITATED = GymJob(task="mountaincar", trainer="gail", regime="default").setting

EXPERIMENTS = (
    Experiment(
        name="mountaincar-gail", title="MountainCar by imitation of one demonstration",
        where="ours",
        about="GAIL on our PPO: no reward of the environment is used, only what the demonstration"
        f" did.{_ABOUT}",
        scale=1.0, seeds=3, jobs=partial(_jobs, "mountaincar", ("gail",)),
        claims=(
            at_least(
                "Starts on the demonstration help imitation, too", "ours",
                Final(_IMITATED, "uniform", "success") - Final(_IMITATED, "standard", "success"),
                0.0, strict=True,
            ),
        ),
    ),
    _experiment(
        "mountaincar", "MountainCar from one scripted demonstration",
        "Stable-Baselines3's PPO and ours, each with its default settings.", "sb3", "ours",
    ),
    _experiment(
        "keycorridor", "MiniGrid's largest KeyCorridor",
        "Fetch a key from another room, open the locked door, fetch the ball behind it; the agent"
        " sees 7 x 7 cells. Both trainers have the same settings.", "sb3", "ours",
    ),
    _experiment(
        "pointmaze", "PointMaze, from corner to corner",
        "A ball is steered through Gymnasium-Robotics' large maze by forces.", "ours",
    ),
    _experiment(
        "obstructed", "MiniGrid's ObstructedMaze",
        "A ball lies before every locked door, and the keys in boxes.", "ours",
    ),
)  # fmt: skip
