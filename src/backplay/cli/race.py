"""Training runs of several regimes side by side, each in a process of its own with one thread.

Comes in: what to run. Goes out: a message after every update of any run, and the finished runs.
Does not know: the screen, or what becomes of the results.
"""

from __future__ import annotations

import multiprocessing
import queue
import signal
import time
import traceback
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch

from backplay.curricula import Backplay, Curriculum, Standard, Uniform
from backplay.demos import load
from backplay.errors import BackplayError
from backplay.report.results import Run, StartCounts
from backplay.restore.rollout import AnyEnv
from backplay.train import Progress, TrainConfig, Training
from backplay.train.evaluate import Evaluation

ENV_ID = "MountainCar-v0"
REGIMES = ("Backplay", "Uniform", "Standard")


class GoalReward(gym.Wrapper[Any, Any, Any, Any]):
    """1 for reaching the goal and 0 else, instead of a cost for every step.

    A cost for every step is a hint: where the agent has been often looks worse than where it has
    not, so that an eager enough PPO is driven up the hill without ever having seen the flag.
    """

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = self.env.step(action)
        return observation, float(terminated), terminated, truncated, info


def make_env() -> AnyEnv:
    """The task: drive up the hill, with a reward at the flag only."""
    return GoalReward(gym.make(ENV_ID))


def make_curriculum(regime: str, frames: int, demo_length: int) -> Curriculum:
    """Where the episodes of a regime start, with the library's defaults."""
    if regime == "Backplay":
        return Backplay.stretch(frames, [demo_length])
    return Uniform() if regime == "Uniform" else Standard()


@dataclass(frozen=True)
class Task:
    """One run to make."""

    regime: str
    config: TrainConfig
    demo: Path
    """The file of the demonstration."""


@dataclass(frozen=True)
class Update:
    """Where one run stands."""

    regime: str
    seed: int
    frames: int
    speed: float
    """Frames per second."""
    true_success: float | None
    """In the last evaluation from the true start."""
    starts: str
    """Where episodes start now, in words."""
    run: Run | None = None
    """What came of it, once it is finished."""


def race(tasks: Sequence[Task], jobs: int) -> Generator[Update, None, None]:
    """Makes all runs in `jobs` processes; closing the generator, or Ctrl-C, stops them all."""
    context = multiprocessing.get_context("spawn")
    waiting: Any = context.Queue()
    updates: Any = context.Queue()
    stop = context.Event()
    for task in [*tasks, *[None] * jobs]:  # None sends a worker home
        waiting.put(task)
    workers = [
        context.Process(target=_work, args=(waiting, updates, stop), daemon=True)
        for _ in range(jobs)
    ]
    try:
        _start(workers)
        left = len(tasks)
        while left:
            update = _next(updates, workers)
            left -= update.run is not None
            yield update
    finally:
        stop.set()
        deadline = time.monotonic() + 5.0
        for worker in workers:
            if worker.pid is not None:
                worker.join(max(0.1, deadline - time.monotonic()))
                if worker.exitcode is None:  # it is in its imports, or in a long evaluation
                    worker.kill()
                    worker.join()
        for channel in (waiting, updates):
            channel.cancel_join_thread()


def _start(workers: Sequence[BaseProcess]) -> None:
    """Starts the workers deaf to Ctrl-C: it reaches the parent, which tells them to stop."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited, from their first moment on
    try:
        for worker in workers:
            worker.start()
    finally:
        signal.signal(signal.SIGINT, before)


def _next(updates: Any, workers: Sequence[BaseProcess]) -> Update:
    """The next message; BackplayError if a worker failed, or died without a word."""
    while True:
        died = [worker.exitcode for worker in workers if worker.exitcode]
        try:
            message = updates.get(timeout=1.0)
        except queue.Empty:
            if died:
                raise BackplayError(
                    "A training process died", got=f"exit code {died[0]}",
                    do="Run it again with --jobs 1; a machine short of memory kills processes.",
                ) from None  # fmt: skip
            continue
        if isinstance(message, Update):
            return message
        raise RuntimeError(f"a training process failed:\n{message}")


def _work(waiting: Any, updates: Any, stop: Any) -> None:
    """A worker: runs tasks until there are none, or it is told to stop, or it is orphaned."""
    torch.set_num_threads(1)
    parent = multiprocessing.parent_process()
    try:
        while not stop.is_set() and (task := waiting.get()) is not None:
            for update in _train(task):
                updates.put(update)
                if stop.is_set() or (parent is not None and not parent.is_alive()):
                    updates.cancel_join_thread()
                    return
    except BaseException:
        updates.put(traceback.format_exc())


def _train(task: Task) -> Iterator[Update]:
    """One run from beginning to end."""
    began = time.perf_counter()
    demo = load(task.demo)
    seed, frames = task.config.seed, task.config.frames
    curriculum = make_curriculum(task.regime, frames, len(demo))
    training = Training(make_env, [demo], curriculum, task.config)
    starts = StartCounts.empty(frames, len(demo))
    last: Progress | None = None
    for last in training.run():
        for episode in last.episodes:
            step = episode.start.step if episode.start else 0
            starts.add(last.frames, step, episode.success)
        yield _update(task, last)
    assert last is not None
    assert isinstance(last.evaluation, Evaluation)
    positions, reached = _play(training, demo.seed)
    training.close()
    run = Run(
        regime=task.regime,
        seed=seed,
        seconds=time.perf_counter() - began,
        frames=[at for at, _ in training.evaluations],
        success=[success for _, success in training.evaluations],
        successes=int(last.evaluation.successes.sum()),
        episodes=len(last.evaluation.successes),
        starts=starts,
        positions=positions,
        reached_goal=reached,
    )
    yield _update(task, last, run)


def _update(task: Task, progress: Progress, run: Run | None = None) -> Update:
    return Update(
        task.regime,
        task.config.seed,
        progress.frames,
        progress.frames_per_second,
        progress.true_success,
        progress.starts,
        run,
    )


def _play(training: Training, seed: int | None) -> tuple[list[float], bool]:
    """An episode of the trained agent, actions sampled: its positions, and whether it got there."""
    env = make_env()
    generator = torch.Generator().manual_seed(training.config.seed)
    observation, _ = env.reset(seed=seed)
    positions = [float(observation[0])]
    terminated = truncated = False
    while not (terminated or truncated):
        (action,) = training.learner.act(observation[None], generator=generator)
        observation, _, terminated, truncated, _ = env.step(action)
        positions.append(float(observation[0]))
    env.close()
    return positions, bool(terminated)
