"""Which ways of restoring may fit an env, and files that claim one that does not.

Comes in: an env, a restorer. Goes out: nothing, or an error. Does not know: how states are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from backplay.errors import BackplayError
from backplay.restore.rollout import AnyEnv


class Claimed(Protocol):
    """A restorer that a file may have named."""

    @property
    def name(self) -> str: ...
    @property
    def claimed(self) -> bool: ...


def _has_own(env: AnyEnv) -> bool:
    base: Any = env.unwrapped
    return callable(getattr(base, "get_state", None)) and callable(getattr(base, "set_state", None))


def _has_physics(env: AnyEnv) -> bool:
    base: Any = env.unwrapped
    physics = type(getattr(base, "data", None)).__name__ == "MjData" and hasattr(base, "model")
    return physics and not _has_own(env)


FITS: dict[str, Callable[[AnyEnv], bool]] = {
    "own": _has_own,
    "atari": lambda env: (
        hasattr(getattr(env.unwrapped, "ale", None), "cloneState") and not _has_own(env)
    ),
    "fresh": lambda env: env.unwrapped.spec is not None or "_ezpickle_args" in vars(env.unwrapped),
    "mujoco": _has_physics,
    "mujoco-model": _has_physics,
    "attributes": lambda env: not _has_own(env),
}
"""Which envs a way may fit; those that are not listed fit any.

An env with a `set_state` of its own is never restored past it by plain data, since no file that
does so would be loaded again.
"""


def refuse_claim(restorer: Claimed, env: AnyEnv) -> None:
    """A file may name only what fits the env: its own `set_state` checks what it takes."""
    if not restorer.claimed or FITS[restorer.name](env):
        return
    if _has_own(env):
        raise BackplayError(
            "These states go around the env's own set_state",
            expected="states that get_state of this env returned",
            got=f"a file of {restorer.name} states",
            do='Record it again, with restorer="replay" if get_state is not exact; or pass a'
            f" restorer of your own choice: bp.load(path, restorer={type(restorer).__name__}()).",
        )
    raise BackplayError(
        f"{type(env.unwrapped).__name__} has no {restorer.name} states",
        do="Use the env that it was recorded on.",
    )
