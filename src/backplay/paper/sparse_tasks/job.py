"""A Gymnasium task with one scripted demonstration as a job: ours, not the paper's.

    GymJob(task="mountaincar", regime="backplay", frames=300_000)

Comes in: the name of a task, which is an env with a script that plays it. Goes out: a `Training`,
lines for the metrics, success from the true start. Does not know: disks, screens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from backplay.curricula import Backplay, Curriculum, ReverseCurriculum, Standard, Uniform
from backplay.demos import Demonstration
from backplay.demos.record import record
from backplay.learners.workers import Workers
from backplay.report.exhibit import Exhibit
from backplay.report.records import RunRecord
from backplay.train import Progress, TrainConfig, Training
from backplay.train.acting import acting
from backplay.train.evaluate import Evaluation
from backplay.train.job import (
    Say,
    file_name,
    progress_line,
    require_one_of,
    require_whole,
)
from backplay.train.progress import by_steps_back

TRIES = 10  # episodes of a script, of which the best is the demonstration
EPISODES = 20  # of an evaluation on the way
BINS = 24  # of the starts in the metrics
FIRST_SEED = 10_000  # of the first episode that measures
LONGEST = 2_000  # steps of an episode that is kept

Script = Callable[[NDArray[Any]], Any]


def push(observation: NDArray[Any]) -> int:
    """MountainCar: push in the direction of the motion."""
    return 2 if observation[1] >= 0 else 0


def push_smoothly(observation: NDArray[Any]) -> NDArray[np.float32]:
    """MountainCarContinuous: the same with full force."""
    return np.array([1.0 if observation[1] >= 0 else -1.0], np.float32)


def balance(observation: NDArray[Any]) -> int:
    """CartPole: push to where the pole falls."""
    return int(observation[2] + observation[3] > 0)


def swing(observation: NDArray[Any]) -> int:
    """Acrobot: torque in the direction in which the lower joint turns."""
    return 2 if observation[5] >= 0 else 0


@dataclass(frozen=True)
class GymTask:
    """An env, and somebody who plays it well enough to be learned from."""

    env: str
    """Its id."""
    script: Script
    """From an observation to an action."""
    options: dict[str, Any] = field(default_factory=dict)
    """What the env is made with besides."""


TASKS = {
    "mountaincar": GymTask("MountainCar-v0", push),
    "mountaincar-continuous": GymTask("MountainCarContinuous-v0", push_smoothly),
    "cartpole": GymTask("CartPole-v1", balance),
    "acrobot": GymTask("Acrobot-v1", swing),
}
"""By name."""

REGIMES = ("backplay", "uniform", "standard", "reverse")


@dataclass(frozen=True, kw_only=True)
class GymJob:
    """One run of our PPO, at its default settings."""

    kind: ClassVar[str] = "sparse_tasks"
    curve: ClassVar[tuple[str, ...]] = ("success", "return", "steps")
    measures: ClassVar[tuple[str, ...]] = (*curve, "greedy_success", "greedy_return")

    task: str
    """One of TASKS."""
    regime: str
    """One of REGIMES."""
    seed: int = 0
    """Of the network, the envs and the learner."""
    frames: int = 300_000
    """Budget; schedules are stretched to it."""
    num_envs: int = 8
    """Environments side by side."""
    evaluations: int = 15
    """How often success from the true start is measured on the way."""
    final_episodes: int = 200
    """Episodes of each measurement at the end."""

    def __post_init__(self) -> None:
        require_one_of("task", self.task, tuple(TASKS))
        require_one_of("regime", self.regime, REGIMES)
        require_whole(self, seed=0, frames=1, num_envs=1, evaluations=1, final_episodes=1)

    @property
    def name(self) -> str:
        """As `mountaincar-v0-backplay-0`."""
        return file_name(self.setting, self.regime, self.seed)

    @property
    def setting(self) -> str:
        """The env."""
        return TASKS[self.task].env

    def make(self) -> gym.Env[Any, Any]:
        """The plain env."""
        task = TASKS[self.task]
        return gym.make(task.env, **task.options)

    def demonstrate(self) -> Demonstration:
        """What the script plays: the best of ten episodes."""
        script, env = TASKS[self.task].script, self.make()
        best = max(range(TRIES), key=lambda seed: earned(env, script, seed))
        return record(env, script, seed=best)

    @property
    def seconds(self) -> float:
        """About a minute for 300,000 frames."""
        return 5.0 + 250.0 * self.frames / 1_000_000

    def begin(
        self,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> GymWork:
        """Plays the demonstration and makes the envs."""
        if on_progress:
            on_progress(f"playing {self.setting} for a demonstration")
        demo = self.demonstrate()
        config = TrainConfig(
            frames=self.frames, num_envs=self.num_envs, seed=self.seed,
            evaluate_every=max(1, self.frames // self.evaluations),
            evaluation_episodes=EPISODES, final_episodes=self.final_episodes,
        )  # fmt: skip
        made = Training(self.make, [demo], curriculum(self, len(demo)), config, workers=workers)
        return GymWork(made, [len(demo)])

    @classmethod
    def exhibit(cls, records: Sequence[RunRecord]) -> Exhibit:
        """Episodes, as films."""
        from backplay.paper.sparse_tasks.exhibit import exhibit

        return exhibit(records)


JOB = GymJob


def earned(env: gym.Env[Any, Any], script: Script, seed: int) -> float:
    """The sum of rewards of one episode."""
    observation, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        observation, reward, terminated, truncated, _ = env.step(script(observation))
        total, over = total + float(reward), terminated or truncated
    return total


def curriculum(job: GymJob, length: int) -> Curriculum:
    """Where episodes start, for a demonstration of this length."""
    made: dict[str, Callable[[], Curriculum]] = {
        "backplay": partial(Backplay.stretch, job.frames, [length]),
        "uniform": Uniform,
        "standard": Standard,
        # A hundredth of the budget a round, of which walks may take a quarter at most.
        "reverse": lambda: ReverseCurriculum.begin(
            [length], seed=job.seed, round_frames=max(1, job.frames // 100),
            new_states=max(1, job.frames // 400), walk_steps=25, new_starts=100, old_starts=50,
            until=round(0.6 * job.frames),
        ),
    }  # fmt: skip
    return made[job.regime]()


class GymWork:
    """Training on a Gymnasium env in progress."""

    def __init__(self, training: Training, lengths: Sequence[int]) -> None:
        """Of demonstrations with so many steps."""
        self.training, self.lengths = training, list(lengths)

    def line(self, progress: Progress) -> dict[str, Any]:
        """What came of the update, and at evaluations from the true start."""
        line = progress_line(progress)
        width = max(1, -(-max(self.lengths) // BINS))
        line["by_steps_back"] = by_steps_back(progress.episodes, self.lengths, width)
        if progress.evaluation is not None:
            line["evaluation"] = _measured(progress.evaluation)
        return line

    def result(self) -> dict[str, Any]:
        """Episodes from the true start with drawn actions, as many with the likeliest; one kept."""
        episodes = self.training.config.final_episodes
        sampled = self.training.evaluate(episodes)
        greedy = self.training.evaluate(episodes, greedy=True)
        return {
            "measures": {
                **_measured(sampled),
                "greedy_success": greedy.success, "greedy_return": float(greedy.returns.mean()),
            },
            "sampled": str(sampled), "greedy": str(greedy), "episodes": episodes,
            "demonstrations": self.lengths,
            "episode": self._greedy_episode(),
        }  # fmt: skip

    def _greedy_episode(self) -> dict[str, Any] | None:
        """The first episode with the likeliest actions: its seed and what was done, to be watched.

        The env is its own physics: the same seed and actions show the same episode again. None of
        an episode that is too long to watch, or where what is seen is more than one array.
        """
        assert self.training.make_env is not None
        env, act = self.training.make_env(), acting(self.training.learner, greedy=True)
        try:
            observation, _ = env.reset(seed=FIRST_SEED)
            actions: list[Any] = []
            total = 0.0
            while isinstance(observation, np.ndarray) and len(actions) < LONGEST:
                action = act(observation[None])[0]
                actions.append(np.asarray(action).tolist())
                observation, reward, terminated, truncated, _ = env.step(action)
                total += float(reward)
                if terminated or truncated:
                    return {"seed": FIRST_SEED, "actions": actions, "return": total}
            return None
        finally:
            env.close()

    def state(self) -> dict[str, Any]:
        """Where it stands."""
        return self.training.state()

    def close(self) -> None:
        """Closes the envs."""
        self.training.close()


def _measured(found: Evaluation) -> dict[str, float]:
    return {
        "success": found.success,
        "return": float(found.returns.mean()),
        "steps": float(found.lengths.mean()),
    }
