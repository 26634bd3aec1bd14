"""Recorded games: every step's state, memories and random streams, to be entered anywhere.

Comes in: what a match kept, or a file's arrays. Goes out: the state of an env in any step, from any
seat, and backplay's Demonstration of it. Does not know: why a game was recorded, or files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from backplay.demos import Demonstration
from backplay.demos.record import record
from backplay.envs.kernels import copy_row, kernel
from backplay.envs.pommerman import rules
from backplay.envs.pommerman.layout import AGENT_ALIVE, AGENT_FIELDS, AGENTS, DTYPE, ROW, SEATS
from backplay.envs.pommerman.learner import survivors
from backplay.errors import DemonstrationError
from backplay.restore import RESTORERS
from backplay.restore.rollout import AnyEnv

PerspectiveName = Literal["winner", "runner-up"]


@kernel
def play_again(rows, actions):  # type: ignore[no-untyped-def]
    """Fills rows[1:] from rows[0] and the actions [T, 4] of a game."""
    for t in range(actions.shape[0]):
        copy_row(rows[t], rows[t + 1])
        rules.step(rows[t + 1], actions[t])


@dataclass(frozen=True, eq=False)
class Game:
    """A game of T steps between four agents."""

    number: int
    """Its number among the games that were played for the same set."""
    kind: int
    """The kind of its agents: who else plays on from it remembers nothing."""
    rows: NDArray[np.int16]
    """The state before each step and at the end, [T + 1, ROW]."""
    actions: NDArray[np.int8]
    """[T, 4]."""
    memories: NDArray[np.int16]
    """What everybody remembered, [T + 1, 4, MEMORY]."""
    streams: NDArray[np.uint64]
    """Where the random streams stood, [T + 1, 5]."""

    def __len__(self) -> int:
        """The number of steps, T."""
        return len(self.actions)

    @property
    def winner(self) -> int | None:
        """The only survivor's seat, if there is one."""
        living = survivors(self.rows[-1])
        return living[0] if len(living) == 1 else None

    @property
    def runner_up(self) -> int:
        """Who died last, as the winner was left; of several in that step the lowest seat."""
        alive = self.rows[:, AGENTS + AGENT_ALIVE : AGENTS + SEATS * AGENT_FIELDS : AGENT_FIELDS]
        lasted = np.where(np.arange(SEATS) == self.winner, -1, alive.sum(0))
        return int(lasted.argmax())

    def seen_by(self, perspective: PerspectiveName | int) -> Perspective:
        """The game from the winner's, the runner-up's or any other seat."""
        if isinstance(perspective, int):
            return Perspective(self, perspective)
        seat = self.winner if perspective == "winner" else self.runner_up
        if seat is None:
            raise DemonstrationError("This game has no winner", do="Choose a seat by its number.")
        return Perspective(self, seat)


def game_from(
    number: int, kind: int, first: NDArray[Any], actions: NDArray[Any], *kept: NDArray[Any]
) -> Game:
    """A game from its first row, its actions, and the memories and streams of every step."""
    rows = np.zeros((len(actions) + 1, ROW), DTYPE)
    rows[0] = first
    play_again(rows, actions.astype(np.int64))  # what `step` is compiled for already
    return Game(number, kind, rows, actions, *kept)


@dataclass(frozen=True, eq=False)
class Perspective:
    """A game from one seat: what a learner in that seat can start from."""

    game: Game
    seat: int

    def __len__(self) -> int:
        """Steps until this seat's game is over: its death, or the end."""
        alive = self.game.rows[:, AGENTS + self.seat * AGENT_FIELDS + AGENT_ALIVE]
        return int(min(alive.sum(), len(self.game)))

    def state(self, step: int) -> dict[str, Any]:
        """The state before `step`, as the env's `get_state` returns it."""
        game = self.game
        return {
            "row": game.rows[step].copy(),
            "previous": game.rows[max(step - 1, 0)].copy(),
            "memories": game.memories[step].copy(),
            "streams": game.streams[step].copy(),
            "seat": self.seat,
        }

    def record(self, env: AnyEnv) -> Demonstration:
        """The game as a demonstration of `env`, played again there with the same opponents.

        `env` is a `Backplay/PommermanFFA-v0` with the agents of the recorded game as opponents,
        wrapped or not; its seat is the perspective's whatever it was made with.
        """
        actions = [int(action) for action in self.game.actions[: len(self), self.seat]]
        demo = record(
            env, actions, options={"state": self.state(0)}, restorer=RESTORERS["own"](),
            success=self.game.winner == self.seat,
        )  # fmt: skip
        rows = self.game.rows[: len(self) + 1]
        again = [state[0]["row"] for state in demo.states or ()]
        differs = [t for t, (a, b) in enumerate(zip(again, rows, strict=False)) if (a != b).any()]
        if differs or len(again) != len(rows):
            raise DemonstrationError(
                "This game went another way in this env",
                expected=f"the recorded game of {len(self)} steps",
                got=f"another state at step {differs[0] if differs else len(again)}",
                do="Make the env with the opponents and simulations that the games were made with.",
            )
        return demo
