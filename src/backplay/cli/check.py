"""`backplay check`: do demonstrations hold on an environment?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from backplay.cli.options import OnRecorded, say_doubts
from backplay.demos import load
from backplay.demos.check import check as check_demonstration
from backplay.demos.files import demonstration_files
from backplay.train.environments import kwargs_for, make_env
from backplay.train.own_envs import on_my_word


@dataclass(frozen=True, kw_only=True)
class CheckConfig(OnRecorded):
    """Restores every state of a demonstration, replays the rest and compares it to the bit.

        backplay check MountainCar-v0 car.npz
        backplay check FrozenLake-v1 lake.npz --env-kwargs '{"is_slippery": false}'
        backplay check MiniGrid-DoorKey-8x8-v0 demos/

    The exit code is 0 if all is exact, 1 if something is not, 2 if it cannot be checked.
    """

    demos: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DEMO...")]
    """Files of demonstrations, and folders of such files."""
    max_steps: int = 200_000
    """Steps to replay at most, for each."""


def check(config: CheckConfig) -> int:
    """Prints the reports; 0 if every demonstration is exact, else 1."""
    on_my_word(config.env)
    files = demonstration_files(config.demos)
    exact = []
    for file in files:
        if len(files) > 1:
            print(f"{file}:")
        exact.append(_is_exact(config, file))
    return 0 if all(exact) else 1


def _is_exact(config: CheckConfig, file: Path) -> bool:
    """Prints the report of one."""
    demo = load(file)
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
    return report.exact
