"""Where the games of a vector env begin: steps of recorded games that a curriculum draws.

Comes in: recorded games and a curriculum. Goes out: games put into their states. Does not know: who
learns.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from backplay.envs.chance import streams as fresh_streams
from backplay.envs.pommerman.demonstrations import load_games
from backplay.envs.pommerman.games import STREAMS, Games
from backplay.envs.pommerman.recordings import Perspective
from backplay.errors import BackplayError, one_of, show
from backplay.records import DrawsStarts, Start

MOST_DRAWS = 10_000  # before a curriculum counts as one that never starts in some seat


class Starts:
    """Demonstrations, and which of them each game may start from."""

    def __init__(
        self,
        demos: Sequence[Perspective] | str | Path,
        seats: Sequence[int | None],
        initial: Literal["reset", "demonstration"],
        rng: Literal["reseed", "restore"],
        frames: Literal["doubled", "recorded"],
    ) -> None:
        """Starts for games in these `seats` (None: any); the rest as for `PommermanVector`."""
        one_of("initial", initial, ("reset", "demonstration"))
        one_of("rng", rng, ("reseed", "restore"))
        one_of("frames", frames, ("doubled", "recorded"))
        self.demos = _listed(demos)
        """The recorded games, each from a seat."""
        self._initial, self._reseed, self._doubled = initial, rng == "reseed", frames == "doubled"
        self._lengths = np.array([len(demo) for demo in self.demos])
        self._by_seat: dict[int | None, frozenset[int]] = {}
        for seat in set(seats):
            fit = [k for k, demo in enumerate(self.demos) if seat in (None, demo.seat)]
            if not fit:
                raise BackplayError(
                    f"No demonstration is of seat {seat}",
                    expected="one at least for every seat that a learner has",
                    got="demonstrations of the seats " + ", ".join(
                        map(str, sorted({demo.seat for demo in self.demos}))
                    ),
                    do="Make more games, or sit where the demonstrations do: seat=None.",
                )  # fmt: skip
            self._by_seat[seat] = frozenset(fit)
        self._seats = list(seats)

    def draw(self, i: int, curriculum: DrawsStarts, rng: np.random.Generator) -> Start:
        """Where game `i` starts, of the demonstrations of its seat.

        Drawn from all until one fits: a curriculum knows each demonstration by its place among all.
        """
        fit = self._by_seat[self._seats[i]]
        for _ in range(MOST_DRAWS):
            demo, step = curriculum.sample(self._lengths, 1, rng)
            if int(demo[0]) in fit:
                return Start(int(demo[0]), int(step[0]))
        raise BackplayError(
            "curriculum", expected=f"starts for the seat {self._seats[i]}",
            got=f"none in {MOST_DRAWS} draws", do="Give its demonstrations some weight.",
        )  # fmt: skip

    def back(self, start: Start) -> int:
        """Steps from this start to the end of its demonstration."""
        return int(self._lengths[start.demo]) - start.step

    def par(self, start: Start) -> float:
        """What the demonstration earned from this start on, items aside."""
        perspective = self.demos[start.demo]
        return 1.0 if perspective.game.winner == perspective.seat else -1.0

    def is_reset(self, start: Start) -> bool:
        """Whether this start means a fresh board."""
        return start.step == 0 and self._initial == "reset"

    def enter(
        self,
        games: Games,
        i: int,
        start: Start,
        rng: np.random.Generator,
    ) -> np.random.Generator | None:
        """Puts game `i` where `start` says.

        Where random streams are new, the generator of the game's later boards is too: it is
        returned. Both are drawn from `rng` as `BackplayEnv` draws them, so the same seeds give the
        same games.
        """
        state = self.demos[start.demo].state(start.step)
        parts = ("row", "memories", "streams") + ("previous",) * (not self._doubled)
        games.restore(i, {part: state[part] for part in parts})
        games.memories[i, games.kinds[i] != self.demos[start.demo].game.kind] = 0
        if not self._reseed:
            return None
        games.streams[i] = fresh_streams(int(rng.integers(2**32)), STREAMS)
        return np.random.Generator(np.random.PCG64(int(rng.integers(2**63))))

    def checked(self, asked: Any) -> Start:
        """`asked` as a start in one of the demonstrations."""
        try:
            start = Start(int(asked[0]), int(asked[1]))
            if 0 <= start.demo < len(self.demos) and 0 <= start.step < len(self.demos[start.demo]):
                return start
        except (TypeError, ValueError, IndexError):
            pass
        raise BackplayError(
            'options["starts"]',
            expected=f"a Start with demo below {len(self.demos)} and a step before its end",
            got=show(asked),
        )


def _listed(demos: Sequence[Perspective] | str | Path) -> list[Perspective]:
    if isinstance(demos, str | Path):
        library = load_games(demos)
        return [game.seen_by(library.perspective) for game in library.training]
    listed = list(demos)
    if not listed or not all(isinstance(demo, Perspective) for demo in listed):
        raise BackplayError(
            "demos", expected="recorded games from a seat each, or their file", got=show(demos),
            do='Write [game.seen_by("winner") for game in load_games(path).training].',
        )  # fmt: skip
    return listed
