"""Games with agents inside: n of them side by side, each complete in a few rows of numbers.

A game is its state row and the one before it, a memory and a random stream for every seat, one more
stream for the board, and who sits where. Copying those rows copies the game: the copy goes on
exactly as the original would. Games share nothing, so their results do not depend on how many there
are or how many threads play them.

    games = Games(64, jobs=2)
    games.seat(0, [player("fsmts")] * 4)
    games.begin(0, np.random.default_rng(7))
    games.advance(outside)

Does not know: learners, observations or files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from backplay.envs.kernels import copy_row, kernel
from backplay.envs.pommerman import boards, rules
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.agents import MEMORY, OUTSIDE, SCRATCH, decide, forget
from backplay.envs.pommerman.players import OPTIONS, Player

if TYPE_CHECKING:
    from backplay.envs.pommerman.learned import Policy

STREAMS = at.SEATS + 1
BOARD_STREAM = at.SEATS  # the stream that draws the board; stream k is seat k's
Snapshot = dict[str, NDArray[Any]]

_PARTS = {
    "row": "rows", "previous": "previous", "memories": "memories", "streams": "streams",
    "kinds": "kinds", "options": "options",
}  # fmt: skip


@kernel
def advance(  # type: ignore[no-untyped-def]
    first, last, steps, rows, memories, streams, kinds, options, outside, actions, rewards, dones,
    kept_actions, kept_memories, kept_streams, scratch,
):  # fmt: skip
    """Up to `steps` steps of each of the games first..last-1, none of a game that is over.

    In a step all who live inside decide on the same state; learners do as `outside` says. The kept
    arrays [steps, ...] take the actions of each step, and the memories and streams before it, of
    one game; they may be empty. No other kernel asks agents: compiling them takes long.
    """
    for i in range(first, last):
        s = rows[i]
        for t in range(steps):
            if dones[i]:
                break
            if kept_actions.shape[0] > 0:
                copy_row(streams[i], kept_streams[t])
                for seat in range(at.SEATS):
                    copy_row(memories[i, seat], kept_memories[t, seat])
            for seat in range(at.SEATS):
                actions[i, seat] = at.STOP
                if s[at.AGENTS + at.AGENT_FIELDS * seat + at.AGENT_ALIVE] == 0:
                    continue
                kind = kinds[i, seat]
                if kind == OUTSIDE:
                    actions[i, seat] = outside[i, seat]
                else:
                    actions[i, seat] = decide(
                        kind, s, seat, memories[i, seat], streams[i], seat, options[i, seat],
                        scratch,
                    )  # fmt: skip
            if kept_actions.shape[0] > 0:
                copy_row(actions[i], kept_actions[t])
            rules.step(s, actions[i])
            dones[i] = rules.outcome(s, rewards[i])


class Kept(NamedTuple):
    """What was done and remembered in a game."""

    actions: NDArray[Any]
    """[T, 4]."""
    memories: NDArray[np.int16]
    """What everybody remembered before each step and at the end, [T + 1, 4, MEMORY]."""
    streams: NDArray[np.uint64]
    """Where the random streams stood then, [T + 1, 5]."""

    def at(self, step: int) -> Kept:
        """The part for one step; nothing, if there is none."""
        one = slice(step, step + 1)
        return Kept(self.actions[one], self.memories[one], self.streams[one])


def empty(steps: int) -> Kept:
    """Room for what a game of so many steps keeps."""
    return Kept(
        np.zeros((steps, at.SEATS), np.int64),
        np.zeros((steps, at.SEATS, MEMORY), np.int16),
        np.zeros((steps, STREAMS), np.uint64),
    )


NOTHING = empty(0)


class Games:
    """`n` games; the arrays are public and [n, ...]."""

    def __init__(self, n: int, *, jobs: int = 1) -> None:
        """Games without players or boards; `jobs` threads advance them."""
        self.n, self.jobs = n, max(1, min(jobs, n))
        self.rows = np.zeros((n, at.ROW), at.DTYPE)
        self.previous = np.zeros_like(self.rows)  # a step before; at a beginning, the same
        self.memories = np.zeros((n, at.SEATS, MEMORY), np.int16)
        self.streams = np.zeros((n, STREAMS), np.uint64)
        self.kinds = np.full((n, at.SEATS), OUTSIDE, np.int64)
        self.options = np.zeros((n, at.SEATS, OPTIONS), np.int32)
        self.actions = np.zeros((n, at.SEATS), np.int64)
        self.rewards = np.zeros((n, at.SEATS), np.int64)
        self.dones = np.zeros(n, np.uint8)
        self._learned: list[dict[int, Policy]] = [{} for _ in range(n)]  # by seat
        self._threads = Threads(n, self.jobs)
        self._scratch = np.zeros((self._threads.chunks, SCRATCH), np.int16)

    def seat(self, i: int, players: Sequence[Player]) -> None:
        """Puts these four players into the seats of game `i`."""
        for k, one in enumerate(players):
            self.kinds[i, k] = one.kind
            self.options[i, k] = one.row
        self._learned[i] = {k: one.policy for k, one in enumerate(players) if one.policy}

    def begin(self, i: int, rng: np.random.Generator, limit: int = at.MAX_STEPS) -> None:
        """Game `i` from a fresh board, with fresh streams and without memories."""
        reseed(self.streams[i], rng)
        boards.generate(self.rows[i], self.streams[i], BOARD_STREAM)
        self.rows[i, at.LIMIT] = limit
        self.previous[i] = self.rows[i]
        for memory in self.memories[i]:
            forget(memory)
        self._clear(i)

    def advance(self, outside: NDArray[np.int64]) -> None:
        """One step of every game that is not over; `outside` [n, 4] tells the learners' actions.

        Those of players who were trained are written into it.
        """
        self.in_chunks(lambda *part: self.advance_part(outside, *part))

    def advance_part(self, outside: NDArray[np.int64], chunk: int, first: int, last: int) -> None:
        """One step of the games first..last-1; chunks at work at the same time must differ."""
        self._step(chunk, first, last, outside, NOTHING)

    def _step(
        self, chunk: int, first: int, last: int, outside: NDArray[np.int64], kept: Kept
    ) -> None:
        for i in range(first, last):
            for seat, policy in self._learned[i].items():
                game = slice(i, i + 1)
                outside[i, seat] = policy.decide(
                    self.previous[game], self.rows[game], np.array([seat]), self.streams[i], seat
                )
        self.previous[first:last] = self.rows[first:last]
        self._run(chunk, first, last, 1, outside, kept)

    def play(self, i: int, keep: bool = False) -> Kept | None:
        """Plays game `i` to its end; learners do nothing. With `keep`, what was done on the way."""
        left, begun = self._left(i), int(self.rows[i, at.STEP])
        kept = empty(left) if keep else NOTHING
        if self._learned[i]:
            outside = np.zeros_like(self.actions)
            for t in range(left):
                self._step(0, i, i + 1, outside, kept.at(t))
        else:
            self._run(0, i, i + 1, left, self.actions, kept)
        steps = int(self.rows[i, at.STEP]) - begun
        if not keep:
            return None
        return Kept(
            kept.actions[:steps].astype(np.int8),
            np.concatenate([kept.memories[:steps], self.memories[i : i + 1]]),
            np.concatenate([kept.streams[:steps], self.streams[i : i + 1]]),
        )

    def _left(self, i: int) -> int:
        return max(0, int(self.rows[i, at.LIMIT]) - int(self.rows[i, at.STEP]))

    def _run(
        self, chunk: int, first: int, last: int, steps: int, outside: NDArray[np.int64], kept: Kept
    ) -> None:
        advance(
            first, last, steps, self.rows, self.memories, self.streams, self.kinds, self.options,
            outside, self.actions, self.rewards, self.dones, *kept, self._scratch[chunk],
        )  # fmt: skip

    def in_chunks(self, run: Callable[[int, int, int], None]) -> None:
        """Calls run(chunk, first, last) for parts of the games that cover all, in the threads."""
        self._threads(run)

    def snapshot(self, i: int) -> Snapshot:
        """All there is of game `i`, as copies."""
        return {name: getattr(self, array)[i].copy() for name, array in _PARTS.items()}

    def restore(self, i: int, snapshot: Snapshot) -> None:
        """Puts game `i` where `snapshot` was taken; what is not in it stays as it is.

        Only the row before is then the row itself. Its parts are trusted: see `snapshots` for those
        from outside.
        """
        for name, part in snapshot.items():
            getattr(self, _PARTS[name])[i] = part
        if "previous" not in snapshot:
            self.previous[i] = self.rows[i]
        self._clear(i)

    def _clear(self, i: int) -> None:
        """What the last step left, for a game that is elsewhere now."""
        self.actions[i] = at.STOP
        self.rewards[i] = 0
        self.dones[i] = 0

    def close(self) -> None:
        """Ends the threads."""
        self._threads.close()


class Threads:
    """Parts of 0..n-1, run by a few threads; kernels let go of the interpreter's lock."""

    def __init__(self, n: int, jobs: int) -> None:
        # Handing a part over takes as long as a few games' steps; the first is not handed over.
        self.chunks = jobs
        bounds = np.linspace(0, n, jobs + 1).astype(int).tolist()
        self._parts = list(pairwise(bounds))
        self._pool = ThreadPoolExecutor(jobs - 1) if jobs > 1 else None

    def __call__(self, run: Callable[[int, int, int], None]) -> None:
        first, *others = enumerate(self._parts)
        futures = [self._pool.submit(run, k, *part) for k, part in others] if self._pool else []
        try:
            run(first[0], *first[1])
        finally:
            wait(futures)
        for future in futures:
            future.result()

    def close(self) -> None:
        """Ends the threads."""
        if self._pool is not None:
            self._pool.shutdown()


def reseed(streams: NDArray[np.uint64], rng: np.random.Generator) -> None:
    """New places for all streams of a game, drawn from `rng`."""
    streams[:] = rng.integers(2**64 - 1, size=streams.shape, dtype=np.uint64, endpoint=True)
