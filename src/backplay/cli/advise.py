"""`backplay advise`: will Backplay help on this task, and what to begin with?"""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import nullcontext
from dataclasses import dataclass

from backplay.advise import Advice, describe
from backplay.advise import advise as advise_on
from backplay.cli.options import OnDemo, require_at_least, say_doubts
from backplay.demos import load
from backplay.demos.success import describe_rule, success_rule
from backplay.restore.rollout import AnyEnv
from backplay.train.environments import kwargs_for, make_env
from backplay.train.own_envs import on_my_word
from backplay.train.policies import policy_from_file
from backplay.ui.display import counting


@dataclass(frozen=True, kw_only=True)
class AdviseConfig(OnDemo):
    """Says which of Standard, Uniform and Backplay to expect fastest, before any training.

        backplay advise MountainCar-v0 car.npz
        backplay advise MountainCar-v0 car.npz --policy swing.py --seconds 20
        backplay advise FrozenLake-v1 lake.npz --env-kwargs '{"is_slippery": false}' --json

    Plays short rollouts with random actions (or a policy of yours) from states along the
    demonstration and from the environment's own resets, fits a chain to their success and counts
    frames by the theory. Predictions are orders of magnitude. Nothing is trained.
    """

    policy: str | None = None
    """FILE.py or FILE.py:function, a function from an observation to an action."""
    rollouts: int = 100
    """Rollouts from each place, at most."""
    seconds: float = 50.0
    """When to be done, roughly."""
    seed: int = 0
    """Of the rollouts."""
    json: bool = False
    """Print everything as JSON instead."""


def advise(config: AdviseConfig) -> None:
    """Prints the advice."""
    require_at_least(config, rollouts=1, seconds=1, seed=0)
    demo = load(config.demo)
    on_my_word(config.env)
    kwargs = kwargs_for(config.env, config.env_kwargs, demo, trust=config.trust)
    policy = None if config.policy is None else policy_from_file(config.policy)

    def make() -> AnyEnv:
        return make_env(config.env, kwargs)

    with counting(None, "rollouts") if not config.json else nullcontext(_silent) as count:
        advice = advise_on(
            make, demo, policy=policy, success=config.success, settings=config.settings,
            seed=config.seed, rollouts=config.rollouts, seconds=config.seconds, progress=count,
        )  # fmt: skip
    env = make()
    print(f"success: {describe_rule(success_rule(config.success, [demo]))}", file=sys.stderr)
    say_doubts(env, demo, config.success)
    env.close()
    if config.json:
        print(json.dumps({**advice.as_json(), "command": _command(config, advice)}, indent=1))
        return
    print(describe(advice))
    print("\nto begin with, in Python and on the command line:")
    print(f"  {advice.line}")
    print(f"  {_command(config, advice)}")


def _silent(done: int, words: str) -> None:
    """No progress between the braces of JSON."""


def _command(config: AdviseConfig, advice: Advice) -> str:
    """What to type to train as advised."""
    parts = ["backplay", "train", config.env, str(config.demo), "--frames", str(advice.budget)]
    if advice.fastest != "Backplay":
        parts += ["--curriculum", advice.fastest.lower()]
    if config.success is not None:
        parts += ["--success", config.success]
    if config.settings != "recorded":
        parts += ["--settings", config.settings]
    if config.env_kwargs is not None:
        parts += ["--env-kwargs", config.env_kwargs]
    return shlex.join(parts)
