"""Training: the one loop that meets every part.

    training = Training(make_env, [demo], bp.Backplay.stretch(200_000), TrainConfig(frames=200_000))
    for progress in training.run():
        print(progress)

The loop is a generator: whoever drives it shows progress, saves `training.state()`, or stops. It
knows neither the disk nor the screen.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, Protocol

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers import FilterObservation
from torch import nn

from backplay.curricula import Curriculum, from_json, to_json
from backplay.demos import Demonstration
from backplay.errors import BackplayError, show
from backplay.evaluate import Act, Evaluation, evaluate
from backplay.learners import PPO, PPOConfig, Teacher, load_weights, make_network
from backplay.records import Episode
from backplay.rollout import AnyEnv
from backplay.success import SuccessRule, default_rule
from backplay.wrapper import BackplayEnv, advance, set_curriculum


class MakeNetwork(Protocol):
    """Makes a network for an observation and an action space, its weights drawn from a seed."""

    def __call__(
        self, observation_space: spaces.Space[Any], action_space: spaces.Space[Any], *, seed: int
    ) -> nn.Module: ...


class Evaluator(Protocol):
    """Plays a policy from true starts, in its own way: on every level of a set, say."""

    def __call__(self, act: Act, *, episodes: int, seed: int) -> Evaluation: ...


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
    initial: Literal["reset", "demonstration"] = "reset"
    """What step 0 of a demonstration means: the env's own reset, or the recorded initial state."""
    time_limit: Literal["continue", "fresh"] = "continue"
    """After a restore: go on with the demonstration's clock, or start a fresh one."""
    patience: float | None = None
    """Truncate training episodes after so many times what the demonstration took from the same
    start, and 16 steps; None never does."""
    ppo: PPOConfig = field(default_factory=PPOConfig)
    """The learner."""

    def __post_init__(self) -> None:
        least = {
            "frames": 1, "num_envs": 1, "seed": 0, "evaluate_every": 0,
            "evaluation_episodes": 1, "final_episodes": 1,
        }  # fmt: skip
        for name, minimum in least.items():
            value = getattr(self, name)
            if type(value) is not int or value < minimum:
                raise BackplayError(
                    name, expected=f"a whole number of at least {minimum}", got=show(value)
                )


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
        left = timedelta(seconds=round(self.seconds_left))
        return (
            f"{self.frames:>9,} / {self.total_frames:,} frames  {self.frames_per_second:6,.0f}/s"
            f"  true start {true:>4}  here {here:>4}  {self.starts}  {left} left"
        )


class Training:
    """A run in progress: envs, learner and curriculum, and the frames so far."""

    def __init__(
        self,
        make_env: Callable[[], AnyEnv] | None,
        demos: Sequence[Demonstration],
        curriculum: Curriculum,
        config: TrainConfig | None = None,
        *,
        success: SuccessRule | None = None,
        network: MakeNetwork = make_network,
        envs: VectorEnv[Any, Any, Any] | None = None,
        evaluator: Evaluator | None = None,
        initial_weights: Mapping[str, torch.Tensor] | None = None,
        teacher: Teacher | None = None,
    ) -> None:
        """A run that has not begun.

        Args:
            make_env: makes the plain environment, wrapped as the demonstrations were recorded; may
                be None with `envs` and `evaluator`.
            demos: demonstrations of it; with `Standard()` only their way of ending matters.
            curriculum: where episodes start.
            config: see TrainConfig.
            success: which endings count as success.
            network: from an observation and an action space to a network, see `learners.networks`.
            envs: a batched env that draws its own starts, as `PommermanVector` does, to train in
                instead of copies of `make_env()`, which is then for evaluation alone. If it has
                `get_state` and `set_state`, as `MazeVector`, a resumed run goes on exactly.
            evaluator: measures the policy in its own way, not on `make_env()`.
            initial_weights: what the network begins with, e.g. a cloned network's `state_dict()`.
            teacher: whom to imitate at first; it is no part of `state()`.
        """
        self.config = config or TrainConfig()
        if make_env is None and (envs is None or evaluator is None):
            raise BackplayError("make_env", expected="a function, or both envs and evaluator")
        self.evaluator = evaluator or self._on_plain_envs
        self.make_env = make_env
        self.curriculum = curriculum
        self.frames = 0
        self.seconds = 0.0
        self.succeeded = success or default_rule(demos)
        self.evaluations: list[tuple[int, float]] = []
        """Frames and success from the true start of each evaluation."""
        self._recent: deque[bool] = deque(maxlen=100)
        self._envs_state: dict[str, Any] | None = None  # where they stood, in a resumed run
        self._counted = 0  # of the envs' restored steps, those that are in `frames`

        def make() -> AnyEnv:
            assert make_env is not None
            env = BackplayEnv(
                make_env(), demos, curriculum,
                initial=self.config.initial, time_limit=self.config.time_limit,
                patience=self.config.patience, success=self.succeeded,
            )  # fmt: skip
            return without_words(env)

        self.envs: Any = envs or SyncVectorEnv(
            [make] * self.config.num_envs, autoreset_mode=AutoresetMode.SAME_STEP
        )
        if self.envs.num_envs != self.config.num_envs:
            raise BackplayError(
                "num_envs", expected=f"{self.envs.num_envs}, as many as the batched env has",
                got=self.config.num_envs,
            )  # fmt: skip
        action_space = self.envs.single_action_space
        net = network(self.envs.single_observation_space, action_space, seed=self.config.seed)
        if initial_weights is not None:
            load_weights(net, initial_weights)
        ppo, seed = self.config.ppo, self.config.seed
        self.learner = PPO(net, action_space, ppo, seed=seed, teacher=teacher)

    def run(self) -> Iterator[Progress]:
        """Trains until the frames are used up; yields after every update."""
        total = self.config.frames
        observations = self._begin()
        every = self.config.evaluate_every or total
        next_evaluation = (self.frames // every + 1) * every
        resumed_at, began = self.frames, time.perf_counter()
        while self.frames < total:
            rollout = self.learner.collect(self.envs, observations)
            observations = rollout.last_observations
            metrics = self.learner.update(rollout, progress=self.frames / total)
            restored = self._restored_steps()
            self.frames += rollout.frames + restored - self._counted
            self._counted = restored
            self.curriculum, episodes = advance(self.envs, self.curriculum, self.frames)
            self._recent.extend(episode.success for episode in episodes)
            finished = self.frames >= total
            evaluation = None
            if finished or self.frames >= next_evaluation:
                evaluation = self.evaluate(
                    self.config.final_episodes if finished else self.config.evaluation_episodes
                )
                next_evaluation = (self.frames // every + 1) * every
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

    def _begin(self) -> Any:
        """Puts the envs where the run goes on; what is seen there."""
        set_curriculum(self.envs, self.curriculum)
        if self._envs_state is not None:
            self.envs.set_state(self._envs_state)
            self._envs_state = None
            return self.envs.observe()
        # A resumed run starts its envs elsewhere than the first did, but always in the same place.
        seeds = np.random.SeedSequence([self.config.seed, self.frames]).generate_state(
            self.config.num_envs
        )
        observations, _ = self.envs.reset(seed=[int(s) >> 1 for s in seeds])
        self._counted = self._restored_steps() if self.frames else 0
        return observations

    def evaluate(self, episodes: int, *, greedy: bool = False, seed: int = 10_000) -> Evaluation:
        """Success from the true start, by default with sampled actions."""
        generator = torch.Generator().manual_seed(self.config.seed)
        found = self.evaluator(
            lambda observations: self.learner.act(observations, greedy=greedy, generator=generator),
            episodes=episodes,
            seed=seed,
        )
        # What a network has kept is rounded by the batches it came in: measuring must not change
        # what comes after, or a resumed run would differ in the last digit.
        getattr(self.learner.network, "forget", lambda: None)()
        return found

    def _on_plain_envs(self, act: Act, *, episodes: int, seed: int) -> Evaluation:
        assert self.make_env is not None
        make = self.make_env
        return evaluate(
            lambda: without_words(make()), act, self.succeeded, episodes=episodes, seed=seed
        )

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs, as arrays and plain data.

        Envs without `get_state` begin new episodes.
        """
        envs = {"envs": self.envs.get_state()} if hasattr(self.envs, "get_state") else {}
        return {
            **envs,
            "learner": _as_arrays(self.learner.state()),
            "curriculum": to_json(self.curriculum),
            "frames": self.frames,
            "evaluations": [list(pair) for pair in self.evaluations],
            "recent": list(self._recent),
            "counted": self._counted,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Goes on from `state()`."""
        try:
            self.learner.load_state(_as_tensors(state["learner"]))
            self.curriculum = from_json(state["curriculum"], kinds=[type(self.curriculum)])
            self.frames = int(state["frames"])
            self.evaluations = [(int(frames), float(s)) for frames, s in state["evaluations"]]
            self._recent = deque(map(bool, state["recent"]), maxlen=self._recent.maxlen)
            self._envs_state, self._counted = state.get("envs"), int(state.get("counted", 0))
        except (RuntimeError, KeyError, TypeError, ValueError) as error:
            raise BackplayError(
                "This state is of another run",
                expected="the network of this environment's spaces, and a curriculum",
                got=f"{type(error).__name__}: {str(error)[:200]}",
                do="Build the run as it was built when the state was saved.",
            ) from error

    def close(self) -> None:
        """Closes the envs."""
        self.envs.close()

    def _restored_steps(self) -> int:
        return int(sum(self.envs.get_attr("restored_steps")))


def without_words(env: AnyEnv) -> AnyEnv:
    """`env` without the texts in its observations, which no network reads (MiniGrid's mission)."""
    space = env.observation_space
    if not isinstance(space, spaces.Dict):
        return env
    numbers = [key for key, part in space.items() if part.dtype is None or part.dtype.kind != "U"]
    return FilterObservation(env, numbers) if len(numbers) < len(space) else env


def _as_arrays(tree: Any) -> Any:
    """A copy of `tree` with numpy arrays for tensors."""
    if isinstance(tree, torch.Tensor):
        return tree.detach().cpu().numpy().copy()
    if isinstance(tree, dict):
        return {key: _as_arrays(part) for key, part in tree.items()}
    return tree


def _as_tensors(tree: Any) -> Any:
    """A copy of `tree` with tensors for numpy arrays."""
    if isinstance(tree, np.ndarray):
        return torch.from_numpy(tree.copy())
    if isinstance(tree, dict):
        return {key: _as_tensors(part) for key, part in tree.items()}
    return tree
