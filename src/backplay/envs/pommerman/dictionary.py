"""The public game's observation as a Gymnasium space, what is seen as a member of it, and back.

Comes in: a state row and a seat. Goes out: the dictionary of `observations`, its lists as tuples,
for a space cannot hold a list. Or in comes such a dictionary, and out goes a row that shows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.observations import observe
from backplay.envs.pommerman.states import empty_row

WORDS = 8
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_"
_LONGEST_BLAST = 10


def dictionary_space(radio: bool = False) -> spaces.Dict:
    """The space of `dictionary`; with `radio`, of the game whose teammates send words."""

    def cells(most: int) -> spaces.Box:
        return spaces.Box(0, most, (at.SIZE, at.SIZE), np.uint8)

    someone: spaces.Space[Any] = spaces.Discrete(at.SEATS + 1, start=at.DUMMY)
    parts: dict[str, spaces.Space[Any]] = {
        "alive": spaces.Sequence(spaces.Discrete(at.SEATS, start=at.AGENT)),
        "board": cells(at.AGENT + at.SEATS - 1),
        "bomb_blast_strength": cells(_LONGEST_BLAST),
        "bomb_life": cells(at.BOMB_LIFE),
        "bomb_moving_direction": cells(at.ACTIONS - 2),
        "flame_life": cells(at.FLAME_LIFE + 1),
        "game_type": spaces.Discrete(3, start=1),
        "game_env": spaces.Text(40, charset=_LETTERS),
        "position": spaces.Tuple([spaces.Discrete(at.SIZE)] * 2),
        "blast_strength": spaces.Discrete(_LONGEST_BLAST, start=1),
        "can_kick": spaces.Discrete(2),
        "teammate": someone,
        "ammo": spaces.Discrete(at.MAX_AMMO + 1),
        "enemies": spaces.Tuple([someone] * (at.SEATS - 1)),
        "step_count": spaces.Discrete(2**15),
    }
    if radio:
        parts["message"] = spaces.Tuple([spaces.Discrete(WORDS)] * 2)
    return spaces.Dict(parts)


def dictionary(row: NDArray[np.int16], seat: int) -> dict[str, Any]:
    """What the agent in `seat` is shown."""
    seen = observe(row, seat)
    return {name: tuple(part) if isinstance(part, list) else part for name, part in seen.items()}


def row_of(observation: dict[str, Any]) -> NDArray[np.int16]:
    """A state row that shows what this dictionary of a free for all without fog shows.

    What is under wood, who owns a bomb and what others carry cannot be seen, and is left 0.
    """
    row = empty_row()
    board = np.asarray(observation["board"], np.int16).ravel()
    row[at.STEP] = observation["step_count"]
    row[at.BOARD : at.BOARD + at.CELLS] = board
    place = observation["position"]
    cell = at.SIZE * int(place[0]) + int(place[1])
    seat = int(board[cell]) - at.AGENT
    if 0 <= seat < at.SEATS:
        agent = at.AGENTS + seat * at.AGENT_FIELDS
        numbers = (observation[name] for name in ("ammo", "blast_strength", "can_kick"))
        row[agent : agent + at.AGENT_FIELDS] = [cell, 1, *map(int, numbers)]
    lives = np.asarray(observation["bomb_life"], np.int16).ravel()
    blasts = np.asarray(observation["bomb_blast_strength"], np.int16).ravel()
    bombs = np.flatnonzero(lives)
    row[at.BOMB_COUNT] = len(bombs)
    for k, bomb in enumerate(bombs):
        first = at.BOMBS + k * at.BOMB_FIELDS
        row[first : first + 3] = [bomb, lives[bomb], blasts[bomb]]
    return row
