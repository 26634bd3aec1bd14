"""Training: the one loop that meets every part.

    training = Training(make_env, [demo], bp.Backplay.stretch(200_000), TrainConfig(frames=200_000))
    for progress in training.run():
        print(progress)

The loop is a generator: whoever drives it shows progress, saves `training.state()`, or stops. It knows
neither the disk nor the screen.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn

from backplay.curricula import Curriculum, from_json, to_json
from backplay.demos import Demonstration
from backplay.evaluate import Evaluation, evaluate
from backplay.learners import PPO, PPOConfig, make_network
from backplay.records import Episode
from backplay.rollout import AnyEnv
from backplay.success import SuccessRule, default_rule
from backplay.wrapper import BackplayEnv, advance


class MakeNetwork(Protocol):
    """Makes a network for an observation and an action space, its weights drawn from a seed."""

    def __call__(
        self, observation_space: spaces.Space[Any], action_space: spaces.Space[Any], *, seed: int
    ) -> nn.Module: ...



@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """What a training run does, apart from its env, demonstrations and curriculum."""

    frames: int = 500_000
    """Frames to train for; steps spent on restoring count."""
    num_envs: int = 8
    """Environments stepped side by side."""
    seed: int = 0
    """Of the network, the envs and the learner."""
    evaluate_every: int = 25_000
    """Frames between evaluations from the true start; 0 for none but the last."""
    evaluation_episodes: int = 20
    """Episodes of each evaluation during training."""
    final_episodes: int = 100
    """Episodes of the evaluation at the end."""
    initial: str = "reset"
    """What step 0 of a demonstration means; see BackplayEnv."""
    time_limit: str = "continue"
    """The clock after a restore; see BackplayEnv."""
    ppo: PPOConfig = field(default_factory=PPOConfig)
    """The learner."""


@dataclass(frozen=True)
class Progress:
    """Where a run stands after one update."""

    frames: int
    total_frames: int
    frames_per_second: float
    seconds_left: float
    starts: str
    """Where episodes start now, in words."""
    train_success: float | None
    """Success of the last hundred episodes, wherever they started."""
    true_success: float | None
    """Success from the true start in the last evaluation."""
    evaluation: Evaluation | None
    """The evaluation made at this point, if one was."""
    episodes: Sequence[Episode]
    """The episodes that finished in this update."""
    metrics: dict[str, float]
    """What the learner says of its update."""
    finished: bool = False

    def __str__(self) -> str:
        true = "–" if self.true_success is None else f"{self.true_success:.0%}"
        here = "–" if self.train_success is None else f"{self.train_success:.0%}"
        left = time.strftime("%H:%M:%S", time.gmtime(self.seconds_left))
        return (
            f"{self.frames:>9,} / {self.total_frames:,} frames  {self.frames_per_second:6,.0f}/s"
            f"  true start {true:>4}  here {here:>4}  {self.starts}  {left} left"
        )


class Training:
    """A run in progress: envs, learner and curriculum, and the frames so far."""

    def __init__(
        self,
        make_env: Callable[[], AnyEnv],
        demos: Sequence[Demonstration],
        curriculum: Curriculum,
        config: TrainConfig | None = None,
        *,
        success: SuccessRule | None = None,
        network: MakeNetwork = make_network,
    ) -> None:
        """A run that has not begun.

        Args:
            make_env: makes the plain environment, wrapped as the demonstrations were recorded.
            demos: demonstrations of it; with `Standard()` only their way of ending matters.
            curriculum: where episodes start.
            config: see TrainConfig.
            success: which endings count as success.
            network: from an observation and an action space to a network, see `learners.networks`.
        """
        self.config = config or TrainConfig()
        self.make_env = make_env
        self.curriculum = curriculum
        self.frames = 0
        self.seconds = 0.0
        self.succeeded = success or default_rule(demos)
        self.evaluations: list[tuple[int, float]] = []
        """Frames and success from the true start of each evaluation."""
        self._recent: deque[bool] = deque(maxlen=100)

        def make() -> AnyEnv:
            return BackplayEnv(
                make_env(), demos, curriculum,
                initial=self.config.initial, time_limit=self.config.time_limit,  # type: ignore[arg-type]  # checked there
                success=self.succeeded,
            )  # fmt: skip

        self.envs = SyncVectorEnv(
            [make] * self.config.num_envs, autoreset_mode=AutoresetMode.SAME_STEP
        )
        action_space = self.envs.single_action_space
        net = network(self.envs.single_observation_space, action_space, seed=self.config.seed)
        self.learner = PPO(net, action_space, self.config.ppo, seed=self.config.seed)

    def run(self) -> Iterator[Progress]:
        """Trains until the frames are used up; yields after every update."""
        total = self.config.frames
        # A resumed run starts its envs elsewhere than the first did, but always in the same place.
        seeds = np.random.SeedSequence([self.config.seed, self.frames]).generate_state(
            self.config.num_envs
        )
        observations, _ = self.envs.reset(seed=[int(s) >> 1 for s in seeds])
        restored = self._restored_steps()
        next_evaluation = self.frames + (self.config.evaluate_every or total)
        resumed_at, began = self.frames, time.perf_counter()
        self.curriculum, _ = advance(self.envs, self.curriculum, self.frames)
        while self.frames < total:
            rollout = self.learner.collect(self.envs, observations)
            observations = rollout.last_observations
            metrics = self.learner.update(rollout, progress=self.frames / total)
            now_restored = self._restored_steps()
            self.frames += rollout.frames + now_restored - restored
            restored = now_restored
            self.curriculum, episodes = advance(self.envs, self.curriculum, self.frames)
            self._recent.extend(episode.success for episode in episodes)
            finished = self.frames >= total
            evaluation = None
            if finished or self.frames >= next_evaluation:
                evaluation = self.evaluate(
                    self.config.final_episodes if finished else self.config.evaluation_episodes
                )
                next_evaluation += self.config.evaluate_every or total
                self.evaluations.append((self.frames, evaluation.success))
            speed = (self.frames - resumed_at) / (time.perf_counter() - began)
            yield Progress(
                frames=self.frames,
                total_frames=total,
                frames_per_second=speed,
                seconds_left=max(0.0, (total - self.frames) / speed),
                starts=self.curriculum.describe(),
                train_success=float(np.mean(self._recent)) if self._recent else None,
                true_success=self.evaluations[-1][1] if self.evaluations else None,
                evaluation=evaluation,
                episodes=episodes,
                metrics=metrics,
                finished=finished,
            )

    def evaluate(self, episodes: int, *, greedy: bool = False) -> Evaluation:
        """Success from the true start, on plain envs, by default with sampled actions."""
        generator = torch.Generator().manual_seed(self.config.seed)
        return evaluate(
            self.make_env,
            lambda observations: self.learner.act(
                observations, greedy=greedy, generator=generator
            ),
            self.succeeded,
            episodes=episodes,
        )

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs, as tensors and plain data; envs begin new episodes."""
        return {
            "learner": self.learner.state(),
            "curriculum": to_json(self.curriculum),
            "frames": self.frames,
            "evaluations": [list(pair) for pair in self.evaluations],
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Goes on from `state()`."""
        self.learner.load_state(state["learner"])
        self.curriculum = from_json(state["curriculum"], kinds=[type(self.curriculum)])
        self.frames = int(state["frames"])
        self.evaluations = [(int(frames), float(s)) for frames, s in state["evaluations"]]

    def close(self) -> None:
        """Closes the envs."""
        self.envs.close()

    def _restored_steps(self) -> int:
        return int(sum(self.envs.get_attr("restored_steps")))
