"""`backplay check`: does a demonstration hold on an environment?"""

from __future__ import annotations

from dataclasses import dataclass

from backplay.cli.options import OnDemo, say_doubts
from backplay.demos import load
from backplay.demos.check import check as check_demonstration
from backplay.train.environments import kwargs_for, make_env
from backplay.train.own_envs import on_my_word


@dataclass(frozen=True, kw_only=True)
class CheckConfig(OnDemo):
    """Restores every state of a demonstration, replays the rest and compares it to the bit.

        backplay check MountainCar-v0 car.npz
        backplay check FrozenLake-v1 lake.npz --env-kwargs '{"is_slippery": false}'

    The exit code is 0 if it is exact, 1 if it is not, 2 if it cannot be checked.
    """

    max_steps: int = 200_000
    """Steps to replay at most."""


def check(config: CheckConfig) -> int:
    """Prints the report; 0 if the demonstration is exact, else 1."""
    demo = load(config.demo)
    on_my_word(config.env)
    env = make_env(config.env, kwargs_for(config.env, config.env_kwargs, demo, trust=config.trust))
    try:
        report = check_demonstration(
            env,
            demo,
            max_steps=config.max_steps,
            must_be_exact=False,
            settings=config.settings,
            success=config.success,
        )
        print(demo)
        print(report)
        say_doubts(env, demo, config.success)
    finally:
        env.close()
    return 0 if report.exact else 1
