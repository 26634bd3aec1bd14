"""Environments of the user's own, by class: `./grid.py:KeyDoor`, `package.module:KeyDoor`.

A function that makes one, with its wrappers, may stand in the class's place.

    env_id = on_my_word("./grid.py:KeyDoor")
    env = make_env(env_id)

This imports what the user names, so it is for words from their own command line, never for those
from a file: a run that names such an env needs the user's word again. Comes in: the words. Goes
out: the same words, known to Gymnasium from then on in this process.
"""

from __future__ import annotations

import importlib
import os
import sys
from difflib import get_close_matches
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from backplay.errors import BackplayError, ensure
from backplay.train.environments import class_id, did_you_mean
from backplay.train.own_code import import_file


def on_my_word(env_id: str) -> str:
    """`env_id`, after the module or the file that it names was imported, if it names one."""
    where, _, name = env_id.rpartition(":")
    if not where:
        if env_id.endswith(".py"):
            raise BackplayError(
                f"{env_id} names a file and no class", do=f"Write {env_id}:Class, as in its code."
            )
        return env_id
    module = _imported(env_id, where)
    if name in gym.registry:
        return env_id
    found: Any = getattr(module, name, None)
    if not (_is_class(found) or isinstance(found, FunctionType)):
        raise BackplayError(
            f"{where} has no environment {name!r}",
            expected="a class that is a gymnasium.Env, a function that makes one, or an id that"
            " the module registers",
            got=f"a {type(found).__name__}" if found is not None else None,
            do=_meant(name, module) if name.isidentifier() else did_you_mean(name),
        )
    made_known(env_id, found)
    return env_id


def made_known(env_id: str, make: Any) -> None:
    """Lets `env_id`, which names a class, mean what `make` makes in this process."""
    key = class_id(env_id)
    gym.registry[key] = EnvSpec(id=key, entry_point=make)


def _imported(env_id: str, where: str) -> ModuleType:
    if where.endswith(".py") or os.sep in where:
        ensure(Path(where).is_file(), f"There is no file {where}", do="Write file.py:Class.")
        return import_file(Path(where))
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(where)
    except ImportError as error:
        raise BackplayError(
            f"The module of {env_id} cannot be imported",
            got=error,
            do="Install it, or run backplay in the directory it is in.",
        ) from error
    finally:
        sys.path.remove(here)


def _is_class(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, gym.Env)


def _meant(name: str, module: ModuleType) -> str:
    envs = [key for key, value in vars(module).items() if _is_class(value) and value is not gym.Env]
    close = get_close_matches(name, envs, n=1, cutoff=0.5)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"It has {', '.join(sorted(envs)[:5])}." if envs else "It has no environments."
