"""Where many games stand, as plain data from outside, checked before a kernel reads it.

Comes in: what `PommermanVector.get_state` said, perhaps through a file. Goes out: the same, in the
types it needs, or an error. Does not know: demonstrations, curricula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.data.arrays import checked_array
from backplay.data.streams import RandomStream, new_generator
from backplay.envs.pommerman import states
from backplay.envs.pommerman.layout import SEATS
from backplay.envs.pommerman.learner import EpisodeRules
from backplay.envs.pommerman.snapshots import check_memories, check_streams
from backplay.envs.pommerman.starts import Starts
from backplay.errors import refusing
from backplay.records import Episode, Start, rows_as_episodes, start_of


@dataclass(frozen=True, kw_only=True)
class VectorState:
    """n games that have begun, and the learners' side of them; arrays are [n, ...]."""

    rows: NDArray[np.int16]
    previous: NDArray[np.int16]
    memories: NDArray[np.int16]
    streams: NDArray[np.uint64]
    seats: NDArray[np.int64]
    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    limits: NDArray[np.float64]
    starts: list[Start | None]
    rngs: list[np.random.Generator]
    start_rngs: list[np.random.Generator]
    finished: list[Episode]


def check_vector_state(
    state: Any, n: int, task: EpisodeRules, starts: Starts | None
) -> VectorState:
    """`state` as that of `n` games of this task, begun at `starts`; BackplayError if it is none."""
    with refusing("This state is of another vector", f"what get_state of one with {n} games said"):
        checked = VectorState(
            **{name: _rows(state[name], n) for name in ("rows", "previous", "memories", "streams")},
            seats=checked_array("seats", state["seats"], np.int64, (n,), low=0, high=SEATS - 1),
            returns=checked_array("returns", state["returns"], np.float64, (n,)),
            lengths=checked_array("lengths", state["lengths"], np.int64, (n,), low=0),
            limits=checked_array("limits", state["limits"], np.float64, (n,), low=0),
            starts=[start_of(start) for start in _rows(state["starts"], n)],
            rngs=[_generator(stream) for stream in _rows(state["rngs"], n)],
            start_rngs=[_generator(stream) for stream in _rows(state["start_rngs"], n)],
            finished=rows_as_episodes(state["finished"]),
        )
        for i in range(n):
            _check_game(checked, i, task)
            start = checked.starts[i]
            if start is not None:
                if starts is None:
                    raise ValueError("starts in demonstrations")
                starts.checked(start)
    return checked


def _check_game(state: VectorState, i: int, task: EpisodeRules) -> None:
    """Kernels trust a game: its rows, memories, streams and seat are refused here or never."""
    states.validate(state.rows[i])
    states.validate(state.previous[i])
    check_streams(state.streams[i])
    players = task.around(int(state.seats[i]))
    check_memories(state.memories[i], [player.kind for player in players])


def _rows(rows: Any, n: int) -> Any:
    if len(rows) != n:
        raise ValueError(f"{len(rows)} games")
    return rows


def _generator(stream: Sequence[Any] | Mapping[str, Any]) -> np.random.Generator:
    generator = new_generator(RandomStream(*stream))
    if not isinstance(generator, np.random.Generator):
        raise ValueError("a random number generator of another kind")
    return generator
