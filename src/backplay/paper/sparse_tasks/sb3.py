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

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv

from backplay.curricula import Curriculum
from backplay.demos import Demonstration
from backplay.demos.success import success_rule
from backplay.errors import refusing
from backplay.integrations.sb3 import CurriculumCallback
from backplay.learners.finite import require_finite_weights
from backplay.records import Episode
from backplay.restore.rollout import AnyEnv
from backplay.train.config import TrainConfig
from backplay.train.evaluate import Act, Evaluation, evaluate
from backplay.train.loop import as_arrays, as_tensors
from backplay.train.running import Running
from backplay.wrapper import ResumableBackplayEnv, set_curriculum


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


class SB3Training(Running):
    """A run of Stable-Baselines3's PPO in progress; `Training` for our own."""

    exact_resume = True

    def __init__(
        self,
        make_env: Callable[[], AnyEnv],
        demos: Sequence[Demonstration],
        curriculum: Curriculum,
        config: TrainConfig,
        settings: Mapping[str, Any],
    ) -> None:
        """A run that has not begun.

        Args:
            make_env: makes the plain environment.
            demos: demonstrations of it.
            curriculum: where episodes start.
            config: frames, envs, seed and evaluations; its `ppo` is not used.
            settings: of Stable-Baselines3's PPO, other than its defaults.
        """
        super().__init__(config, curriculum)
        self.make_env, self.succeeded = make_env, success_rule(config.success, demos)

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

    def _learned(self) -> tuple[list[Episode], dict[str, float]]:
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

    def _measured(self, act: Act, episodes: int, seed: int) -> Evaluation:
        return evaluate(self.make_env, act, self.succeeded, episodes=episodes, seed=seed)

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs, as arrays and plain data; asked for between two updates."""
        model: Any = self.model
        require_finite_weights(model.policy)
        moments = model.policy.optimizer.state_dict()["state"]
        begun = model._last_obs is not None
        return {
            "learner": {
                "network": as_arrays(model.policy.state_dict()),
                "optimiser": {str(i): as_arrays(one) for i, one in moments.items()},
            },
            "envs": self.envs.env_method("get_state") if begun else None,
            "seen": model._last_obs.copy() if begun else None,
            "begins": model._last_episode_starts.copy() if begun else None,
            "streams": self._streams,
            "steps": model.num_timesteps,
            "updates": model._n_updates,
            **self._told(),
        }  # fmt: skip

    def load_state(self, state: dict[str, Any]) -> None:
        """Resumes from `state()`."""
        model: Any = self.model
        with refusing(
            "This state is of another run", "a state of this task and trainer",
            do="Build the run as it was built when the state was saved.",
            of=(RuntimeError, KeyError, TypeError, ValueError, AttributeError),
        ):  # fmt: skip
            model.policy.load_state_dict(as_tensors(state["learner"]["network"]))
            optimiser = model.policy.optimizer
            moments = state["learner"]["optimiser"].items()
            optimiser.load_state_dict({
                "state": {int(i): as_tensors(one) for i, one in moments},
                "param_groups": optimiser.state_dict()["param_groups"],
            })  # fmt: skip
            self._resume(state)
            model.backplay_curriculum = state["curriculum"]
            model.num_timesteps, model._n_updates = int(state["steps"]), int(state["updates"])
            self._streams = state["streams"]
            if state["envs"] is not None:
                set_curriculum(self.envs, self.curriculum)
                for env, one in zip(self.envs.envs, state["envs"], strict=True):
                    env.get_wrapper_attr("set_state")(one)
                model._last_obs = np.array(state["seen"])
                model._last_episode_starts = np.array(state["begins"])

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
