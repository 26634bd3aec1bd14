"""`backplay evaluate`: how good a trained agent is from the true start."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from backplay.cli.options import OnRun, require_at_least
from backplay.demos.success import describe_rule, success_rule
from backplay.errors import BackplayError
from backplay.runs.execute import trained
from backplay.train.env_job import EnvWork


@dataclass(frozen=True, kw_only=True)
class EvaluateConfig(OnRun):
    """Measures a trained agent from the environment's own resets. Never sees a curriculum.

        backplay evaluate runs/doorkey
        backplay evaluate runs/doorkey --greedy --episodes 1000
        backplay evaluate runs/doorkey --success 'return>=0.9'

    Prints the share of successes with its 95 % interval, and the mean return and length.
    """

    episodes: int = 100
    """How many episodes."""
    greedy: bool = False
    """Take the likeliest action instead of sampling."""
    success: str | None = None
    """Which endings count as success: info:KEY, return>=X or terminated; by default as the run was
    trained."""
    seed: int = 10_000
    """Of the first episode's reset; the next has the next."""


def evaluate(config: EvaluateConfig) -> None:
    """Prints the evaluation of a run's last checkpoint."""
    require_at_least(config, episodes=1, seed=0)
    with trained(config.dir, trust=config.trust) as (work, training):
        if config.success is not None:
            if not isinstance(work, EnvWork):
                raise BackplayError(f"{config.dir} has its own measure of success: leave --success")
            training.succeeded = success_rule(config.success)
        print(f"success: {describe_rule(training.succeeded)}", file=sys.stderr)
        how = "greedy" if config.greedy else "sampled"
        print(f"{config.dir}: {training.frames:,} of {training.total_frames:,} frames, {how}")
        print(training.evaluate(config.episodes, greedy=config.greedy, seed=config.seed))
