"""Anybody's environment with anybody's demonstrations as a job: what `backplay train` makes.

    job = EnvJob.of("MountainCar-v0", Frontier(), TrainConfig(frames=300_000))
    work = job.begin(files=[Path("car.npz")])

Comes in: an env's id, a curriculum, the settings of a training run, files of demonstrations. Goes
out: a `Training`, lines for the metrics, success from the true start, an episode to watch. The
learner learns from rewards, or (GAIL) from what the demonstrations' players saw and did. Does not
know: disks but for the demonstrations, screens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from backplay.curricula import Curriculum
from backplay.curricula import from_json as curriculum_from_json
from backplay.curricula import to_json as curriculum_to_json
from backplay.demos import Demonstration, load
from backplay.demos.described import settings_in_words
from backplay.errors import BackplayError, ensure, refusing
from backplay.learners import GAIL, PPO, Discriminator, Pairs, PPOConfig
from backplay.restore.rollout import AnyEnv
from backplay.train.agent import acting
from backplay.train.config import TrainConfig
from backplay.train.environments import kwargs_for, make_env
from backplay.train.evaluate import Evaluation
from backplay.train.job import Say, TrainedWork, file_name, require_one_of
from backplay.train.loop import Training, without_words
from backplay.train.trust import asked_for

if TYPE_CHECKING:
    from backplay.learners.workers import Workers
    from backplay.report.exhibit import Exhibit
    from backplay.report.records import RunRecord

BINS = 24  # of the starts in the metrics
FIRST_SEED = 10_000  # of the first episode that measures
LONGEST = 2_000  # steps of an episode that is kept
LEARNERS = ("ppo", "gail")


def pairs(demos: Sequence[Demonstration]) -> Pairs:
    """What was seen and done at every step of the demonstrations."""
    for number, demo in enumerate(demos):
        if demo.actions is None:
            raise BackplayError(
                f"demonstration {number}", expected="actions: they are what is imitated",
                got="states alone", do="Learn from rewards instead: --regime ppo.",
            )  # fmt: skip
    seen = [observation for demo in demos for observation in demo.observations[:-1]]
    done = [action for demo in demos for action in demo.actions or ()]
    with refusing("What is imitated", "observations and actions of one form, in all of them"):
        return Pairs(_stacked(seen), np.array(done))


def gail(
    make_env: Callable[[], AnyEnv], demos: Sequence[Demonstration], seed: int
) -> Callable[..., PPO]:
    """Makes a learner that imitates the demonstrations; for `Training(learner=…)`."""
    env = without_words(make_env())
    try:
        judge = Discriminator.for_spaces(
            env.observation_space, env.action_space, seed=seed + 1,
            examples=[observation for demo in demos for observation in demo.observations],
        )  # fmt: skip
    finally:
        env.close()
    return partial(GAIL, expert=pairs(demos), discriminator=judge)


def _stacked(observations: Sequence[Any]) -> Any:
    """Observations as one batch: an array, or a dict of such; texts are left out."""
    first = observations[0]
    if not isinstance(first, dict):
        return np.array(observations)
    numbers = {key: part for key, part in first.items() if not isinstance(part, str)}
    return {key: _stacked([one[key] for one in observations]) for key in numbers}


class EnvWork(TrainedWork):
    """Training on a Gymnasium env in progress."""

    def __init__(
        self, training: Training, demos: Sequence[Demonstration], make: Callable[..., AnyEnv]
    ) -> None:
        """From these demonstrations; `make(render_mode=…)` gives the env to be looked at."""
        self.training, self.demos, self.make = training, list(demos), make
        self.lengths = [len(demo) for demo in demos]
        self.width = max(1, -(-max(self.lengths) // BINS))

    def measured(self, found: Evaluation) -> dict[str, float]:
        """Success, and means of returns and lengths."""
        return {
            "success": found.success,
            "return": float(found.returns.mean()),
            "steps": float(found.lengths.mean()),
        }

    def result(self) -> dict[str, Any]:
        """Episodes from the true start with drawn actions, as many with the likeliest; one kept."""
        episodes = self.training.config.final_episodes
        sampled = self.training.evaluate(episodes)
        greedy = self.training.evaluate(episodes, greedy=True)
        return {
            "measures": {
                **self.measured(sampled),
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


@dataclass(frozen=True, kw_only=True)
class EnvJob:
    """One run of our PPO, or of GAIL, on an environment that its id names."""

    kind: ClassVar[str] = "env"
    curve: ClassVar[tuple[str, ...]] = ("success", "return", "steps")
    measures: ClassVar[tuple[str, ...]] = (*curve, "greedy_success", "greedy_return")

    env: str
    """The environment's id."""
    env_kwargs: dict[str, Any] | None
    """Its arguments; None for those the first demonstration was recorded with."""
    curriculum: dict[str, Any]
    """Where episodes start at first, as `curricula.to_json` writes it."""
    settings: dict[str, Any]
    """The fields of a `TrainConfig`."""
    learner: str = "ppo"
    """One of LEARNERS: PPO learns from rewards, GAIL from what the demonstrations did."""

    @classmethod
    def of(
        cls,
        env: str,
        curriculum: Curriculum,
        config: TrainConfig,
        env_kwargs: dict[str, Any] | None = None,
        learner: str = "ppo",
    ) -> EnvJob:
        """The job of these parts."""
        return cls(
            learner=learner,
            env=env,
            env_kwargs=env_kwargs,
            curriculum=json.loads(curriculum_to_json(curriculum)),
            settings=json.loads(json.dumps(asdict(config))),
        )

    def __post_init__(self) -> None:
        ensure(isinstance(self.env, str), "env", "an environment's id", self.env)
        ensure(isinstance(self.env_kwargs, dict | None), "env_kwargs", "a dict", self.env_kwargs)
        require_one_of("learner", self.learner, LEARNERS)
        self.starts, self.config  # noqa: B018  # raise where a part is damaged

    @property
    def starts(self) -> Curriculum:
        """The curriculum."""
        return curriculum_from_json(json.dumps(self.curriculum))

    @property
    def config(self) -> TrainConfig:
        """The settings."""
        ensure(isinstance(self.settings.get("ppo"), dict), "settings", "with ppo", self.settings)
        return TrainConfig(**{**self.settings, "ppo": PPOConfig(**self.settings["ppo"])})

    @property
    def regime(self) -> str:
        """The kind of curriculum; behind the learner, where that is not PPO."""
        starts = str(self.curriculum["kind"]).lower()
        return starts if self.learner == "ppo" else f"{self.learner}+{starts}"

    @property
    def seed(self) -> int:
        """Of the network, the envs and the learner."""
        return self.config.seed

    @property
    def frames(self) -> int:
        """Budget."""
        return self.config.frames

    @property
    def name(self) -> str:
        """As `mountaincar-v0-backplay-0`."""
        return file_name(self.setting, self.regime, self.seed)

    @property
    def setting(self) -> str:
        """The env, and what it was told."""
        return f"{self.env}, {settings_in_words(self.env_kwargs)}" if self.env_kwargs else self.env

    @property
    def seconds(self) -> float:
        """Nobody knows the env."""
        return 0.0

    def asks_for(self, files: Sequence[Path]) -> list[str]:
        """What it would hand to the environment's constructor beyond plain settings, in words."""
        if self.env_kwargs is not None:
            return asked_for(self.env_kwargs)
        return asked_for(kwargs_for(self.env, None, load(files[0]), trust=True)) if files else []

    def begin(
        self,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> EnvWork:
        """The run at its beginning; `files` are its demonstrations."""
        ensure(len(files) > 0, "demonstrations", "at least one", 0)
        demos = [load(file) for file in files]
        given = None if self.env_kwargs is None else json.dumps(self.env_kwargs)
        kwargs = kwargs_for(self.env, given, demos[0], trust=True)  # see `asks_for`

        def make(**options: Any) -> AnyEnv:
            return make_env(self.env, {**kwargs, **options})

        try:
            learner = gail(make, demos, self.seed) if self.learner == "gail" else PPO
            training = Training(
                make, demos, self.starts, self.config, learner=learner, workers=workers
            )
        except (TypeError, ValueError) as error:  # spaces that no network is made for
            raise BackplayError(f"{self.env} cannot be trained on: {error}") from error
        return EnvWork(training, demos, make)

    @classmethod
    def exhibit(cls, records: Sequence[RunRecord]) -> Exhibit:
        """Nothing: what a result says must not make an environment that anybody registered."""
        from backplay.report.exhibit import Exhibit

        return Exhibit()


JOB = EnvJob
