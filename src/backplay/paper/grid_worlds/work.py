"""A grid job in progress: the same PPO on a table.

Comes in: a `GridJob`. Goes out: a `Training`, or a cloned table where nothing is trained; lines for
the metrics; at the end how well it plays from the true start and from beside the demonstration.
Does not know: disks, screens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from backplay.learners import GAIL, PPO, Discriminator, GAILConfig, Pairs, clone
from backplay.learners.workers import Workers
from backplay.paper.forgetting import forgetful
from backplay.paper.grid_worlds.job import GridJob
from backplay.paper.grid_worlds.job import curriculum as curriculum_of
from backplay.paper.grid_worlds.worlds import TASKS, World, table
from backplay.train import MakeNetwork, Training
from backplay.train.agent import acting
from backplay.train.evaluate import Evaluation
from backplay.train.job import Say, TrainedWork

ENOUGH = 0.02  # a cloned policy's loss: it then follows the demonstration when sampled, too
JUDGE = GAILConfig(learning_rate=3e-2, steps=8, minibatch_size=256)
EPISODES = 64  # of each measurement with sampled actions


def begun(
    job: GridJob, on_progress: Say | None, workers: Workers | None, files: Sequence[Path]
) -> GridWork:
    """The run at its beginning; the demonstration is cloned where the regime says so."""
    task, network = TASKS[job.world](), partial(table, common=not job.apart)
    curriculum = curriculum_of(job, task.length)
    start: dict[str, Any] = {}
    if job.regime.startswith("cloning"):
        cloned = cloned_table(task, network, job.seed)
        start["initial_weights"] = cloned.state_dict()
    if job.regime == "gail":
        start["learner"] = imitating(task, job.seed)
    if job.forgets != "nothing":
        assert curriculum is not None
        start["learner"] = forgetful(
            job.forgets, values=("values", "in_common"), policy=("logits",), starts=curriculum,
            frames=job.frames,
        )  # fmt: skip
    if curriculum is None:
        return GridWork(task, PPO(cloned, task.spaces[1], seed=job.seed), None)
    made = task.training(
        curriculum, job.frames, job.seed, network=network, workers=workers, **start
    )
    return GridWork(task, made.learner, made)


class GridWork(TrainedWork):
    """A grid job in progress."""

    def __init__(self, task: World, learner: PPO, training: Training | None) -> None:
        self.task, self.learner, self.training = task, learner, training
        self.network, self.lengths = learner.network, [task.length]

    def measured(self, found: Evaluation | None = None) -> dict[str, float]:
        """How well it plays from the true start: success when sampled, steps when greedy."""
        task = self.task
        sampled = task.from_start(acting(self.learner), episodes=EPISODES, seed=10_000)
        greedy = task.from_start(
            acting(self.learner, greedy=True), episodes=task.starts, seed=10_000
        )
        best = greedy.successes & (greedy.lengths == task.shortest)
        return {
            "success": sampled.success,
            "optimal": float(best.mean()),
            "steps": float(greedy.lengths.mean()),
        }

    def result(self) -> dict[str, Any]:
        """From the true start and from beside the demonstration, with one greedy walk."""
        task, found = self.task, self.measured()
        beside, greedy = (
            task.from_beside(acting(self.learner, greedy=g)).success for g in (False, True)
        )
        return {
            "measures": {
                **found, "beside": beside, "beside_greedy": greedy,
                "fewer_than_demonstration": task.length - found["steps"],
                "more_than_shortest": found["steps"] - task.shortest,
            },
            "demonstration": task.length, "shortest": task.shortest,
            "paths": task.walked(acting(self.learner, greedy=True)),
        }  # fmt: skip


def imitating(task: World, seed: int) -> Callable[..., PPO]:
    """Makes a learner that imitates the demonstration by GAIL, with a table to judge."""
    judge = Discriminator.for_spaces(*task.spaces, seed=seed + 1, network=table)
    return partial(GAIL, expert=Pairs(*task.pairs()), discriminator=judge, imitation=JUDGE)


def cloned_table(task: World, network: MakeNetwork, seed: int) -> torch.nn.Module:
    """A table that does as the demonstration did."""
    net = network(*task.spaces, seed=seed)
    observations, actions = task.pairs()
    passes = clone(
        net, observations, actions, action_space=task.spaces[1], seed=seed,
        learning_rate=3e-2, agreement=float("inf"),
    )  # fmt: skip
    for progress in passes:
        if progress.loss < ENOUGH:
            break
    return net
