"""The agent of a run directory.

    agent = bp.load_agent("runs/doorkey")
    action, _ = agent.predict(observation, deterministic=True)

Comes in: a run directory. Goes out: an agent as it stood at the last checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from backplay import runs
from backplay.errors import BackplayError
from backplay.runs.execute import asked, opened
from backplay.train import Training
from backplay.train.agent import Agent
from backplay.train.env_job import EnvJob
from backplay.train.own_envs import made_known


def load_agent(
    path: str | Path, make_env: Callable[..., Any] | None = None, *, trust: bool = False
) -> Agent:
    """The agent of the run in a directory, as it was saved last.

    Args:
        path: the directory.
        make_env: your class, where the run is of code of your own, `./grid.py:KeyDoor`: a directory
            alone never runs code.
        trust: let the directory name paths and code to its environment, see docs/trust.md.
    """
    if make_env is not None:
        _take_for_its_env(Path(path), make_env)
    _, work = opened(Path(path), trust=trust)
    try:
        training = work.training
        if not isinstance(training, Training):
            raise BackplayError(
                f"{path} was not trained by backplay's own learner",
                do="Load it with the trainer that made it.",
            )
        space = training.envs.single_observation_space
        return Agent(training.learner, space, training.succeeded, seed=training.config.seed)
    finally:
        work.close()


def _take_for_its_env(path: Path, make_env: Callable[..., Any]) -> None:
    job, _ = asked(runs.open_run(path))
    if not isinstance(job, EnvJob) or ":" not in job.env:
        raise BackplayError(
            "make_env", expected="nothing: this run is of no code of your own",
            got=job.setting, do="Leave it out.",
        )  # fmt: skip
    made_known(job.env, make_env)
