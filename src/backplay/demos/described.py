"""An env in words and plain data, as a demonstration keeps it.

Comes in: an env. Goes out: its id, arguments, spaces and the versions of its packages.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from backplay.data import packing, trees
from backplay.data.versions import versions_of
from backplay.restore.rollout import AnyEnv


def describe_env(env: AnyEnv) -> dict[str, Any]:
    """The env's id, arguments, spaces and package versions."""
    spec = env.spec
    kwargs = {}
    for name, value in (spec.kwargs if spec else {}).items():
        try:
            packing.pack(value)
            kwargs[name] = trees.copy(value)
        except (TypeError, ValueError, RecursionError):
            kwargs[name] = _words(value)
    packages = ["backplay", "gymnasium", "numpy", type(env.unwrapped).__module__.partition(".")[0]]
    return {
        "env_id": spec.id if spec else None,
        "env_kwargs": kwargs,
        "spaces": {
            "observation": _words(env.observation_space),
            "action": _words(env.action_space),
        },
        "versions": versions_of(packages),
    }


def settings_in_words(kwargs: dict[str, Any]) -> str:
    """The arguments an env was made with, in words, but for how it is rendered."""
    chosen = sorted((k, v) for k, v in kwargs.items() if k != "render_mode")
    return ", ".join(f"{name}={_words(value)}" for name, value in chosen) or "default arguments"


def _words(value: Any) -> str:
    """`repr` without memory addresses, which differ from process to process."""
    with np.printoptions(precision=17, threshold=1000, linewidth=100):  # not as the user prints
        return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))[:2000]
