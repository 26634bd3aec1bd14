"""What plays the episode that `backplay record` records: given actions, a function, or a model.

Comes in: what the user wrote on the command line and the env. Goes out: actions, or a function from
an observation to an action.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from backplay.errors import BackplayError, ensure, refusing, show
from backplay.extras import require
from backplay.restore.rollout import AnyEnv, Policy
from backplay.train.own_code import broken, import_file


def actions_from_text(text: str, env: AnyEnv, where: str) -> list[Any]:
    """The actions in `text`: whole numbers apart by commas or spaces, or a JSON list."""
    words = text.replace(",", " ").split()
    try:
        values = json.loads(text) if text.lstrip().startswith("[") else [int(x) for x in words]
        return [_as_action(value, env.action_space) for value in values]
    except (ValueError, TypeError, RecursionError) as error:
        raise BackplayError(
            where,
            expected="actions such as 0,1,2, or a JSON list such as [[0.5, -1.0], [0.0, 1.0]]",
            got=f"{show(text.strip(), limit=60)} ({error})",
            do=f"The action space is {env.action_space}.",
        ) from error


def _as_action(value: Any, space: spaces.Space[Any]) -> Any:
    """`value` in the type that `space` takes; whether it is one of its actions is seen later."""
    if isinstance(space, spaces.Discrete):
        if type(value) is not int:
            raise ValueError(f"{show(value, limit=40)} is no whole number")
        return value
    return np.asarray(value, space.dtype) if space.dtype is not None else value


def policy_from_file(text: str) -> Policy:
    """The function that `FILE.py` or `FILE.py:function` names. This runs the file."""
    file, colon, name = text.rpartition(":")
    path, name = (Path(file), name) if colon and file else (Path(text), "policy")
    if not path.is_file():
        raise BackplayError(
            f"There is no file {path}", do="Write --policy FILE.py or --policy FILE.py:function."
        )
    function = getattr(import_file(path), name, None)
    if not callable(function):
        raise BackplayError(
            f"{path} has no function {name!r}",
            expected="a function from an observation to an action",
            do=f"Define `def {name}(observation):`, or name another: --policy {path}:function.",
        )

    def policy(observation: Any) -> Any:
        try:
            return function(observation)
        except Exception as error:  # the user's code may do anything wrong
            raise broken(path, error) from error

    return policy


def policy_from_model(path: Path, algorithm: str, env: AnyEnv, *, stochastic: bool) -> Policy:
    """The policy of a model that Stable-Baselines3 saved; refused if its spaces are others."""
    require("stable_baselines3")
    import stable_baselines3
    from stable_baselines3.common.base_class import BaseAlgorithm

    kinds = {
        name: kind
        for name, kind in vars(stable_baselines3).items()
        if isinstance(kind, type) and issubclass(kind, BaseAlgorithm)
    }
    if algorithm.upper() not in kinds:
        raise BackplayError(
            "--algorithm", expected=f"one of {', '.join(sorted(kinds))}", got=repr(algorithm)
        )
    ensure(path.is_file(), f"There is no file {path}", do="Name the zip that model.save wrote.")
    with refusing(
        f"{path} cannot be loaded", f"a model that {algorithm.upper()} saved",
        do="Check the file, and --algorithm.",
    ):  # fmt: skip
        model = kinds[algorithm.upper()].load(path, device="cpu")
    _require_same_spaces(path, model, env)
    return lambda observation: model.predict(observation, deterministic=not stochastic)[0]


def _require_same_spaces(path: Path, model: Any, env: AnyEnv) -> None:
    from stable_baselines3.common.preprocessing import is_image_space
    from stable_baselines3.common.vec_env import VecTransposeImage

    ours = env.observation_space
    if isinstance(ours, spaces.Box) and is_image_space(ours) and ours != model.observation_space:
        ours = VecTransposeImage.transpose_space(ours)  # as Stable-Baselines3 does by itself
    for what, theirs, here in (
        ("observation", model.observation_space, ours),
        ("action", model.action_space, env.action_space),
    ):
        ensure(
            theirs == here, f"{path} is a model of another {what} space", here, got=theirs,
            do="Use the environment it was trained on, with the same --env-kwargs.",
        )  # fmt: skip
