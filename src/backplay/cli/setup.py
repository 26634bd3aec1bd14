"""What `train` sets up and `evaluate` and `--resume` set up again: a training run as plain data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from backplay import runs
from backplay.curricula import Curriculum, from_json, to_json
from backplay.demos import Demonstration, load
from backplay.errors import BackplayError
from backplay.learners import PPOConfig
from backplay.paper.sparse_tasks.job import GymWork
from backplay.restore.rollout import AnyEnv
from backplay.runs import Run
from backplay.train import TrainConfig, Training
from backplay.train.environments import kwargs_for, make_env


@dataclass(frozen=True, kw_only=True)
class Setup:
    """All of a run but its demonstrations."""

    env: str
    """The environment's id."""
    env_kwargs: dict[str, Any] | None
    """Its arguments; None for those the first demonstration was recorded with."""
    curriculum: Curriculum
    """Where episodes start at first."""
    settings: TrainConfig
    """The rest."""

    def training(self, demos: Sequence[Demonstration]) -> Training:
        """The run at its beginning; BackplayError if its parts do not fit together."""
        given = None if self.env_kwargs is None else json.dumps(self.env_kwargs)
        kwargs = kwargs_for(self.env, given, demos[0])

        def make() -> AnyEnv:
            return make_env(self.env, kwargs)

        try:
            return Training(make, demos, self.curriculum, self.settings)
        except (TypeError, ValueError) as error:  # spaces that no network is made for
            raise BackplayError(f"{self.env} cannot be trained on: {error}") from error

    def as_json(self) -> dict[str, Any]:
        """Plain data for the run directory."""
        return {
            "env": self.env,
            "env_kwargs": self.env_kwargs,
            "curriculum": json.loads(to_json(self.curriculum)),
            "settings": asdict(self.settings),
        }


def open_work(path: Path, *, exact: bool = True) -> tuple[Run, GymWork]:
    """The run in a directory, at its beginning; not `exact`: it goes on with new episodes."""
    run = runs.open_run(path)
    setup = _from_json(run)
    if not exact:
        setup = replace(setup, settings=replace(setup.settings, exact_resume=False))
    demos = [load(file) for file in run.demonstrations]
    return run, GymWork(setup.training(demos), [len(demo) for demo in demos])


def open_training(path: Path) -> tuple[Run, Training]:
    """The run in a directory, as it stood when it was saved last."""
    run, work = open_work(path)
    loaded = run.load()
    if loaded is not None:
        work.training.load_state(loaded.state)
    return run, work.training


def _from_json(run: Run) -> Setup:
    try:
        settings = dict(run.config["settings"])
        ppo = PPOConfig(**settings.pop("ppo"))
        setup = Setup(
            env=run.config["env"],
            env_kwargs=run.config["env_kwargs"],
            curriculum=from_json(json.dumps(run.config["curriculum"])),
            settings=TrainConfig(ppo=ppo, **settings),
        )
        if not isinstance(setup.env, str) or not isinstance(setup.env_kwargs, dict | None):
            raise TypeError("no environment")
    except (KeyError, TypeError, ValueError, BackplayError) as error:
        raise BackplayError(
            f"{run.path}/config.json is damaged",
            expected="the settings as backplay wrote them",
            got=f"{type(error).__name__}: {error}",
            do="Copy the run again from where it came.",
        ) from error
    return setup
