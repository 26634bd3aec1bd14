"""Random streams: where a random number generator stands, and moving one there.

Comes in: a numpy or Python generator, or a `RandomStream` from a file. Does not know who draws.
"""

from __future__ import annotations

import copy
import random
from typing import Any, NamedTuple

import numpy as np

_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class RandomStream(NamedTuple):
    """Where a random number generator stood."""

    kind: str
    state: Any


def read_stream(generator: Any) -> RandomStream | None:
    """Where `generator` stands, or None if it is no random number generator we know."""
    if isinstance(generator, np.random.Generator):
        kind = type(generator.bit_generator).__name__
        return RandomStream(kind, copy.deepcopy(dict(generator.bit_generator.state)))
    if isinstance(generator, np.random.RandomState):
        return RandomStream("RandomState", copy.deepcopy(generator.get_state(legacy=False)))
    if isinstance(generator, random.Random):
        try:
            return RandomStream("Random", generator.getstate())
        except (AttributeError, NotImplementedError):  # one that draws from elsewhere
            return None
    return None


def set_stream(current: Any, stream: RandomStream) -> Any:
    """The generator `current` moved to `stream`, in place where it can be, else a new one."""
    if stream.kind == "Random":
        generator = current if isinstance(current, random.Random) else random.Random()
        generator.setstate(stream.state)
        return generator
    if stream.kind == "RandomState":
        legacy = current if isinstance(current, np.random.RandomState) else np.random.RandomState()
        legacy.set_state(stream.state)
        return legacy
    same = isinstance(current, np.random.Generator) and (
        type(current.bit_generator).__name__ == stream.kind
    )
    if not same:
        current = np.random.Generator(getattr(np.random, stream.kind)())
    current.bit_generator.state = stream.state
    return current


def new_generator(stream: RandomStream) -> Any:
    """A generator that stands at a `stream` from outside; raises if there can be no such place.

    numpy sets places that do not exist without a word. A position beyond its buffer makes the next
    draw read foreign memory; a state that never changes makes a draw by rejection last for ever.
    """
    kind, state = stream
    if kind not in (*_BIT_GENERATORS, "RandomState", "Random"):
        raise ValueError("an unknown random number generator")
    if kind in ("MT19937", "RandomState"):
        position, last, words = state["state"]["pos"], 624, state["state"]["key"]
    elif kind == "Random":
        position, last, words = state[1][-1], 624, state[1][:-1]
    elif kind == "Philox":
        position, last, words = state["buffer_pos"], 4, [1]
    else:  # the increment of a PCG is odd; an SFC counts
        position, last, words = 0, 0, [state["state"].get("inc", 1) & 1]
    if type(position) is not int or not 0 <= position <= last or not any(words):
        raise ValueError("a place where no random number generator can stand")
    return set_stream(None, stream)


def is_pcg64(state: Any) -> bool:
    """Whether this is the state of a PCG64, told without making one."""
    if type(state) is not dict or len(state) != 4 or state.get("bit_generator") != "PCG64":
        return False
    inside = state.get("state")
    if type(inside) is not dict or len(inside) != 2:
        return False
    numbers = (
        (inside.get("state"), 2**128), (inside.get("inc"), 2**128),
        (state.get("has_uint32"), 2), (state.get("uinteger"), 2**32),
    )  # fmt: skip
    return all(type(n) is int and 0 <= n < most for n, most in numbers) and inside["inc"] & 1 == 1
