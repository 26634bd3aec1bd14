"""States that were recorded on an env built a little otherwise: what differs, and making them fit.

A state holds every attribute of an env, and so its settings: the chance to slip, a limit of steps.
Restoring must not change those. What they are is seen by comparing. The env is reset as the
recording was; an attribute that then differs, and that never changed over the recording, is a
setting. Comes in: an env, recorded states. Goes out: names that differ, or states with this env's
settings in them. Does not know: demonstrations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from backplay.data import trees
from backplay.data.streams import RandomStream
from backplay.data.trees import LEFT, Attributes, Tree
from backplay.errors import show
from backplay.restore.layers import (
    OVER_EPISODES,
    WATCHERS,
    capture,
    capture_attribute,
    layers,
    own_attributes,
)
from backplay.restore.likely import constants, unlikely
from backplay.restore.restorers import require_layers
from backplay.restore.rollout import AnyEnv

_LAYERS_AT = {
    "attributes": None, "own": 2, "atari": 1, "mujoco": 2, "mujoco-model": 2, "deepcopy": 1,
}  # fmt: skip
"""Where the layers stand in the states of each restorer; None: the state is nothing else."""
_CLOCK = "TimeLimit"
_ABSENT = object()
Path = tuple[int, *tuple[Any, ...]]


class Setting(NamedTuple):
    """One setting that differs."""

    path: Path
    """The layer from the outside in, the attribute, and the way inside it."""
    here: Tree
    """What this env has."""
    recorded: Tree
    """What the states have."""

    @property
    def name(self) -> str:
        """As one would write it: `slip`, `config.slip`."""
        return ".".join(map(str, self.path[1:]))


def fit_layers(env: AnyEnv, restorer: str, states: Sequence[Any]) -> Sequence[Any]:
    """The states for the wrappers of `env`, where they differ by Gymnasium's TimeLimit alone.

    A recording on a class and one on the same class by its id differ so. Where there was no limit,
    the steps that it counts are those of the recording. Any other difference is refused.
    """
    if restorer not in _LAYERS_AT:
        return states
    if restorer == "deepcopy":
        require_layers(env, [mark.name for mark in states[0][0]])
        return states
    found = {type(layer).__name__: layer for layer in layers(env)}
    names = [type(layer).__name__ for layer in layers(env)]
    names = names[:-1] if restorer == "own" else names
    recorded = [name for name, _ in _named(restorer, states[0]) if name not in WATCHERS]
    plain = [name for name in recorded if name != _CLOCK]
    if names == recorded:
        return states
    if [name for name in names if name != _CLOCK] != plain:
        require_layers(env, recorded, wrappers_only=restorer == "own")
    clock = capture(found[_CLOCK]) if _CLOCK in found else {}
    return [_with_clock(restorer, state, names, clock, t) for t, state in enumerate(states)]


def _with_clock(restorer: str, state: Any, names: list[str], clock: Tree, step: int) -> Any:
    """A state with the layers `names`, a TimeLimit among them or not."""
    held = iter([pair for pair in _named(restorer, state) if pair[0] not in {_CLOCK, *WATCHERS}])
    counted = {**clock, "_elapsed_steps": step}
    named = [[name, counted] if name == _CLOCK else next(held) for name in names]
    return _with_layers(restorer, state, named)


def unlikely_number(env: AnyEnv, restorer: str, states: Sequence[Any]) -> str | None:
    """A number in the states that an env like this cannot have, with its step; None if all can be.

    Looked at once, when states are fitted: restoring is to cost nothing more.
    """
    if restorer not in _LAYERS_AT or restorer == "deepcopy":
        return None
    found = list(layers(env))
    stack = [own_attributes(layer) for layer in found]
    fixed = [names & {*now} for names, now in zip(constants(found), stack, strict=True)]
    first = _attributes(restorer, states[0])
    for step, state in enumerate(states):
        parts = zip(_attributes(restorer, state), stack, fixed, first, strict=False)
        for values, now, names, before in parts:
            name = unlikely(values, now) or next(
                (x for x in names if values.get(x, _ABSENT) != before.get(x, _ABSENT)), None
            )
            if name is not None:
                return f"{name}={show(values.get(name))} at step {step}"
    return None


def other_constants(env: AnyEnv, restorer: str, states: Sequence[Any]) -> list[Setting]:
    """As `other_settings`, of what only a constructor sets: wherever `env` stands."""
    fixed = constants(list(layers(env)))
    differ = other_settings(env, restorer, states)
    return [one for one in differ if len(one.path) == 2 and one.path[1] in fixed[one.path[0]]]


def other_settings(env: AnyEnv, restorer: str, states: Sequence[Any]) -> list[Setting]:
    """The settings in which `env` differs from the states; it stands where they began."""
    if restorer not in _LAYERS_AT:
        return []
    inside = restorer != "deepcopy"  # what an object holds cannot be changed in a deep copy
    stack = [_plain(own_attributes(layer), inside) for layer in layers(env)]
    recorded = _attributes(restorer, states[0])
    if not inside:
        recorded = [_plain(values, inside) for values in recorded]
    if len(recorded) < len(stack):  # `own` has the wrappers alone
        stack = stack[: len(recorded)]
    found = [
        Setting((i, *path), here, then)
        for i, (now, before) in enumerate(zip(stack, recorded, strict=True))
        for path, here, then in _differences(now, before)
    ]
    return [
        setting
        for setting in found
        if all(_same(_at(restorer, state, setting.path), setting.recorded) for state in states)
    ]


def with_settings(restorer: str, states: Sequence[Any], settings: Sequence[Setting]) -> list[Any]:
    """The states with the settings of this env in the place of the recorded ones."""
    return [_patched(restorer, state, settings) for state in states]


def describe(settings: Sequence[Setting], *, here: bool) -> str:
    """Names and values in one line."""
    return ", ".join(
        f"{setting.name}={show(setting.here if here else setting.recorded, limit=60)}"
        for setting in settings[:8]
    ) + (f" and {len(settings) - 8} more" if len(settings) > 8 else "")


def _named(restorer: str, state: Any) -> list[Any]:
    """The layers in a state, each with the name of its class."""
    at = _LAYERS_AT[restorer]
    inside: list[Any] = state if at is None else state[at]
    return inside


def _with_layers(restorer: str, state: Any, named: list[Any]) -> Any:
    """A state with other layers in it."""
    at = _LAYERS_AT[restorer]
    return named if at is None else [*state[:at], named, *state[at + 1 :]]


def _attributes(restorer: str, state: Any) -> list[dict[str, Any]]:
    """The attributes of each layer in a state, as they stand there."""
    named = _named(restorer, state)
    if restorer == "deepcopy":
        return list(named)
    return [values for name, values in named if name not in WATCHERS]


def _plain(attributes: dict[str, Any], objects: bool) -> dict[str, Tree]:
    """What of a layer's attributes is plain data, as a capture has it; with objects, or without."""
    taken = {name: capture_attribute(value) for name, value in attributes.items()}
    return {
        name: value for name, value in taken.items() if objects or not isinstance(value, Attributes)
    }


def _differences(now: Tree, then: Tree, path: Path | tuple[()] = ()) -> Iterator[Any]:
    """Paths at which two trees of attributes differ, with both values."""
    if isinstance(now, Attributes) and isinstance(then, Attributes) and now.kind == then.kind:
        now, then = now.values, then.values
    if isinstance(now, dict) and isinstance(then, dict) and (not path or now.keys() == then.keys()):
        for key in now.keys() & then.keys():
            if key not in OVER_EPISODES:
                yield from _differences(now[key], then[key], (*path, key))
    elif path and not (_no_setting(now) or _no_setting(then)) and not _same(now, then):
        yield path, now, then


def _no_setting(value: Any) -> bool:
    """Whether a value is a random stream, or no data at all."""
    return isinstance(value, RandomStream | type(LEFT))


def _same(a: Any, b: Any) -> bool:
    return b is not _ABSENT and a is not _ABSENT and trees.first_difference(a, b) is None


def _at(restorer: str, state: Any, path: Path) -> Any:
    """What stands in a state at `path`."""
    value: Any = _attributes(restorer, state)[path[0]]
    for key in path[1:]:
        value = value.values if isinstance(value, Attributes) else value
        value = value.get(key, _ABSENT) if isinstance(value, dict) else _ABSENT
    return value


def _patched(restorer: str, state: Any, settings: Sequence[Setting]) -> Any:
    """A copy of a state with other settings; what does not change is shared."""
    values = _attributes(restorer, state)
    for setting in settings:
        layer, *keys = setting.path
        values[layer] = _put(values[layer], keys, setting.here)
    if restorer == "deepcopy":
        return [state[0], values]
    names = [name for name, _ in _named(restorer, state) if name not in WATCHERS]
    return _with_layers(restorer, state, [list(x) for x in zip(names, values, strict=True)])


def _put(tree: Any, keys: list[Any], value: Tree) -> Any:
    """A copy of `tree` with `value` at the end of `keys`."""
    if not keys:
        return value
    if isinstance(tree, Attributes):
        return Attributes(tree.kind, _put(tree.values, keys, value))
    return {**tree, keys[0]: _put(tree[keys[0]], keys[1:], value)}
