"""What makes a row the state of a game, and a number an action.

Comes in: a row, or actions. Goes out: nothing, or an error that says what is wrong and where.
Does not know: rules, files, JSON.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backplay.data.arrays import checked_array
from backplay.envs.pommerman import layout as at
from backplay.errors import BackplayError, ensure, show

Row = np.ndarray[Any, np.dtype[np.int16]]

MOST_BLAST = 10

VARIANT = {
    "limit": (at.LIMIT, at.MAX_STEPS, 1, 32767),
    "team": (at.TEAM, 0, 0, 1),
    "view": (at.VIEW, 0, 0, at.SIZE),
    "max_blast": (at.MAX_BLAST, MOST_BLAST, at.START_BLAST, MOST_BLAST),
    "collapse": (at.COLLAPSE, 0, 0, 1),
    "radio": (at.RADIO, 0, 0, 1),
    "shield": (at.SHIELD, 0, 0, 1),
}
"""What a variant can set: place in the row, value in the free for all, smallest, largest."""


_GROUND = {at.PASSAGE, at.RIGID, at.WOOD, at.EXTRA_BOMB, at.RANGE, at.KICK}
_FIGURES = {at.BOMB, at.FLAMES, *range(at.AGENT, at.AGENT + at.SEATS)}


def validate(row: Row) -> None:
    """Raises an error that says what is wrong and where, if the row is no state of a game."""
    numbers = checked_array("state row", row, at.DTYPE, (at.ROW,)).tolist()
    for name, (place, _, low, high) in variant_of(numbers).items():
        in_range(numbers[place], low, high, f"variant {name}")
    in_range(numbers[at.STEP], 0, 32767, "step")
    ensure(not numbers[at.RADIO] or numbers[at.TEAM], "variant radio", "0 without teams", got=1)
    for i, word in enumerate(words_of(numbers)):
        in_range(word, 0, 7 if numbers[at.RADIO] else 0, f"word of seat {i // 2}")
    in_range(numbers[at.BOMB_COUNT], 0, at.MAX_BOMBS, "number of bombs")
    in_range(numbers[at.FLAME_COUNT], 0, at.MAX_FLAMES, "number of flames")
    _check_agents(numbers)
    _check_bombs(numbers)
    _check_flames(numbers)
    _check_items(numbers)
    _check_board(numbers)
    bombs = at.BOMBS + numbers[at.BOMB_COUNT] * at.BOMB_FIELDS
    flames = at.FLAME + numbers[at.FLAME_COUNT] * at.FLAME_FIELDS
    if any(numbers[bombs : at.FLAME_COUNT]) or any(numbers[flames:]):
        raise BackplayError("state row", expected="zeros after its bombs and flames", got="others")


def check_actions(actions: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The actions [..., 4] as an array, or an error that names the first that is none."""
    try:
        given = np.asarray(actions)
    except ValueError:  # lists of different lengths
        given = np.empty(0, object)
    ensure(given.dtype.kind in "iu", "actions", "whole numbers 0..5", actions)
    if given.ndim == 0 or given.shape[-1] != at.SEATS:
        raise BackplayError("actions", expected=f"{at.SEATS} a game", got=f"shape {given.shape}")
    wrong = np.argwhere((given < 0) | (given >= at.ACTIONS))
    if len(wrong):
        *game, seat = (int(i) for i in wrong[0])
        where = f"action of seat {seat}" + (f" in game {game[0]}" if game else "")
        legal = "0..5 (stop, up, down, left, right, bomb)"
        raise BackplayError(where, expected=legal, got=int(given[tuple(wrong[0])]))
    return given.astype(np.int64)


def in_range(value: Any, low: int, high: int, what: str) -> int:
    """The whole number `value`, or an error that calls it `what`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise BackplayError(what, expected="a whole number", got=show(value))
    ensure(low <= value <= high, what, f"{low}..{high}", value)
    return int(value)


def place_of(cell: int) -> str:
    """A cell as `(row, col)`."""
    row, col = divmod(cell, at.SIZE)
    return f"({row}, {col})"


def variant_of(numbers: list[int]) -> dict[str, tuple[int, int, int, int]]:
    """What a variant can set in such a game: with radio there is no room for shields."""
    if not numbers[at.RADIO]:
        return VARIANT
    return {name: entry for name, entry in VARIANT.items() if name != "shield"}


def words_of(numbers: list[int]) -> list[int]:
    """Two words of each seat; without radio the first one's place is that of the shield."""
    words = numbers[at.WORDS : at.BOARD]
    return words if numbers[at.RADIO] else [0, *words[1:]]


def agents_of(numbers: list[int]) -> list[list[int]]:
    """The fields of the four agents."""
    return _records(numbers, at.AGENTS, at.SEATS, at.AGENT_FIELDS)


def bombs_of(numbers: list[int]) -> list[list[int]]:
    """The fields of each bomb."""
    return _records(numbers, at.BOMBS, numbers[at.BOMB_COUNT], at.BOMB_FIELDS)


def flames_of(numbers: list[int]) -> list[list[int]]:
    """The fields of each flame."""
    return _records(numbers, at.FLAME, numbers[at.FLAME_COUNT], at.FLAME_FIELDS)


def _records(numbers: list[int], start: int, count: int, fields: int) -> list[list[int]]:
    return [numbers[i : i + fields] for i in range(start, start + count * fields, fields)]


def _check_agents(numbers: list[int]) -> None:
    taken: dict[int, int] = {}
    for seat, (cell, alive, ammo, blast, kick) in enumerate(agents_of(numbers)):
        in_range(cell, 0, at.CELLS - 1, f"cell of agent {seat}")
        in_range(alive, 0, 1, f"agent {seat} alive")
        in_range(ammo, 0, at.MAX_AMMO, f"ammo of agent {seat}")
        in_range(blast, 1, MOST_BLAST, f"blast strength of agent {seat}")
        in_range(kick, 0, 1, f"agent {seat} can kick")
        if not alive:
            continue
        where, shown = place_of(cell), numbers[at.BOARD + cell]
        if shown in (at.RIGID, at.WOOD):
            wall = "rigid wall" if shown == at.RIGID else "wood"
            raise BackplayError(f"agent {seat}", expected="a free cell", got=f"{wall} at {where}")
        if cell in taken:
            both = f"agents {taken[cell]} and {seat}"
            raise BackplayError(both, expected="a cell each", got=f"both at {where}")
        taken[cell] = seat


def _check_bombs(numbers: list[int]) -> None:
    taken: dict[int, int] = {}
    for b, (cell, left, blast, direction, owner) in enumerate(bombs_of(numbers)):
        in_range(cell, 0, at.CELLS - 1, f"cell of bomb {b}")
        where = f"bomb {b} at {place_of(cell)}"
        in_range(left, 1, at.BOMB_LIFE, f"life of {where}")
        in_range(blast, 1, MOST_BLAST, f"blast strength of {where}")
        in_range(direction, 0, 4, f"direction of {where}")
        in_range(owner, 0, at.SEATS - 1, f"owner of {where}")
        if cell in taken:
            both = f"bombs {taken[cell]} and {b}"
            raise BackplayError(both, expected="a cell each", got=f"both at {place_of(cell)}")
        taken[cell] = b


def _check_flames(numbers: list[int]) -> None:
    of_life = [0] * (at.FLAME_LIFE + 1)
    for f, (cell, left) in enumerate(flames_of(numbers)):
        in_range(cell, 0, at.CELLS - 1, f"cell of flame {f}")
        of_life[in_range(left, 0, at.FLAME_LIFE, f"life of flame {f} at {place_of(cell)}")] += 1
    for left, count in enumerate(of_life):
        in_range(count, 0, at.CELLS, f"number of flames with life {left}")


def _check_items(numbers: list[int]) -> None:
    for cell, item in enumerate(numbers[at.ITEMS : at.ITEMS + at.CELLS]):
        if item == 0:
            continue
        what, shown = f"item hidden at {place_of(cell)}", numbers[at.BOARD + cell]
        in_range(item, at.EXTRA_BOMB, at.KICK, what)
        if shown not in (at.WOOD, at.FLAMES):
            raise BackplayError(
                what, expected="wood or flames over it", got=f"{shown} on the board"
            )


def _check_board(numbers: list[int]) -> None:
    """Every living agent, bomb and flame shows on the board, and nothing else looks like one."""
    drawn = _drawn(numbers)
    for cell, shown in enumerate(numbers[at.BOARD : at.BOARD + at.CELLS]):
        if shown in _GROUND and cell not in drawn:
            continue
        should, who = drawn.get(cell, (None, ""))
        if shown == should:
            continue
        if shown not in _GROUND and shown not in _FIGURES:
            expected = "0..4, 6..8 or 10..13"
        elif cell in drawn:
            expected = f"{should} for {who}"
        else:
            kind = {at.BOMB: "bomb", at.FLAMES: "flame"}.get(shown, f"agent {shown - at.AGENT}")
            expected = f"no {kind}: the state has none there"
        raise BackplayError(f"board at {place_of(cell)}", expected=expected, got=shown)


def _drawn(numbers: list[int]) -> dict[int, tuple[int, str]]:
    """By cell, what the board must show and for whom. Nobody else can be where it burns."""
    drawn = {cell: (at.FLAMES, f"flame {f}") for f, (cell, _) in enumerate(flames_of(numbers))}
    bombs = [(cell, at.BOMB, f"bomb {b}") for b, (cell, *_) in enumerate(bombs_of(numbers))]
    agents = [
        (cell, at.AGENT + seat, f"agent {seat}")
        for seat, (cell, alive, *_) in enumerate(agents_of(numbers))
        if alive
    ]
    for cell, value, who in bombs + agents:  # in this order: an agent covers its bomb
        if drawn.get(cell, (0, ""))[0] == at.FLAMES:
            got = f"{drawn[cell][1]} there too"
            raise BackplayError(f"{who} at {place_of(cell)}", expected="no flames", got=got)
        drawn[cell] = (value, who)
    return drawn
