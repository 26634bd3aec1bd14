"""Training: the one loop that meets every part.

    training = Training(make_env, [demo], bp.Frontier(), TrainConfig(frames=200_000))
    for progress in training.run():
        print(progress)

The loop is a generator: whoever drives it shows progress, saves `training.state()`, or stops. It
knows neither the disk nor the screen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from gymnasium.wrappers import TransformObservation

from backplay.curricula import Curriculum
from backplay.demos import Demonstration
from backplay.demos.doubts import BackplayWarning
from backplay.demos.success import Success, success_rule
from backplay.errors import BackplayError, ensure, refusing
from backplay.learners import PPO, Teacher, load_weights, make_network
from backplay.learners.division import divide
from backplay.learners.finite import NotFiniteError, require_finite_weights
from backplay.learners.rollout import Rollout
from backplay.learners.workers import Alone, EnvRange, Workers, from_first
from backplay.records import Episode
from backplay.restore.rollout import AnyEnv
from backplay.train.config import Evaluator, MakeNetwork, TrainConfig
from backplay.train.evaluate import Act, Evaluation, evaluate
from backplay.train.progress import Progress
from backplay.train.running import Running
from backplay.wrapper import (
    BackplayEnv,
    BackplayVector,
    ResumableBackplayEnv,
    advance,
    set_curriculum,
)

FARTHEST_ACTION = 5.0  # times larger or smaller than 1, of actions without bounds


class Training(Running):
    """A run in progress: envs, learner and curriculum, and the frames so far."""

    def __init__(
        self,
        make_env: Callable[[], AnyEnv] | None,
        demos: Sequence[Demonstration],
        curriculum: Curriculum,
        config: TrainConfig | None = None,
        *,
        success: Success | None = None,
        network: MakeNetwork | None = None,
        envs: VectorEnv[Any, Any, Any] | None = None,
        evaluator: Evaluator | None = None,
        initial_weights: Mapping[str, torch.Tensor] | None = None,
        teacher: Teacher | None = None,
        learner: Callable[..., PPO] = PPO,
        workers: Workers | None = None,
    ) -> None:
        """A run that has not begun.

        Args:
            make_env: makes the plain environment, wrapped as the demonstrations were recorded; may
                be None with `envs` and `evaluator`.
            demos: demonstrations of it; with `Standard()` only their way of ending matters, the
                scales of what is seen and earned in them, and their length, for the discount.
            curriculum: where episodes start.
            config: see TrainConfig.
            success: which endings count as success.
            network: from an observation and an action space to a network, see `learners.networks`;
                by default `make_network`, which sees vectors on the scale of the demonstrations'.
            envs: a batched env that draws its own starts, as `PommermanVector` does, to train in
                instead of copies of `make_env()`, which is then for evaluation alone. To be
                resumed exactly it needs `get_state`, `set_state` and `observe`.
            evaluator: measures the policy in its own way, not on `make_env()`.
            initial_weights: what the network begins with, e.g. a cloned network's `state_dict()`.
            teacher: whom to imitate at first; in a resumed run it may be untrained, because
                `load_state` gives it its weights.
            learner: makes the learner as `PPO` is made: `functools.partial` of `GAIL` or `DAgger`.
            workers: with whom to train; each makes its own of the envs, or all of `envs`.
        """
        super().__init__(config or TrainConfig(), curriculum)
        self.workers: Workers = workers or Alone()
        if make_env is None and (envs is None or evaluator is None):
            raise BackplayError("make_env", expected="a function, or both envs and evaluator")
        if envs is not None:
            _refuse_what_nobody_reads(self.config)
        self.evaluator = evaluator or self._on_plain_envs
        self.make_env = make_env
        self.succeeded = success_rule(success or self.config.success, demos)
        self._teacher = teacher
        self._observations: Any = None  # what is seen in the envs, once they have begun
        self._envs_state: dict[str, Any] | None = None  # where they stood, in a resumed run
        self._counted = 0  # of the envs' restored steps, those that are in `frames`

        def make() -> AnyEnv:
            assert make_env is not None
            kind = ResumableBackplayEnv if self.config.exact_resume else BackplayEnv
            env = kind(
                make_env(), demos, curriculum,
                initial=self.config.initial, time_limit=self.config.time_limit,
                success=self.succeeded, settings=self.config.settings,
            )  # fmt: skip
            return without_words(env)

        own = EnvRange.of(self.config.num_envs, self.workers.rank, self.workers.size)
        made = envs or BackplayVector([make] * max(1, own.count))
        self.envs: Any = divide(made, self.config.num_envs, self.workers)
        action_space = self.envs.single_action_space
        _warn_of_units(action_space, demos)
        seen = [observation for demo in demos for observation in demo.observations]
        make_net = network or partial(make_network, examples=seen)
        net = make_net(self.envs.single_observation_space, action_space, seed=self.config.seed)
        if initial_weights is not None:
            load_weights(net, initial_weights)
        ppo, seed = self.config.ppo.after([demo.rewards for demo in demos]), self.config.seed
        self.learner = learner(
            net, action_space, ppo, seed=seed, teacher=teacher, workers=self.workers
        )

    def run(self) -> Iterator[Progress]:
        """Trains until the frames are used up; yields after every update."""
        if self._observations is None and self.frames < self.config.frames:
            self._observations = self._begin()
        yield from super().run()

    def _learned(self) -> tuple[list[Episode], dict[str, float]]:
        rollout, metrics = self._update()
        restored = self._restored_steps()
        self.frames += rollout.frames + restored - self._counted
        self._counted = restored
        self.curriculum, episodes = advance(self.envs, self.curriculum, self.frames)
        return episodes, metrics

    def _update(self) -> tuple[Rollout, dict[str, float]]:
        """Collects and learns; an error that names the frames where a number is none."""
        try:
            rollout = self.learner.collect(self.envs, self._observations)
            self._observations = rollout.last_observations
            done = self.frames / self.config.frames
            metrics = self.learner.update(rollout, progress=done)
            require_finite_weights(self.learner.network, metrics)
        except NotFiniteError as error:
            raise NotFiniteError(
                f"{error.what}, after {self.frames:,} frames", expected=error.expected,
                got=error.got, do=error.do,
            ) from error  # fmt: skip
        return rollout, metrics

    def _begin(self) -> Any:
        """Puts the envs where the run goes on; what is seen there."""
        set_curriculum(self.envs, self.curriculum)
        if self.frames and self.config.exact_resume:
            return self._go_on()
        # A resumed run starts its envs elsewhere than the first did, but always in the same place.
        seeds = np.random.SeedSequence([self.config.seed, self.frames]).generate_state(
            self.config.num_envs
        )
        observations, _ = self.envs.reset(seed=[int(s) >> 1 for s in seeds])
        self._counted = self._restored_steps() if self.frames else 0
        return observations

    def _go_on(self) -> Any:
        """Puts the envs where they stood when the state was saved that this run goes on from."""
        if self._envs_state is None or not hasattr(self.envs, "set_state"):
            raise BackplayError(
                "This run cannot be resumed in mid-episode",
                expected="envs with get_state, set_state and observe, and a state of theirs",
                got=f"{type(self.envs).__name__}, "
                f"{'no state' if self._envs_state is None else 'and a state'}",
                do="Begin new episodes instead: TrainConfig(exact_resume=False).",
            )
        self.envs.set_state(self._envs_state)
        self._envs_state = None
        return self.envs.observe()

    def _measured(self, act: Act, episodes: int, seed: int) -> Evaluation:
        """Of several workers all must ask; the first one plays."""
        first = self.workers.rank == 0
        found = self.evaluator(act, episodes=episodes, seed=seed) if first else None
        # What a network has kept is rounded by the batches it came in: measuring must not change
        # what comes after, or a resumed run would differ in the last digit.
        getattr(self.learner.network, "forget", lambda: None)()
        if self.workers.size > 1:
            played = found and [found.successes, found.returns, found.lengths]
            told = from_first(self.workers, played)
            found = found or Evaluation(*told)
        assert found is not None
        return found

    def _on_plain_envs(self, act: Act, *, episodes: int, seed: int) -> Evaluation:
        assert self.make_env is not None
        make = self.make_env
        return evaluate(
            lambda: without_words(make()), act, self.succeeded, episodes=episodes, seed=seed
        )

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs, as arrays and plain data; asked for between two updates."""
        teacher = self._teacher and as_arrays(self._teacher.network.state_dict())
        return {
            "envs": self._where_the_envs_stand(),
            "learner": as_arrays(self.learner.state()),
            "teacher": teacher,
            **self._told(),
            "counted": self._counted,
        }

    def _where_the_envs_stand(self) -> dict[str, Any] | None:
        """Their state; None where they have not begun, or nobody will ask for it."""
        if self._observations is None:
            return self._envs_state
        if not self.config.exact_resume or not hasattr(self.envs, "get_state"):
            return None
        state: dict[str, Any] = self.envs.get_state()
        return state

    def load_state(self, state: dict[str, Any]) -> None:
        """Goes on from `state()`.

        With `exact_resume`, `run` then puts the envs where they stood, and raises BackplayError
        where they do not come back to it.
        """
        with refusing(
            "This state is of another run",
            "the network of this environment's spaces, and a curriculum",
            do="Build the run as it was built when the state was saved, by the version of backplay"
            " that saved it.",
        ):  # fmt: skip
            if (state["teacher"] is None) != (self._teacher is None):
                raise ValueError("a teacher, and a run without one")
            if self._teacher is not None:
                load_weights(self._teacher.network, as_tensors(state["teacher"]))
            self.learner.load_state(as_tensors(state["learner"]))
            require_finite_weights(self.learner.network)
            self._resume(state)
            self._envs_state, self._counted = state["envs"], int(state["counted"])
            self._observations = None

    def close(self) -> None:
        """Closes the envs."""
        self.envs.close()

    def _restored_steps(self) -> int:
        return int(sum(self.envs.get_attr("restored_steps")))


def _refuse_what_nobody_reads(config: TrainConfig) -> None:
    """Envs that draw their own starts read none of these: they are told when they are made."""
    default = TrainConfig()
    for name in ("initial", "time_limit"):
        asked = getattr(config, name, None)
        ensure(
            asked == getattr(default, name, None), f"TrainConfig({name}={asked!r})",
            "its default, because `envs` draw their own starts",
            do="Tell the envs when you make them.",
        )  # fmt: skip


def _warn_of_units(space: spaces.Space[Any], demos: Sequence[Demonstration]) -> None:
    """Says where actions without bounds, which are learned in units of 1, are of another size."""
    if not isinstance(space, spaces.Box):
        return
    free = (~(space.bounded_below & space.bounded_above)).flatten()
    done = [np.reshape(action, -1)[free] for demo in demos for action in demo.actions or ()]
    largest = max((float(np.abs(action).max(initial=0.0)) for action in done), default=0.0)
    if largest > FARTHEST_ACTION or 0 < largest < 1 / FARTHEST_ACTION:
        warnings.warn(
            "Actions without bounds are learned in units of 1; the demonstration's are of up to"
            f" {largest:.3g}. Give the action space bounds, about as far as actions should go",
            BackplayWarning, stacklevel=2,
        )  # fmt: skip


def without_words(env: AnyEnv) -> AnyEnv:
    """`env` without the texts in its observations, which no network reads (MiniGrid's mission)."""
    space = _numbers_of(env.observation_space)
    if space == env.observation_space:
        return env
    return TransformObservation(env, partial(_numbers_in, space), space)


def _numbers_of(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """The space without its texts, those of the Dicts inside included."""
    if not isinstance(space, spaces.Dict):
        return space
    return spaces.Dict(
        {
            key: _numbers_of(part)
            for key, part in space.items()
            if part.dtype is None or part.dtype.kind != "U"
        }
    )


def _numbers_in(space: spaces.Space[Any], observation: Any) -> Any:
    if not isinstance(space, spaces.Dict):
        return observation
    return {key: _numbers_in(part, observation[key]) for key, part in space.items()}


def as_arrays(tree: Any) -> Any:
    """A copy of `tree` with numpy arrays for tensors."""
    if isinstance(tree, torch.Tensor):
        return tree.detach().cpu().numpy().copy()
    if isinstance(tree, dict):
        return {key: as_arrays(part) for key, part in tree.items()}
    return tree


def as_tensors(tree: Any) -> Any:
    """A copy of `tree` with tensors for numpy arrays."""
    if isinstance(tree, np.ndarray):
        return torch.from_numpy(tree.copy())
    if isinstance(tree, dict):
        return {key: as_tensors(part) for key, part in tree.items()}
    return tree
