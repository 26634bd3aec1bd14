"""Packages beyond numpy and gymnasium, and the extra that installs each.

Comes in: the name of a package that some code is about to import. Goes out: nothing, or one line
that says what to install. Does not know: what the package is for.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from backplay.errors import BackplayError

EXTRAS = {
    "torch": "train",
    "rich": "cli",
    "tyro": "cli",
    "PIL": "paper",
    "matplotlib": "paper",
    "networkx": "paper",
    "numba": "paper",
    "scipy": "paper",
    "stable_baselines3": "sb3",
    "minari": "minari",
    "ale_py": "atari",
    "mujoco": "mujoco",
    "imageio": "film",
    "pettingzoo": "pettingzoo",
    "ray": "ray",
    "tensorboard": "tensorboard",
    "starlette": "studio",
    "uvicorn": "studio",
    "websockets": "studio",
    "minigrid": "minigrid",
    "highway_env": "highway",
    "gymnasium_robotics": "robotics",
}
"""By the name that is imported, the extra of pyproject.toml that brings it."""


def require(*packages: str) -> None:
    """Says which extra to install if one of these packages is not there."""
    for package in packages:
        if find_spec(package) is None:
            raise BackplayError(f"{package} is not installed", do=how_to_install(EXTRAS[package]))


def missing(error: ModuleNotFoundError) -> BackplayError | None:
    """What to say of a failed import; None where it is no package of an extra."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    return BackplayError(f"{package} is not installed", do=how_to_install(EXTRAS[package]))


def how_to_install(extra: str) -> str:
    """The command that installs an extra."""
    return f'Install it: pip install "backplay[{extra}]".'


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for `package`: names that are imported from their homes when asked for.

    `homes` has the names of each module below `package`; of a package they may be modules, too.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{home[name]}")
        if not hasattr(module, name):
            importlib.import_module(f"{module.__name__}.{name}")
        found = vars(sys.modules[package])[name] = getattr(module, name)
        return found

    return get
