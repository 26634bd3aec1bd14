"""Keys: which one is which action, and reading them from a terminal or a pipe.

Comes in: an environment of discrete actions, or bytes of standard input. Goes out: names of
actions, and of keys: one character, or `left`, `right`, `up`, `down`, `space`, `backspace`.
"""

from __future__ import annotations

import enum
import os
import re
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from gymnasium import spaces

from backplay.errors import BackplayError
from backplay.restore.rollout import AnyEnv

UNDO, UNDO_TEN, RESTART, SAVE, LEAVE = "u", "U", "r", "s", "q"
_COMMANDS = {UNDO, UNDO_TEN, RESTART, SAVE, LEAVE}
_ACTION_KEYS = "0123456789" + "".join(c for c in "abcdefghijklmnopqrstuvwxyz" if c not in _COMMANDS)

# What Gymnasium's documentation says of actions that the environments themselves leave unnamed.
_NAMES = {
    "Acrobot": ("push left", "wait", "push right"),
    "CartPole": ("push left", "push right"),
    "CliffWalking": ("up", "right", "down", "left"),
    "FrozenLake": ("left", "down", "right", "up"),
    "FrozenLake8x8": ("left", "down", "right", "up"),
    "LunarLander": ("wait", "left engine", "main engine", "right engine"),
    "MountainCar": ("push left", "wait", "push right"),
    "Taxi": ("down", "up", "right", "left", "pick up", "drop off"),
}
_ARROWS = {
    "left": ("left", "lane_left"), "right": ("right", "lane_right"),
    "up": ("up", "forward", "faster", "main"), "down": ("down", "backward", "slower"),
}  # fmt: skip
_SYMBOLS = {"left": "←", "right": "→", "up": "↑", "down": "↓", "backspace": "⌫"}
_SEQUENCES = {
    **{f"\x1b{bracket}{letter}": name
       for bracket in "[O"
       for letter, name in zip("ABCD", ("up", "down", "right", "left"), strict=True)},
    "\x7f": "backspace", "\b": "backspace", " ": "space", "\x04": "end",
}  # fmt: skip
_TOKEN = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)


def action_names(env: AnyEnv) -> list[str]:
    """A name for each action: the environment's own, the documentation's, or its number."""
    space = env.action_space
    if not isinstance(space, spaces.Discrete) or space.n > len(_ACTION_KEYS):
        raise BackplayError(
            "This environment cannot be played with keys",
            expected=f"a Discrete action space of at most {len(_ACTION_KEYS)} actions",
            got=space,
            do="Record a policy instead: backplay record.",
        )
    count = int(space.n)
    names = _own_names(env) or _NAMES.get(env.spec.name if env.spec else "", ())
    if len(names) != count:
        return [f"action {int(space.start) + i}" for i in range(count)]
    return [name.lower() for name in names]


def _own_names(env: AnyEnv) -> list[str]:
    base = env.unwrapped
    actions = getattr(base, "actions", None)
    if isinstance(actions, type) and issubclass(actions, enum.IntEnum):  # MiniGrid
        return [action.name for action in sorted(actions)]
    if callable(getattr(base, "get_action_meanings", None)):  # ALE
        return list(base.get_action_meanings())  # type: ignore[attr-defined]  # asked above
    named = getattr(getattr(base, "action_type", None), "actions", None)
    if isinstance(named, dict):  # highway-env
        return [str(named[i]) for i in sorted(named)]
    return []


def assign_keys(names: list[str]) -> dict[str, int]:
    """Keys of actions: a digit or letter for each, and others that their names suggest."""
    keys = {_ACTION_KEYS[i]: i for i in range(len(names))}
    for arrow, words in _ARROWS.items():
        exact = [i for i, name in enumerate(names) if name in words]
        among = [i for i, name in enumerate(names) if set(name.split()) & set(words)]
        if exact or among:
            keys[arrow] = (exact or among)[0]
    on_arrows = {keys.get(arrow) for arrow in _ARROWS}
    for i, name in enumerate(names):
        if name == "fire":
            keys["space"] = i
        elif i not in on_arrows and name[0] not in _COMMANDS and not name.startswith("action "):
            keys.setdefault(name[0], i)
    return keys


def legend(names: list[str], keys: dict[str, int]) -> str:
    """Which key is which action, in one line."""
    held: list[list[str]] = [[] for _ in names]
    for key, i in keys.items():
        held[i].append(_SYMBOLS.get(key, key))
    return "   ".join(f"{' '.join(ks)} {name}" for ks, name in zip(held, names, strict=True))


def parse_keys(text: str) -> list[str]:
    """The names of the keys that sent `text`; line ends and keys of no name are left out."""
    found = [_SEQUENCES.get(token, token) for token in _TOKEN.findall(text)]
    return [key for key in found if len(key) > 1 or key.isprintable()]


@contextmanager
def keyboard() -> Iterator[Iterator[str]]:
    """The keys of standard input until its end; a terminal sends each as it is pressed."""
    descriptor = sys.stdin.fileno()
    if not os.isatty(descriptor):
        yield _keys_of(descriptor)
        return
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield _keys_of(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _keys_of(descriptor: int) -> Iterator[str]:
    while data := os.read(descriptor, 4096):
        # An arrow is three bytes, which may come apart over a slow line.
        while re.search(rb"\x1b[\[O]?$", data) and select.select([descriptor], [], [], 0.05)[0]:
            more = os.read(descriptor, 4096)
            if not more:
                break
            data += more
        for key in parse_keys(data.decode(errors="ignore")):
            if key == "end":
                return
            yield key
