"""Which keys, axes and buttons are which actions.

Comes in: an environment. Goes out: plain data that the page shows, changes and acts by; and an
action of the environment from what the page sent. Keys are named as browsers name them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium import spaces

from backplay.errors import BackplayError, show
from backplay.restore.rollout import AnyEnv
from backplay.ui import keys as names_of_keys

_BROWSER = {
    "left": "ArrowLeft", "right": "ArrowRight", "up": "ArrowUp", "down": "ArrowDown", "space": " ",
}  # fmt: skip
_LETTER_ARROWS = {"w": "ArrowUp", "a": "ArrowLeft", "s": "ArrowDown", "d": "ArrowRight"}
_IDLE = {"noop", "wait", "stop", "idle", "nothing"}
# Keys that lower and raise each part of a continuous action, as far as they go.
_PAIRS = (
    ("ArrowLeft", "ArrowRight"), ("ArrowDown", "ArrowUp"), ("a", "d"), ("s", "w"), ("j", "l"),
    ("k", "i"), ("f", "h"), ("g", "t"), ("z", "x"), ("c", "v"), ("n", "m"), ("o", "p"),
)  # fmt: skip
_SINGLES = "1234567890qwertyuiopasdfghjklzxcvbnm"
_FPS = 15  # where an environment does not say
_MOST_FPS = 60

Controls = dict[str, Any]


def controls_of(env: AnyEnv) -> Controls:
    """What the page needs to know to play `env`; BackplayError if it cannot be played."""
    space = env.action_space
    fps = env.metadata.get("render_fps")
    pace = min(float(fps), _MOST_FPS) if isinstance(fps, int | float) and fps > 0 else _FPS
    if isinstance(space, spaces.Discrete):
        names = names_of_keys.action_names(env)
        idle = next((i for i, name in enumerate(names) if name in _IDLE), None)
        found = {"kind": "discrete", "names": names, "bindings": _bindings(env, names)}
        return {**found, "idle": idle, "pace": pace, "live": idle is not None}
    if isinstance(space, spaces.Box) and space.shape:
        return {"kind": "box", "parts": _parts(space), "pace": pace, "live": True}
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        return {"kind": "multi", **_switches(space), "pace": pace, "live": True}
    raise BackplayError(
        "This environment cannot be played here",
        expected="actions that are Discrete, Box, MultiDiscrete or MultiBinary",
        got=space,
        do="Record a policy instead: backplay record.",
    )


def action_from(space: spaces.Space[Any], sent: Any) -> Any:
    """The action that the page means; BackplayError if it is none."""
    try:
        if isinstance(space, spaces.Discrete):
            action: Any = int(space.start) + sent if type(sent) is int else None
        else:
            values = np.asarray(sent, np.float64).reshape(space.shape)
            if not np.isfinite(values).all():
                raise ValueError("numbers that are none")
            if isinstance(space, spaces.Box):
                values = np.clip(values, space.low, space.high)
            action = values.astype(space.dtype)
        if action is not None and space.contains(action):
            return action
    except (TypeError, ValueError, OverflowError):
        pass
    raise BackplayError("action", expected=f"an action of {space}", got=show(sent))


def _bindings(env: AnyEnv, names: list[str]) -> list[dict[str, Any]]:
    """Sets of keys and their actions: the environment's own first, then ours."""
    found: dict[tuple[str, ...], int] = {}
    for combination, action in _own_keys(env):
        found[combination] = action
        arrows = tuple(_LETTER_ARROWS.get(key, key) for key in combination)
        found.setdefault(arrows, action)
    for key, action in names_of_keys.assign_keys(names).items():
        found.setdefault((_BROWSER.get(key, key),), action)
    return [{"keys": list(keys), "action": action} for keys, action in found.items() if keys]


def _own_keys(env: AnyEnv) -> Iterable[tuple[tuple[str, ...], int]]:
    """What `get_keys_to_action` says: keys as characters or as their codes, to actions."""
    ask = getattr(env.unwrapped, "get_keys_to_action", None)
    start = int(getattr(env.action_space, "start", 0))
    try:
        said = dict(ask()) if callable(ask) else {}
    except Exception:  # an env may have the method and not the answer
        return
    for combination, action in said.items():
        keys = [combination] if isinstance(combination, int) else list(combination)
        try:
            named = [key if isinstance(key, str) else chr(key) for key in keys]
        except (TypeError, ValueError):  # codes of keys that are no characters
            continue
        if all(len(key) == 1 for key in named) and type(action) is int:
            yield tuple(key.lower() for key in named), action - start


def _parts(space: spaces.Box) -> list[dict[str, Any]]:
    """The numbers of a continuous action, each with its bounds, where it rests, and its keys."""
    low = np.where(np.isfinite(space.low), space.low, -1.0).ravel()
    high = np.where(np.isfinite(space.high), space.high, 1.0).ravel()
    parts = []
    for i, (least, most) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        rest = 0.0 if least <= 0 <= most else (least + most) / 2
        pair = list(_PAIRS[i]) if i < len(_PAIRS) else []
        parts.append({"low": least, "high": most, "rest": rest, "keys": pair})
    return parts


def _switches(space: spaces.MultiDiscrete | spaces.MultiBinary) -> dict[str, Any]:
    """A key for every value but the first of every part."""
    sizes = (
        np.ravel(space.nvec).tolist()
        if isinstance(space, spaces.MultiDiscrete)
        else [2] * int(np.prod(space.shape))
    )
    wanted = [(part, value) for part, size in enumerate(sizes) for value in range(1, size)]
    switches = [
        {"keys": [key], "part": part, "value": value}
        for key, (part, value) in zip(_SINGLES, wanted, strict=False)
    ]
    return {"sizes": sizes, "bindings": switches}
