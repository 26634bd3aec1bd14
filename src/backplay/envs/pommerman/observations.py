"""What an agent of the public game is shown: its observation dictionary.

Comes in: a state row and a seat. Goes out: the dictionary, made of plain numbers, lists and arrays
[11, 11] of uint8. Does not know: rules, networks.

With a limited view, cells further away than it are fog on the board and 0 in the maps; who is alive
stays known. In the radio game there is `message`, the teammate's two words of this step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backplay.envs.pommerman import layout as at

FREE_FOR_ALL, TEAM, TEAM_RADIO = 1, 2, 3
"""Values of `game_type`."""

_ROWS, _COLS = np.indices((at.SIZE, at.SIZE))


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
