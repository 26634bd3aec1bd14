"""The layers of an environment (its wrappers, then the base env) and the state they hold.

What a layer holds between two steps lives in its attributes: elapsed steps, stacked frames, random
streams. `capture` reads them as plain data and `put_back` writes them; what is no data (functions,
spaces, windows) is left as it is. Knows nothing of emulators and physics engines.
"""

from __future__ import annotations

import enum
import functools
import io
import logging
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec

from backplay import trees
from backplay.errors import BackplayError
from backplay.rollout import AnyEnv
from backplay.trees import LEFT, Attributes, Tree

_SKIPPED_NAMES = frozenset(
    "env spec _cached_spec metadata _metadata _saved_kwargs _ezpickle_args _ezpickle_kwargs "
    "render_mode _np_random_seed".split()
)
# Wrappers that only watch: what they hold has no bearing on what the env answers.
_WATCHERS = frozenset(("PassiveEnvChecker", "RecordVideo", "RenderCollection", "HumanRendering"))
# What these wrappers learn over many episodes is kept, not thrown back, when training restores a state.
_SPANS_EPISODES = {
    "NormalizeObservation": ("obs_rms",),
    "NormalizeReward": ("return_rms",),
    "RecordEpisodeStatistics": (
        "episode_count", "episode_start_time", "return_queue", "length_queue", "time_queue",
    ),
}  # fmt: skip
_STATIC_TYPES = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type,
    functools.partial, property, gym.Space, EnvSpec, gym.Env, logging.Logger, io.IOBase, np.dtype,
)  # fmt: skip
_STATIC_MODULES = (
    "pygame", "mujoco", "glfw", "OpenGL", "PIL", "matplotlib", "ale_py", "cv2",
    "gymnasium.envs.mujoco.mujoco_rendering",
)  # fmt: skip
_MORE_THAN_ATTRIBUTES = (enum.Enum, dict, list, tuple, set, deque, str, int, float, np.ndarray)
_LARGE = 64


class History(gym.Wrapper[Any, Any, Any, Any]):
    """Remembers the seed, the options and the actions since the last reset. Not a layer itself."""

    def __init__(self, env: AnyEnv) -> None:
        super().__init__(env)
        self.seed: int | None = None
        self.options: dict[str, Any] | None = None
        self.actions: list[Any] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self.seed, self.options, self.actions = seed, options, []
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.actions.append(trees.copy(action))
        return super().step(action)


def layers(env: AnyEnv) -> Iterator[AnyEnv]:
    """The wrappers from the outside in, then the base env."""
    while isinstance(env, gym.Wrapper):
        if not isinstance(env, History):
            yield env
        env = env.env
    yield env


def is_static(value: Any) -> bool:
    """Whether `value` is part of how an env is built rather than of the state it is in."""
    return isinstance(value, _STATIC_TYPES) or type(value).__module__.startswith(_STATIC_MODULES)


def own_attributes(layer: AnyEnv) -> dict[str, Any]:
    """The attributes of one layer that may hold state: all but the env inside and the fixed parts."""
    if type(layer).__name__ in _WATCHERS:
        return {}
    return {
        name: value
        for name, value in vars(layer).items()
        if name not in _SKIPPED_NAMES and not is_static(value)
    }


def spanning(layer: AnyEnv) -> tuple[str, ...]:
    """Names of the attributes that span episodes, see `_SPANS_EPISODES`."""
    return _SPANS_EPISODES.get(type(layer).__name__, ())


def capture(layer: AnyEnv, previous: dict[str, Tree] | None = None) -> dict[str, Tree]:
    """The state of one layer as plain data. Raises TypeError where it holds state that is no data.

    `previous` is an earlier capture of the same layer: large tables that have not changed since are
    shared with it instead of copied.
    """
    taken = {}
    for name, value in own_attributes(layer).items():
        if previous is not None and isinstance(value, dict | list) and len(value) > _LARGE:
            before = previous.get(name)
            if _unchanged(value, before):
                taken[name] = before
                continue
        taken[name] = _capture(value)
    return taken


def _unchanged(value: Any, before: Tree) -> bool:
    try:
        return bool(type(before) is dict or type(before) is list) and bool(value == before)
    except ValueError:  # arrays inside: not comparable by ==
        return False


def _capture(value: Any, depth: int = 3) -> Tree:
    kind = type(value)
    if kind in trees.ATOMS or isinstance(value, np.generic):
        return value
    if kind is np.ndarray and value.dtype.kind != "O":
        return value.copy()
    if is_static(value):
        return LEFT
    stream = trees.read_stream(value)
    if stream is not None:
        return stream
    if kind in (list, tuple, deque, set):
        items = [_capture(item, -1) for item in value]
        return deque(items, value.maxlen) if kind is deque else kind(items)
    if kind is dict:
        return {_capture(key, -1): _capture(item, -1) for key, item in value.items()}
    # An object held directly by a layer keeps its place, so its data can be written back into it.
    # One inside a list may come and go, and a container's subclass holds more than its attributes:
    # those need a deep copy.
    if depth > 0 and hasattr(value, "__dict__") and not isinstance(value, _MORE_THAN_ATTRIBUTES):
        inside = {name: _capture(item, depth - 1) for name, item in vars(value).items()}
        return Attributes(kind.__qualname__, inside)
    raise TypeError(f"state that is no plain data: {kind.__module__}.{kind.__qualname__}")


def put_back(layer: AnyEnv, saved: dict[str, Tree], keep: tuple[str, ...] = ()) -> None:
    """Writes a capture into a layer of the same kind, all but the attributes named in `keep`."""
    held = own_attributes(layer)
    for name in held.keys() - saved.keys():
        delattr(layer, name)
    for name, value in saved.items():
        if name not in keep:
            vars(layer)[name] = _placed(held.get(name), value, f"{type(layer).__name__}.{name}")


def _placed(current: Any, saved: Tree, where: str) -> Any:
    kind = type(saved)
    if kind in trees.ATOMS:
        return saved
    if kind is trees.RandomStream:
        return trees.set_stream(current, saved)
    if saved is LEFT or (kind is type(LEFT)):
        return current
    if kind is Attributes:
        if type(current).__qualname__ != saved.kind:
            raise BackplayError(
                f"{where} cannot be put back",
                expected=f"an object of class {saved.kind}",
                got=type(current).__qualname__,
                do="Record the demonstration with restorer=bp.DeepCopy() or bp.Replay().",
            )
        for name, value in saved.values.items():
            vars(current)[name] = _placed(vars(current).get(name), value, f"{where}.{name}")
        return current
    if kind in (dict, list) and len(saved) > _LARGE and _unchanged(current, saved):
        return current
    if kind is dict:
        inner = current if isinstance(current, dict) else {}
        return {k: _placed(inner.get(k), v, where) for k, v in saved.items()}
    if kind in (list, tuple) and any(_holds_live(item) for item in saved):
        same = isinstance(current, kind) and len(current) == len(saved)
        live = current if same else [None] * len(saved)
        return kind(_placed(c, s, where) for c, s in zip(live, saved, strict=True))
    return trees.copy(saved)


def _holds_live(item: Tree) -> bool:
    return isinstance(item, type(LEFT) | trees.RandomStream)


def reseed(env: AnyEnv, rng: np.random.Generator) -> None:
    """Gives every numpy stream that a layer of `env` holds a new place, drawn from `rng`."""
    for layer in layers(env):
        for value in vars(layer).values():
            if isinstance(value, np.random.Generator):
                kind = type(value.bit_generator)
                value.bit_generator.state = kind(int(rng.integers(2**63))).state


def restart_clocks(env: AnyEnv) -> int:
    """Sets the step counters that end an episode back to zero; how many there were.

    Known are Gymnasium's `TimeLimit`, and layers that count `step_count` up to `max_steps` as
    MiniGrid's do.
    """
    found = 0
    for layer in layers(env):
        held = vars(layer)
        for counter, limit in (("_elapsed_steps", "_max_episode_steps"), ("step_count", "max_steps")):
            if counter in held and limit in held:
                held[counter] = 0
                found += 1
    return found
