"""An advice and the runs that check it.

Comes in: an `AdviceJob`. Goes out: what the advice said, and what training took. The advice is
right if it names the regime with the fewest frames, or one within a quarter of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import gymnasium as gym

from backplay.advise import advise
from backplay.demos import Demonstration
from backplay.demos.record import record
from backplay.envs.maze.generate import generate
from backplay.learners.workers import Workers
from backplay.paper.advice.job import REGIMES, AdviceJob
from backplay.paper.grid_worlds.worlds import GridWorld, RandomLeaves
from backplay.paper.regimes import curriculum
from backplay.paper.sparse_tasks.tasks import TASKS
from backplay.restore.rollout import AnyEnv
from backplay.train import TrainConfig, Training
from backplay.train.job import Say, Work

REACHED = 0.9
NEAR = 1.25
EVALUATIONS = 50
MAZES = {"maze-8": (8, 12, 11), "maze-12": (12, 28, 12), "maze-16": (16, 50, 13),
         "maze-24": (24, 120, 14)}  # fmt: skip
"""Size, walls and seed of each."""


@dataclass(frozen=True)
class Subject:
    """What is looked at, and trained in."""

    make: Callable[[], AnyEnv]
    demo: Demonstration
    train: Callable[[str, int, int], Training]
    """From a regime, frames and a seed."""


def subject(task: str) -> Subject:
    """The task of that name."""
    if task == "tree":
        tree = RandomLeaves()
        return Subject(tree.make, tree.demo, partial(_on_a_table, tree))
    if task in TASKS:
        return _with_a_network(task)
    world = GridWorld(task) if task not in MAZES else _one_maze(*MAZES[task])
    mazes = world.mazes
    make = partial(gym.make, "Backplay/Maze-v0", mazes=mazes, maze=0, disable_env_checker=True)
    demo = record(make(), mazes.actions[0].tolist(), seed=0)
    return Subject(make, demo, partial(_on_a_table, world))


def _one_maze(size: int, walls: int, seed: int) -> GridWorld:
    least = int(1.4 * size)
    made = generate(mazes=1, held_out=0, size=size, walls=walls, min_length=least, seed=seed)
    return GridWorld(made.training)


def _on_a_table(world: GridWorld | RandomLeaves, regime: str, frames: int, seed: int) -> Training:
    starts = curriculum(regime, [world.length], frames, seed=seed)
    return world.training(starts, frames, seed)


def _with_a_network(name: str) -> Subject:
    task = TASKS[name]
    demo = task.demonstrate()

    def train(regime: str, frames: int, seed: int) -> Training:
        config = TrainConfig(
            frames=frames, seed=seed, evaluate_every=max(1, frames // EVALUATIONS),
            final_episodes=20,
        )  # fmt: skip
        starts = curriculum(regime, [len(demo)], frames, seed=seed)
        return Training(task.make, [demo], starts, config)

    return Subject(task.make, demo, train)


def frames_needed(training: Training) -> int | None:
    """Frames at the first evaluation with 90 % success from the true start; None if none has it."""
    try:
        for progress in training.run():
            if progress.evaluation is not None and progress.evaluation.success >= REACHED:
                return progress.frames
        return None
    finally:
        training.close()


def is_right(said: str, needed: dict[str, int | None]) -> bool | None:
    """Whether a regime is the fastest or near it; None where none arrived."""
    frames = {regime: inf if at is None else at for regime, at in needed.items()}
    best = min(frames.values())
    return None if best == inf else frames[said] <= NEAR * best


def begun(
    job: AdviceJob, on_progress: Say | None, workers: Workers | None, files: Sequence[Path]
) -> AdviceWork:
    """Nothing yet: all of it is done when the result is asked for."""
    return AdviceWork(job, on_progress or (lambda _: None))


class AdviceWork(Work):
    """An advice and its check, before they are made."""

    def __init__(self, job: AdviceJob, say: Say) -> None:
        self.job, self.say = job, say

    def result(self) -> dict[str, Any]:
        """The advice, then a run under each regime."""
        job, task = self.job, subject(self.job.task)
        self.say(f"{job.task}: looking")
        said = advise(task.make, task.demo, seed=job.seed)
        needed: dict[str, int | None] = {}
        for words, regime in REGIMES.items():
            self.say(f"{job.task}: {regime}")
            needed[words] = frames_needed(task.train(regime, job.frames, job.seed))
        right = is_right(said.fastest, needed)
        return {
            "measures": {
                "right": None if right is None else float(right), "sure": said.sure,
                **{regime: needed[words] for words, regime in REGIMES.items()},
            },
            "said": said.fastest, "budget": said.budget,
            "log10_frames": {name: one.log10_frames for name, one in said.predictions.items()},
        }  # fmt: skip
