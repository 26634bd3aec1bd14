"""Stable-Baselines3's PPO behind the names of our own training loop.

    training = SB3Training(task.make, [demo], bp.Uniform(), TrainConfig(frames=300_000), {})
    for progress in training.run():
        print(progress)

Each update is one `model.learn` with `CurriculumCallback`, as a user would write it. Between two
updates everything with state is plain data, so that a killed run resumes to the byte: weights and
Adam's moments as arrays, the envs as recipes, and the two global random streams that
Stable-Baselines3 draws from, which are swapped in for an update and out again. Its own zip files
hold pickles and are never read. Does not know: disks, screens, tasks.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv

from backplay.curricula import Curriculum, from_json, to_json
from backplay.demos import Demonstration
from backplay.demos.success import SuccessRule, success_rule
from backplay.errors import BackplayError
from backplay.integrations.sb3 import CurriculumCallback
from backplay.learners.finite import require_finite_weights
from backplay.records import Episode
from backplay.restore.rollout import AnyEnv
from backplay.train.config import TrainConfig
from backplay.train.evaluate import Evaluation, evaluate
from backplay.train.progress import Progress
from backplay.wrapper import ResumableBackplayEnv, set_curriculum

RECENT = 100  # episodes of the success that is shown


class _Episodes(CurriculumCallback):
    """The callback, and all episodes that it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Episode] = []

    def _advance(self) -> None:
        super()._advance()
        self.seen += self.episodes


class SB3Learner:
    """The model as a policy over batches."""

    def __init__(self, model: PPO) -> None:
        self.model = model

    def act(
        self, seen: Any, *, greedy: bool = False, generator: torch.Generator | None = None
    ) -> Any:
        """Actions for a batch of observations; draws come from torch's stream, which is kept."""
        with torch.random.fork_rng(devices=[]):
            if generator is not None:
                torch.manual_seed(int(torch.randint(2**31, (), generator=generator)))
            return self.model.predict(seen, deterministic=greedy)[0]


class SB3Training:
    """A run of Stable-Baselines3's PPO in progress; `Training` for our own."""

    exact_resume = True

    def __init__(
        self,
        make_env: Callable[[], AnyEnv],
        demos: Sequence[Demonstration],
        curriculum: Curriculum,
        config: TrainConfig,
        settings: Mapping[str, Any],
        *,
        success: SuccessRule | None = None,
    ) -> None:
        """A run that has not begun.

        Args:
            make_env: makes the plain environment.
            demos: demonstrations of it.
            curriculum: where episodes start.
            config: frames, envs, seed and evaluations; its `ppo` is not used.
            settings: of Stable-Baselines3's PPO, other than its defaults.
            success: which endings count as success.
        """
        self.make_env, self.config, self.curriculum = make_env, config, curriculum
        self.total_frames, self.frames = config.frames, 0
        self.succeeded = success_rule(success or config.success, demos)
        self.evaluations: list[tuple[int, float]] = []
        self._recent: deque[bool] = deque(maxlen=RECENT)

        def make() -> AnyEnv:
            return ResumableBackplayEnv(
                make_env(), demos, curriculum, initial=config.initial,
                time_limit=config.time_limit, success=self.succeeded,
                settings=config.settings,
            )  # fmt: skip

        self.envs = DummyVecEnv([make] * config.num_envs)
        self._streams: dict[str, Any] = _streams()
        with self._own_streams():
            self.model = PPO("MlpPolicy", self.envs, seed=config.seed, device="cpu", **settings)
        self.model.set_logger(Logger(folder=None, output_formats=[]))
        self.learner = SB3Learner(self.model)

    def run(self) -> Iterator[Progress]:
        """Trains until the frames are used up; yields after every update."""
        total, every = self.total_frames, self.config.evaluate_every or self.total_frames
        next_evaluation = (self.frames // every + 1) * every
        resumed_at, began = self.frames, time.perf_counter()
        while self.frames < total:
            episodes, metrics = self._update()
            self._recent.extend(episode.success for episode in episodes)
            finished, evaluation = self.frames >= total, None
            if finished or self.frames >= next_evaluation:
                asked = self.config.final_episodes if finished else self.config.evaluation_episodes
                evaluation = self.evaluate(asked)
                next_evaluation = (self.frames // every + 1) * every
                self.evaluations.append((self.frames, evaluation.success))
            speed = (self.frames - resumed_at) / (time.perf_counter() - began)
            yield Progress(
                frames=self.frames, total_frames=total, frames_per_second=speed,
                seconds_left=max(0.0, (total - self.frames) / speed),
                starts=self.curriculum.describe(),
                train_success=float(np.mean(self._recent)) if self._recent else None,
                true_success=self.evaluations[-1][1] if self.evaluations else None,
                evaluation=evaluation, episodes=episodes, metrics=metrics, finished=finished,
            )  # fmt: skip

    def _update(self) -> tuple[list[Episode], dict[str, float]]:
        """One rollout and what is learned from it."""
        model, callback = self.model, _Episodes()
        with self._own_streams():
            model.learn(
                model.n_steps * model.n_envs, callback, log_interval=2,
                reset_num_timesteps=False,
            )  # fmt: skip
        self.curriculum = callback.curriculum
        restored = sum(self.envs.get_attr("restored_steps"))
        self.frames = model.num_timesteps + restored
        logged = dict(model.logger.name_to_value)
        model.logger.dump()
        learned = {
            name.removeprefix("train/"): float(value)
            for name, value in logged.items()
            if name.startswith("train/")
        }
        return callback.seen, learned

    def evaluate(self, episodes: int, *, greedy: bool = False, seed: int = 10_000) -> Evaluation:
        """Success from the true start, by default with sampled actions."""
        generator = torch.Generator().manual_seed(self.config.seed)
        return evaluate(
            self.make_env,
            lambda seen: self.learner.act(seen, greedy=greedy, generator=generator),
            self.succeeded, episodes=episodes, seed=seed,
        )  # fmt: skip

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs, as arrays and plain data; asked for between two updates."""
        model: Any = self.model
        require_finite_weights(model.policy)
        moments = model.policy.optimizer.state_dict()["state"]
        begun = model._last_obs is not None
        return {
            "learner": {
                "network": _as_arrays(model.policy.state_dict()),
                "optimiser": {str(i): _as_arrays(one) for i, one in moments.items()},
            },
            "envs": self.envs.env_method("get_state") if begun else None,
            "seen": model._last_obs.copy() if begun else None,
            "begins": model._last_episode_starts.copy() if begun else None,
            "streams": self._streams,
            "steps": model.num_timesteps,
            "updates": model._n_updates,
            "curriculum": to_json(self.curriculum),
            "frames": self.frames,
            "evaluations": [list(pair) for pair in self.evaluations],
            "recent": list(self._recent),
        }  # fmt: skip

    def load_state(self, state: dict[str, Any]) -> None:
        """Resumes from `state()`."""
        model: Any = self.model
        try:
            model.policy.load_state_dict(_as_tensors(state["learner"]["network"]))
            optimiser = model.policy.optimizer
            moments = state["learner"]["optimiser"].items()
            optimiser.load_state_dict({
                "state": {int(i): _as_tensors(one) for i, one in moments},
                "param_groups": optimiser.state_dict()["param_groups"],
            })  # fmt: skip
            self.curriculum = from_json(state["curriculum"], kinds=[type(self.curriculum)])
            model.backplay_curriculum = state["curriculum"]
            model.num_timesteps, model._n_updates = int(state["steps"]), int(state["updates"])
            self.frames, self._streams = int(state["frames"]), state["streams"]
            self.evaluations = [(int(frames), float(s)) for frames, s in state["evaluations"]]
            self._recent = deque(map(bool, state["recent"]), maxlen=RECENT)
            if state["envs"] is not None:
                set_curriculum(self.envs, self.curriculum)
                for env, one in zip(self.envs.envs, state["envs"], strict=True):
                    env.get_wrapper_attr("set_state")(one)
                model._last_obs = np.array(state["seen"])
                model._last_episode_starts = np.array(state["begins"])
        except (RuntimeError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise BackplayError(
                "This state is of another run", expected="a state of this task and trainer",
                got=f"{type(error).__name__}: {str(error)[:200]}",
                do="Build the run as it was built when the state was saved.",
            ) from error  # fmt: skip

    def close(self) -> None:
        """Closes the envs."""
        self.envs.close()

    @contextmanager
    def _own_streams(self) -> Iterator[None]:
        """The run's place in the global random streams, and afterwards what was there before."""
        before = _streams()
        _set_streams(self._streams)
        try:
            yield
        finally:
            self._streams = _streams()
            _set_streams(before)


def _streams() -> dict[str, Any]:
    """Where torch's and numpy's global streams stand, as plain data."""
    _, keys, position, has_gauss, cached = np.random.get_state()  # noqa: NPY002  # not ours
    return {
        "torch": torch.get_rng_state().numpy().copy(),
        "numpy": {
            "keys": np.array(keys), "position": int(position), "has_gauss": int(has_gauss),
            "cached": float(cached),
        },
    }  # fmt: skip


def _set_streams(streams: dict[str, Any]) -> None:
    torch.set_rng_state(torch.from_numpy(np.array(streams["torch"], np.uint8)))
    at = streams["numpy"]
    place = ("MT19937", np.array(at["keys"], np.uint32), at["position"], at["has_gauss"])
    np.random.set_state((*place, at["cached"]))  # noqa: NPY002


def _as_arrays(tensors: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}


def _as_tensors(arrays: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
