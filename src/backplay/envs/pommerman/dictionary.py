"""What an agent of the public game is shown, its observation dictionary: as a space too, and back.

Comes in: a state row and a seat. Goes out: the dictionary of plain numbers, lists and arrays
[11, 11] of uint8, or the same with its lists as tuples, for a space cannot hold a list. Or in comes
such a dictionary, and out goes a row that shows it. Does not know: rules, networks.

With a limited view, cells further away than it are fog on the board and 0 in the maps; who is alive
stays known. In the radio game there is `message`, the teammate's two words of this step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.states import empty_row

FREE_FOR_ALL, TEAM, TEAM_RADIO = 1, 2, 3
"""Values of `game_type`."""

_ROWS, _COLS = np.indices((at.SIZE, at.SIZE))
WORDS = 8
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_"
_LONGEST_BLAST = 10


def observe(row: np.ndarray[Any, np.dtype[np.int16]], seat: int) -> dict[str, Any]:
    """The observation of the agent in `seat`, alive or dead."""
    agents = row[at.AGENTS : at.BOMB_COUNT].reshape(at.SEATS, at.AGENT_FIELDS)
    cell, _, ammo, blast, kick = (int(number) for number in agents[seat])
    position = divmod(cell, at.SIZE)
    team = bool(row[at.TEAM])
    observation = {
        "alive": [at.AGENT + k for k in range(at.SEATS) if agents[k, at.AGENT_ALIVE]],
        **_maps(row, position),
        "game_type": (TEAM_RADIO if row[at.RADIO] else TEAM) if team else FREE_FOR_ALL,
        "game_env": f"pommerman.envs.v{2 if row[at.RADIO] else 1 if row[at.COLLAPSE] else 0}:Pomme",
        "position": position,
        "blast_strength": blast,
        "can_kick": bool(kick),
        "teammate": at.AGENT + (seat + 2) % at.SEATS if team else at.DUMMY,
        "ammo": ammo,
        "enemies": _enemies(seat, team),
        "step_count": int(row[at.STEP]),
    }
    if row[at.RADIO]:
        words = at.WORDS + 2 * ((seat + 2) % at.SEATS)
        observation["message"] = (int(row[words]), int(row[words + 1]))
    return observation


def _enemies(seat: int, team: bool) -> list[int]:
    if not team:
        return [at.AGENT + k for k in range(at.SEATS) if k != seat]
    return [at.AGENT + k for k in range(at.SEATS) if k % 2 != seat % 2] + [at.DUMMY]


def _maps(
    row: np.ndarray[Any, np.dtype[np.int16]], position: tuple[int, int]
) -> dict[str, np.ndarray[Any, np.dtype[np.uint8]]]:
    board = row[at.BOARD : at.BOARD + at.CELLS].astype(np.uint8).reshape(at.SIZE, at.SIZE)
    strength, life, direction, flames = np.zeros((4, at.CELLS), np.uint8)
    bombs = row[at.BOMBS : at.BOMBS + row[at.BOMB_COUNT] * at.BOMB_FIELDS]
    for cell, left, blast, rolls, _ in bombs.reshape(-1, at.BOMB_FIELDS):
        strength[cell], life[cell], direction[cell] = blast, left, rolls
    burning = row[at.FLAME : at.FLAME + row[at.FLAME_COUNT] * at.FLAME_FIELDS]
    for cell, left in burning.reshape(-1, at.FLAME_FIELDS):
        flames[cell] = left + 1  # a flame's last step is its life 0
    maps = {
        "board": board,
        "bomb_blast_strength": strength.reshape(at.SIZE, at.SIZE),
        "bomb_life": life.reshape(at.SIZE, at.SIZE),
        "bomb_moving_direction": direction.reshape(at.SIZE, at.SIZE),
        "flame_life": flames.reshape(at.SIZE, at.SIZE),
    }
    if row[at.VIEW]:
        far = np.maximum(abs(_ROWS - position[0]), abs(_COLS - position[1])) > row[at.VIEW]
        for name, values in maps.items():
            values[far] = at.FOG if name == "board" else 0
    return maps


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
