"""An environment from its id, with a clear line where there is none.

Comes in: an id, and its arguments as JSON or from a demonstration. Goes out: the plain env, as
gymnasium.make builds it. Nothing of the user's own is imported here: see `own_envs`, where
`file.py:Class`, `module:Class` and `module:Name-v0` are made known.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym

from backplay.demos import Demonstration
from backplay.errors import BackplayError, ensure, show
from backplay.extras import how_to_install, require
from backplay.restore.rollout import AnyEnv
from backplay.train.own_code import own_module
from backplay.train.trust import asked_for, require_trust


class Package(NamedTuple):
    """A package that registers environments when it is imported."""

    name: str
    ids: str
    """A pattern of the ids it registers."""


PACKAGES = (
    Package("minigrid", r"(MiniGrid|BabyAI)-"),
    Package("ale_py", r"ALE/|\w+(NoFrameskip|Deterministic)-v"),
    Package(
        "highway_env",
        r"(highway|merge|roundabout|parking|intersection|racetrack|exit|u-turn|two-way|lane-keeping)"
        r"(-\w+)*-v\d",
    ),
)
# Extras for what Gymnasium's own environments need, by a part of their entry point.
_EXTRAS = {"box2d": "box2d", "mujoco": "mujoco"}


def make_env(env_id: str, kwargs: dict[str, Any] | None = None) -> AnyEnv:
    """The environment `env_id`, or a BackplayError that says what to write or to install."""
    said, env_id = env_id, registered(env_id)
    try:
        own = own_class(env_id)
        if own is not None:
            return _made_by(own, said, kwargs)
        return gym.make(env_id, **(kwargs or {}))
    except gym.error.DependencyNotInstalled as error:
        raise _missing_dependency(env_id, error) from error
    except (gym.error.Error, TypeError, ValueError, AssertionError, KeyError) as error:
        raise BackplayError(
            f"{said} cannot be made",
            expected="arguments that it takes",
            got=f"{show(kwargs or {})} ({type(error).__name__}: {str(error)[:200]})",
            do="Correct --env-kwargs.",
        ) from error
    except ImportError as error:
        raise _missing_dependency(env_id, error) from error


def _made_by(own: Any, said: str, kwargs: dict[str, Any] | None) -> AnyEnv:
    """What a class or a function of the user's own makes."""
    made = own(**(kwargs or {}))
    ensure(
        isinstance(made, gym.Env), f"{said} makes no environment", "a gymnasium.Env", made,
        do="Name a class, or a function that returns an environment.",
    )  # fmt: skip
    return made  # type: ignore[no-any-return]  # it was ensured


def kwargs_for(
    env_id: str, given: str | None, demo: Demonstration, *, trust: bool = False
) -> dict[str, Any]:
    """The arguments the user gave, or else those that `demo` was recorded with.

    Of these only plain settings, unless the user trusts the file.
    """
    if given is not None:
        return parse_env_kwargs(given)
    kwargs = _recorded(env_id, demo)
    require_trust(asked_for(kwargs), "This demonstration", trust=trust)
    return kwargs


def _recorded(env_id: str, demo: Demonstration) -> dict[str, Any]:
    name = registered(env_id)
    if own_class(name) is not None:
        # A class around an env with an id is recorded with that env's arguments, not with its own.
        own = demo.env_kwargs if demo.env_id is None else {}
        return {key: value for key, value in own.items() if key != "render_mode"}
    spec = gym.registry[name]
    if demo.env_id != spec.id:
        return {}  # that it is of another env is found, and said, when it is fitted
    return {
        key: value
        for key, value in demo.env_kwargs.items()
        if key != "render_mode" and (key not in spec.kwargs or _differs(spec.kwargs[key], value))
    }


def _differs(default: Any, recorded: Any) -> bool:
    """Whether a recorded argument is another than the default; objects were recorded as words."""
    as_words = isinstance(recorded, str) and not isinstance(default, str)
    return not as_words and bool(default != recorded)


def parse_env_kwargs(text: str) -> dict[str, Any]:
    """The arguments of an environment from JSON."""
    try:
        kwargs = json.loads(text)
    except (ValueError, RecursionError) as error:
        kwargs = f"{text} ({error})"
    if not isinstance(kwargs, dict):
        raise BackplayError(
            "--env-kwargs",
            expected="a JSON object",
            got=show(kwargs) if not isinstance(kwargs, str) else kwargs[:200],
            do="""Write it like this: --env-kwargs '{"is_slippery": false}'.""",
        )
    return kwargs


def registered(env_id: str) -> str:
    """The full id that `env_id` means, after the package that registers it was imported."""
    module, _, name = env_id.rpartition(":")
    if module and class_id(env_id) in gym.registry:
        return class_id(env_id)
    if module and (said := _said_otherwise(module, name)):
        return said
    if module and (name not in gym.registry or not _is_imported(module)):
        raise BackplayError(
            f"{env_id} is code of your own",
            expected="your word that it may run: it stands in a file, and files run nothing",
            do=f"Name it on the command line, too: --env {env_id}; with train, as its first word."
            " In Python: bp.load_agent(path, Class).",
        )
    if name not in gym.registry:
        _import_packages(name)
    found = name if name in gym.registry else _latest(name)
    if found:
        return found
    raise BackplayError(
        f"There is no environment {name!r}",
        do=did_you_mean(name)
        or "See gymnasium.pprint_registry(), or write module:Name-v0, module:Class or"
        " file.py:Class.",
    )


def _said_otherwise(where: str, name: str) -> str | None:
    """The id of the class that the user named by another path to a file of this name, if any."""
    found = [
        key
        for key, spec in gym.registry.items()
        if key.startswith("own:")
        and getattr(spec.entry_point, "__name__", None) == name
        and Path(_file_of(spec.entry_point)).name == Path(where).name
    ]
    return found[0] if len(found) == 1 else None


def _file_of(made: Any) -> str:
    return getattr(sys.modules.get(made.__module__), "__file__", None) or ""


def _is_imported(module: str) -> bool:
    """Whether what stands before the colon of an id runs already, on somebody else's word."""
    return module in sys.modules or own_module(Path(module)) in sys.modules


def class_id(text: str) -> str:
    """The id under which a class of the user's own is known to Gymnasium in this process."""
    return "own:" + re.sub(r"[^\w.:-]", "-", text)


def own_class(env_id: str) -> Any:
    """The class, or the function, behind such an id; None for any other id."""
    spec = gym.registry.get(env_id)
    return spec.entry_point if spec is not None and env_id.startswith("own:") else None


def _import_packages(name: str) -> None:
    """Imports the package that registers `name`; where no pattern fits, all that are installed."""
    named = [package for package in PACKAGES if re.match(package.ids, name)]
    for package in named:
        require(package.name)
    for package in named or PACKAGES:
        _import_if_installed(package)


def _import_if_installed(package: Package) -> None:
    if find_spec(package.name) is not None:
        module = importlib.import_module(package.name)
        if package.name == "ale_py":  # it greets on standard error
            module.ALEInterface.setLoggerMode(module.LoggerMode.Warning)


def _latest(name: str) -> str | None:
    """The id with the highest version of `name`, where it comes without one."""
    versions = [
        spec
        for spec in gym.registry.values()
        if spec.version is not None and spec.id == f"{name}-v{spec.version}"
    ]
    return max(versions, key=lambda spec: spec.version or 0).id if versions else None


def did_you_mean(name: str) -> str | None:
    """The ids that are near to `name`, as a question; None if there are none."""
    for package in PACKAGES:  # a slip of the pen may hide whose environment was meant
        _import_if_installed(package)
    ids = {env_id.lower(): env_id for env_id in gym.registry}
    asked = name.lower()
    same = [env_id for key, env_id in ids.items() if _stem(key) == _stem(asked)]
    close = same[-1:] or [ids[key] for key in get_close_matches(asked, ids, n=3, cutoff=0.7)]
    return f"Did you mean {' or '.join(close)}?" if close else None


def _stem(env_id: str) -> str:
    return re.sub(r"-v\d+$", "", env_id)


def _missing_dependency(env_id: str, error: Exception) -> BackplayError:
    spec = gym.registry.get(env_id)
    entry_point = str(spec.entry_point).lower() if spec else ""
    extra = next((extra for part, extra in _EXTRAS.items() if part in entry_point), None)
    return BackplayError(
        f"{env_id} needs a package that is not installed",
        got=str(error)[:200],
        do=how_to_install(extra) if extra else None,
    )
