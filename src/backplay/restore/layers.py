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
import random
import time
import types
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec

from backplay.data import trees
from backplay.data.streams import RandomStream, read_stream, set_stream
from backplay.data.trees import LEFT, Attributes, Tree
from backplay.errors import BackplayError
from backplay.restore.likely import CLOCKS
from backplay.restore.rollout import AnyEnv

_SKIPPED_NAMES = frozenset((
    "spec", "_cached_spec", "metadata", "_metadata", "_saved_kwargs", "_ezpickle_args",
    "_ezpickle_kwargs", "render_mode", "_np_random_seed",
    "tmp_xml_file_path",  # of Gymnasium-Robotics: a file that this env wrote and will remove
    "_max_episode_steps",  # of TimeLimit: the limit is this env's own, the count the state's
))  # fmt: skip
# Wrappers that only watch or count have no bearing on what the env answers: they may come and go.
WATCHERS = frozenset((
    "PassiveEnvChecker", "OrderEnforcing", "RecordVideo", "RenderCollection", "HumanRendering",
    "RecordEpisodeStatistics",
    "Monitor",  # of Stable-Baselines3
))  # fmt: skip
# What these wrappers learn over many episodes is kept when training restores a state.
_SPANS_EPISODES = {"NormalizeObservation": ("obs_rms",), "NormalizeReward": ("return_rms",)}
OVER_EPISODES = frozenset(name for names in _SPANS_EPISODES.values() for name in names)
"""Attributes of wrappers that differ from episode to episode, and are no settings of an env."""
_STATIC_TYPES = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type,
    functools.partial, property, gym.Space, EnvSpec, gym.Env, logging.Logger, io.IOBase, np.dtype,
)  # fmt: skip
_STATIC_MODULES = (
    "pygame", "mujoco", "glfw", "OpenGL", "PIL", "matplotlib", "ale_py", "cv2",
)  # fmt: skip
_RENDERING = "gymnasium.envs.mujoco.mujoco_rendering"
_MORE_THAN_ATTRIBUTES = (enum.Enum, dict, list, tuple, set, deque, str, int, float, np.ndarray)
_NO_STREAMS = (*trees.ATOMS, np.ndarray, np.generic)
_LARGE = 8  # a container of more entries may be an unchanging table, and holds no streams


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
    """The wrappers that may hold state, from the outside in, then the base env."""
    while isinstance(env, gym.Wrapper):
        if not isinstance(env, History) and type(env).__name__ not in WATCHERS:
            yield env
        env = env.env
    yield env


def is_static(value: Any) -> bool:
    """Whether `value` is part of how an env is built rather than of the state it is in."""
    module = type(value).__module__
    known = module == _RENDERING or module.partition(".")[0] in _STATIC_MODULES
    return known or isinstance(value, _STATIC_TYPES)


def begin_watching(env: AnyEnv) -> None:
    """Tells wrappers that only watch that an episode begins here: it may be stepped, counts are 0.

    Without it they would go on with an episode that is over.
    """
    while isinstance(env, gym.Wrapper):
        name, held = type(env).__name__, vars(env)
        if name == "OrderEnforcing":
            held["_has_reset"] = True
        elif name == "RecordEpisodeStatistics":
            held.update(
                episode_returns=0.0, episode_lengths=0, episode_start_time=time.perf_counter()
            )
        elif name == "Monitor":
            held.update(rewards=[], needs_reset=False)
        env = env.env


def own_attributes(layer: AnyEnv) -> dict[str, Any]:
    """The attributes of one layer that may hold state: all but the env inside and fixed parts."""
    inside = "env" if isinstance(layer, gym.Wrapper) else None  # a base env may call anything so
    return {
        name: value
        for name, value in vars(layer).items()
        if name != inside and name not in _SKIPPED_NAMES and not is_static(value)
    }


def capture_wrappers(env: AnyEnv) -> list[dict[str, Tree] | None]:
    """The state of each wrapper, from the outside in; None for one whose state is no data."""
    return [_captured(layer) for layer in layers(env) if isinstance(layer, gym.Wrapper)]


def put_back_wrappers(env: AnyEnv, saved: Sequence[dict[str, Tree] | None]) -> None:
    """Writes what `capture_wrappers` read into the wrappers of an env made alike."""
    wrappers = [layer for layer in layers(env) if isinstance(layer, gym.Wrapper)]
    for layer, state in zip(wrappers, saved, strict=True):
        if state is not None:
            put_back(layer, state)


def _captured(layer: AnyEnv) -> dict[str, Tree] | None:
    try:
        return capture(layer)
    except TypeError:
        return None


def spanning(layer: AnyEnv) -> tuple[str, ...]:
    """Names of the attributes that span episodes, see `_SPANS_EPISODES`."""
    return _SPANS_EPISODES.get(type(layer).__name__, ())


def capture(layer: AnyEnv, previous: dict[str, Tree] | None = None) -> dict[str, Tree]:
    """The state of one layer as plain data. Raises TypeError where it holds state that is no data.

    `previous` is an earlier capture of the same layer: large tables that have not changed since are
    shared with it instead of copied.
    """
    taken = {}
    seen: set[int] = set()
    for name, value in own_attributes(layer).items():
        if previous is not None and isinstance(value, dict | list) and len(value) > _LARGE:
            before = previous.get(name)
            if _unchanged(value, before):
                taken[name] = before
                continue
        taken[name] = _capture(value, 3, seen)
    return taken


def capture_attribute(value: Any) -> Tree:
    """One attribute as `capture` takes it; LEFT where it is no data."""
    try:
        return _capture(value, 3, set())
    except TypeError:
        return LEFT


def _unchanged(value: Any, before: Tree) -> bool:
    try:
        return type(value) is type(before) and bool(value == before)
    except ValueError:  # arrays inside: not comparable by ==
        return False


def _capture(value: Any, depth: int, seen: set[int]) -> Tree:
    kind = type(value)
    if kind in trees.ATOMS or isinstance(value, np.generic):
        return value
    if kind is np.ndarray and value.dtype.kind != "O":
        return value.copy()
    if is_static(value):
        return LEFT
    stream = read_stream(value)
    if stream is not None:
        return stream
    if kind in (list, tuple, deque, set):
        items = [_capture(item, -1, seen) for item in value]
        if kind is set and any(map(_is_left, items)):
            raise TypeError("state that is no plain data: a set of functions or spaces")
        return deque(items, value.maxlen) if kind is deque else kind(items)
    if kind is dict:
        keys = [_capture(key, -1, seen) for key in value]
        if any(map(_is_left, keys)):
            raise TypeError("state that is no plain data: a dict by functions or spaces")
        items = [_capture(item, -1, seen) for item in value.values()]
        return dict(zip(keys, items, strict=True))
    # An object held directly by a layer keeps its place, so its data can be written back into it.
    # One inside a list may come and go, one held in two places may stand in one of them later, and
    # a container's subclass holds more than its attributes: those need a deep copy.
    if depth > 0 and hasattr(value, "__dict__") and not isinstance(value, _MORE_THAN_ATTRIBUTES):
        if id(value) in seen:
            raise TypeError(f"one object held in two places: {kind.__module__}.{kind.__qualname__}")
        seen.add(id(value))
        inside = {name: _capture(item, depth - 1, seen) for name, item in vars(value).items()}
        return Attributes(kind.__qualname__, inside)
    raise TypeError(f"state that is no plain data: {kind.__module__}.{kind.__qualname__}")


def put_back(layer: AnyEnv, saved: dict[str, Tree], keep: tuple[str, ...] = ()) -> None:
    """Writes a capture into a layer of the same kind, all but the attributes named in `keep`."""
    held = own_attributes(layer)
    for name in held.keys() - saved.keys():
        delattr(layer, name)
    for name, value in saved.items():
        # A file can name anything: none of it may stand in for a method or for the env inside.
        hides = name in _SKIPPED_NAMES or callable(getattr(type(layer), str(name), None))
        if type(name) is not str or hides:
            raise _misfit(type(layer).__name__, "names of attributes", str(name)[:40])
        if name not in keep:
            vars(layer)[name] = _placed(held.get(name), value, f"{type(layer).__name__}.{name}")


def _placed(current: Any, saved: Tree, where: str) -> Any:
    """What to put where `current` stands so that it is as `saved` says."""
    kind = type(saved)
    if kind in trees.ATOMS:
        return saved
    if kind is RandomStream:
        return set_stream(current, saved)
    if kind is Attributes:
        if type(current).__qualname__ != saved.kind:
            raise _misfit(where, f"an object of class {saved.kind}", type(current).__qualname__)
        values = _placed_items(vars(current), saved.values, where)
        vars(current).clear()
        vars(current).update(values)
        return current
    if kind in (dict, list) and len(saved) > _LARGE and _unchanged(current, saved):
        return current
    if not _holds_live(saved):
        return trees.copy(saved)
    if kind is dict:
        return _placed_items(current if isinstance(current, dict) else {}, saved, where)
    if type(current) is not kind or len(current) != len(saved):
        raise _misfit(where, f"a {kind.__name__} of {len(saved)}", type(current).__qualname__)
    items = [
        now if _is_left(item) else _placed(now, item, where)
        for now, item in zip(current, saved, strict=True)
    ]
    return deque(items, saved.maxlen) if kind is deque else kind(items)


def _placed_items(current: dict[Any, Any], saved: dict[Any, Tree], where: str) -> dict[Any, Any]:
    """The entries of `saved`; those that were no data are as they stand in `current`, if at all."""
    items = {}
    for key, value in saved.items():
        if not _is_left(value):
            items[key] = _placed(current.get(key), value, f"{where}.{key}")
        elif key in current:
            items[key] = current[key]
    return items


def _is_left(item: Tree) -> bool:
    return type(item) is type(LEFT)  # not by ==: it equals the empty tuple


def _misfit(where: str, expected: str, got: str) -> BackplayError:
    return BackplayError(
        f"{where} cannot be put back", expected=expected, got=got,
        do='Record the demonstration with restorer="deepcopy" or restorer="replay".',
    )  # fmt: skip


def _holds_live(tree: Tree) -> bool:
    """Whether something in `tree` must be put into what stands there now, not copied over it."""
    if isinstance(tree, type(LEFT) | RandomStream | Attributes):
        return True
    if isinstance(tree, dict):
        return any(_holds_live(item) for item in tree.values())
    return isinstance(tree, list | tuple | deque) and any(_holds_live(item) for item in tree)


def refresh(env: AnyEnv, rng: np.random.Generator) -> None:
    """What is new in an episode that starts in an old state: its random streams.

    Every stream that a layer of `env` holds, itself or in an object of its own, takes a new place
    drawn from `rng`.
    """
    seen: set[int] = set()
    for layer in layers(env):
        for stream in _streams(vars(layer), 4, seen):
            _move(stream, rng)


def _streams(value: Any, depth: int, seen: set[int]) -> Iterator[Any]:
    """The random streams in `value`, each once; not in large tables, not deeper than `depth`."""
    if isinstance(value, _NO_STREAMS) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.random.Generator | np.random.RandomState | random.Random):
        yield value
    elif isinstance(value, list | tuple | deque | dict):
        if len(value) <= _LARGE or depth == 4:
            for item in value.values() if isinstance(value, dict) else value:
                yield from _streams(item, depth - 1, seen)
    elif depth > 0 and hasattr(value, "__dict__") and not is_static(value):
        for item in vars(value).values():
            yield from _streams(item, depth - 1, seen)


def _move(stream: Any, rng: np.random.Generator) -> None:
    if isinstance(stream, np.random.Generator):
        kind = type(stream.bit_generator)
        stream.bit_generator.state = kind(int(rng.integers(2**63))).state
    else:
        stream.seed(int(rng.integers(2**32)))


def restart_clocks(env: AnyEnv) -> int:
    """Sets the step counters that end an episode back to zero; how many there were.

    Known are Gymnasium's `TimeLimit`, and layers that count `step_count` up to `max_steps` as
    MiniGrid's do.
    """
    found = 0
    for layer in layers(env):
        held = vars(layer)
        for counter, limit in CLOCKS:
            if counter in held and limit in held:
                held[counter] = 0
                found += 1
    return found


def step_limit(env: AnyEnv) -> int | None:
    """The fewest steps after which one of these clocks ends an episode; None if there is none."""
    held = [vars(layer) for layer in layers(env)]
    found = [one.get(limit) for one in held for counter, limit in CLOCKS if counter in one]
    return min((limit for limit in found if isinstance(limit, int)), default=None)
