"""The state of an Atari emulator, sticky actions included.

ALE's saved state holds the game and, on request, the random stream that decides which frames repeat
the previous action. It does not hold *which* action that is: after a restore, a sticky frame
repeats whatever was played last before the restore. The functions here find that action when a
state is saved and set it again when it is loaded. They do so with the emulator alone: a copy of the
state whose stream is replaced by one known to make the next frames sticky (or not) is played for a
few frames, and then the true state is restored.

The stream is found in the serialised state by its form, the text of a Mersenne Twister. If a future
ALE writes it otherwise, nothing is found and nothing is replaced; `find_restorer` then sees that
sticky actions are not exact and takes another restorer.
"""

from __future__ import annotations

import functools
import re
import struct
from typing import Any

import numpy as np

_TWISTER = re.compile(rb"(?:\d{1,10} ){624}\d{1,3}")
_LENGTH_AT = 24  # where the serialised state keeps the length of all that follows its header
_FRAMES = 4


def content(env: Any) -> bytes:
    """The emulator's state and its random stream, as bytes."""
    serialized: bytes = env.ale.cloneState(include_rng=True).serialize()
    return serialized


def save_emulator(emulator: Any, actions: list[Any], last: Any = None) -> list[Any]:
    """The emulator's state as bytes, and the index of the action that a sticky frame would repeat.

    Actions that the game does not tell apart within a few frames are tried in order of likelihood:
    the action `last` asked for, where that is known, is most often the one.
    """
    from ale_py import ALEState

    serialized: bytes = emulator.cloneState(include_rng=True).serialize()
    chance = emulator.getFloat("repeat_action_probability")
    if chance == 0 or _stream_span(serialized) is None:
        return [serialized, None]
    sticky = ALEState(_with_stream(serialized, _stream(chance, sticky=True)))
    true_outcome = _play_on(emulator, sticky)  # sticky frames leave the repeated action as it is
    repeated = None
    for index in sorted(range(len(actions)), key=lambda index: index != last):
        _set_repeated(emulator, serialized, actions[index], chance)
        repeated = index
        if _play_on(emulator, sticky) == true_outcome:
            break
    emulator.restoreState(ALEState(serialized))
    return [serialized, repeated]


def load_emulator(
    emulator: Any, actions: list[Any], state: list[Any], rng: np.random.Generator | None
) -> None:
    """Restores what `save_emulator` saved; with `rng`, the emulator's stream takes a new place."""
    from ale_py import ALEState

    serialized, repeated = state
    if repeated is not None:  # else a sticky frame would repeat an action of the previous episode
        chance = emulator.getFloat("repeat_action_probability")
        _set_repeated(emulator, serialized, actions[repeated], chance)
    if rng is not None and _stream_span(serialized) is not None:
        twister = np.random.MT19937(int(rng.integers(2**32)))
        serialized = _with_stream(serialized, _text(twister))
    emulator.restoreState(ALEState(serialized))


def _set_repeated(emulator: Any, serialized: bytes, action: Any, chance: float) -> None:
    """Makes `action` the one that sticky frames repeat, by playing it for one frame that is not."""
    from ale_py import ALEState

    emulator.restoreState(ALEState(_with_stream(serialized, _stream(chance, sticky=False))))
    emulator.act(action)


def _play_on(emulator: Any, state: Any) -> list[bytes]:
    """The whole game after each of a few frames from `state`."""
    emulator.restoreState(state)
    games = []
    for _ in range(_FRAMES):
        emulator.act(0)
        games.append(emulator.cloneState(include_rng=False).serialize())
    return games


def _stream_span(serialized: bytes) -> tuple[int, int] | None:
    """Where the stream of the sticky actions stands: the last twister but the console's own."""
    found = [match.span() for match in _TWISTER.finditer(serialized)]
    return found[-1] if len(found) == 2 else None


def _with_stream(serialized: bytes, stream: bytes) -> bytes:
    """`serialized` with its stream replaced, and the two lengths that change with it."""
    span = _stream_span(serialized)
    if span is None:
        return serialized
    start, stop = span
    (total,) = struct.unpack_from("<I", serialized, _LENGTH_AT)
    longer = len(stream) - (stop - start)
    return b"".join(
        (
            serialized[:_LENGTH_AT],
            struct.pack("<I", total + longer),
            serialized[_LENGTH_AT + 4 : start - 4],
            struct.pack("<I", len(stream)),
            stream,
            serialized[stop:],
        )
    )


@functools.cache
def _stream(chance: float, *, sticky: bool) -> bytes:
    """A stream whose next frames are all sticky, or all not, each being so with `chance`."""
    # A frame takes one double, made of two draws. Which of them weighs more depends on the C++
    # library ALE was built with, so both must fall on the same side.
    raw = np.random.MT19937(0).random_raw(2_000_000).reshape(-1, 2) / 2**32
    hits = ((raw < chance) == sticky).all(axis=1)
    run = np.lib.stride_tricks.sliding_window_view(hits, _FRAMES).all(axis=1)
    twister = np.random.MT19937(0)
    twister.random_raw(2 * int(np.argmax(run)))
    return _text(twister)


def _text(twister: np.random.MT19937) -> bytes:
    state: Any = twister.state["state"]
    return " ".join(map(str, [*state["key"].tolist(), int(state["pos"])])).encode()
