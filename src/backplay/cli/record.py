"""`backplay record`: a demonstration from actions, a policy file or a saved model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backplay.cli.options import NewDemo, require_new_file, say_doubts, without_warnings
from backplay.demos import Demonstration
from backplay.demos.check import check
from backplay.demos.record import record as record_episode
from backplay.errors import BackplayError, ensure
from backplay.restore.rollout import AnyEnv, Policy
from backplay.train.environments import make_env, parse_env_kwargs
from backplay.train.own_envs import on_my_word
from backplay.train.policies import actions_from_text, policy_from_file, policy_from_model


@dataclass(frozen=True, kw_only=True)
class RecordConfig(NewDemo):
    """Records a demonstration: one episode with a state to return to at every step.

    For example, from a list of actions, from a function `policy(observation)` in a file of yours,
    and from a model that Stable-Baselines3 saved:

        backplay record FrozenLake-v1 --out lake.npz --actions 2,2,1,1,1,2 \\
            --env-kwargs '{"is_slippery": false}'
        backplay record MountainCar-v0 --out car.npz --policy swing.py --seed 7
        backplay record CartPole-v1 --out pole.npz --model ppo.zip --algorithm PPO

    Environments of MiniGrid, ALE and highway-env are found by their ids, others as `module:Name-v0`
    with the module that registers them. Load models only from people you trust: files of
    Stable-Baselines3 can run code.
    """

    actions: str | None = None
    """Actions to take, such as 0,1,2 or a JSON list."""
    actions_file: Path | None = None
    """A file of such actions."""
    policy: str | None = None
    """FILE.py or FILE.py:function, a function from an observation to an action."""
    model: Path | None = None
    """A model saved by Stable-Baselines3."""
    algorithm: str = "PPO"
    """The model's algorithm: PPO, A2C, DQN, SAC, TD3 or DDPG."""
    stochastic: bool = False
    """Sample the model's actions instead of taking the likeliest."""
    max_steps: int = 100_000
    """Stop here if the episode does not end before."""
    restorer: str | None = None
    """How states are saved, by name; by default the fastest way that proves exact."""


def record(config: RecordConfig) -> None:
    """Records, checks and writes a demonstration."""
    require_new_file(config.out, overwrite=config.overwrite)
    env = make_env(on_my_word(config.env), parse_env_kwargs(config.env_kwargs))
    try:
        player = _player(config, env)
        with without_warnings():  # the report says the same
            demo = record_episode(
                env, player, seed=config.seed, max_steps=config.max_steps, success=config.success,
                restorer=config.restorer,
            )  # fmt: skip
        if isinstance(player, list) and len(demo) < len(player):
            print(f"the episode ended after {len(demo)} of {len(player)} actions")
        save_and_report(env, demo, config)
    finally:
        env.close()


def save_and_report(env: AnyEnv, demo: Demonstration, config: NewDemo) -> None:
    """Checks `demo`, writes it to its file and says what it is."""
    out, success = config.out, config.success
    report = check(env, demo, success=success)
    if demo.env_id is None:  # a class of one's own does not tell how it was made
        demo = replace(demo, env_kwargs=parse_env_kwargs(config.env_kwargs))
    demo.save(out)
    ending = "terminated" if demo.terminated else "truncated" if demo.truncations[-1] else "cut off"
    name = demo.env_id or type(env.unwrapped).__name__
    print(f"{out}: {len(demo)} steps of {name}, seed {demo.seed}, {ending}")
    print(f"return {demo.rewards.sum():g}, last reward {demo.rewards[-1]:g}")
    print(f"restorer {demo.restorer.name}")
    print(report)
    say_doubts(env, demo, success)


def _player(config: RecordConfig, env: AnyEnv) -> Policy | Iterable[Any]:
    sources = ("actions", "actions_file", "policy", "model")
    given = [f"--{name.replace('_', '-')}" for name in sources if getattr(config, name) is not None]
    ensure(
        len(given) == 1, "record", "one of --actions, --actions-file, --policy and --model",
        got=" and ".join(given) or "none of them", do="Or play it yourself: backplay play.",
    )  # fmt: skip
    if config.actions is not None:
        return actions_from_text(config.actions, env, "--actions")
    if config.actions_file is not None:
        text = read_text(config.actions_file)
        return actions_from_text(text, env, str(config.actions_file))
    if config.policy is not None:
        return policy_from_file(config.policy)
    assert config.model is not None
    return policy_from_model(config.model, config.algorithm, env, stochastic=config.stochastic)


def read_text(path: Path) -> str:
    """The text of a file of the user's."""
    try:
        return path.read_text()
    except UnicodeDecodeError as error:
        raise BackplayError(f"{path} is no text file", expected="actions as text") from error
