"""The agent of a run directory.

    agent = bp.load_agent("runs/doorkey")
    action, _ = agent.predict(observation, deterministic=True)

Comes in: a run directory. Goes out: an agent as it stood at the last checkpoint.
"""

from __future__ import annotations

from pathlib import Path

from backplay.errors import BackplayError
from backplay.runs.execute import opened
from backplay.train import Training
from backplay.train.agent import Agent


def load_agent(path: str | Path, *, trust: bool = False) -> Agent:
    """The agent of the run in a directory, as it was saved last.

    A directory that names paths or code to its environment is refused, unless you `trust` it.
    """
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
