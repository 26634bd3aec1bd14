"""States as plain data: a row to and from the JSON of the public traces, and two rows compared.

Comes in: a dictionary or a row. Goes out: a checked row, a dictionary, or differences in words.
Does not know: rules, files.

The dictionary: t step; b board, one hexadecimal digit a cell, a..d the agents; bo bombs [row, col,
time left, blast strength, direction, owner]; fl flames [row, col, time left]; ag agents [row, col,
alive, ammo, blast strength, can kick]; it hidden items [row, col, item]. Where it is no free for
all with the usual settings, `variant` holds what differs; where words were sent, `words` holds two
of each seat.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.validity import (
    VARIANT,
    Row,
    agents_of,
    bombs_of,
    check_actions,
    flames_of,
    in_range,
    place_of,
    validate,
    variant_of,
    words_of,
)
from backplay.errors import BackplayError, ensure, show

__all__ = [
    "Row",
    "check_actions",
    "differences",
    "empty_row",
    "from_json",
    "to_json",
    "validate",
]

DIGITS = "0123456789abcdef"


def empty_row(**variant: int) -> Row:
    """A row of zeros with the settings of the free for all, or those of `variant`."""
    row = np.zeros(at.ROW, at.DTYPE)
    unknown = sorted(set(variant) - set(VARIANT))
    ensure(not unknown, "variant", f"some of {', '.join(VARIANT)}", got=unknown)
    for name, (place, default, low, high) in VARIANT.items():
        row[place] = in_range(variant.get(name, default), low, high, f"variant {name}")
    return row


def from_json(state: dict[str, Any]) -> Row:
    """The row of a state, checked: the opposite of `to_json`."""
    if not isinstance(state, dict) or not isinstance(state.get("variant", {}), dict):
        raise BackplayError("state", expected="a dictionary", got=show(state))
    for name in ("t", "b", "bo", "fl", "ag", "it"):
        if name not in state:
            raise BackplayError("state", expected=f"an entry {name!r}", got=f"only {sorted(state)}")
    row = empty_row(**state.get("variant", {}))
    row[at.STEP] = in_range(state["t"], 0, 32767, "t, the step")
    row[at.BOARD : at.BOARD + at.CELLS] = _read_board(state["b"])
    _read_list(row, at.AGENTS, state["ag"], 6, at.SEATS, "ag, agent")
    if len(state["ag"]) != at.SEATS:
        raise BackplayError("ag", expected=f"{at.SEATS} agents", got=len(state["ag"]))
    row[at.BOMB_COUNT] = _read_list(row, at.BOMBS, state["bo"], 6, at.MAX_BOMBS, "bo, bomb")
    row[at.FLAME_COUNT] = _read_list(row, at.FLAME, state["fl"], 3, at.MAX_FLAMES, "fl, flame")
    _read_items(row, state["it"])
    if "words" in state:
        words = _read_words(state["words"])
        if any(words) and not row[at.RADIO]:
            raise BackplayError("words", expected="none without radio", got=show(state["words"]))
        row[at.WORDS : at.BOARD] = words if row[at.RADIO] else row[at.WORDS : at.BOARD]
    validate(row)
    return row


def to_json(row: Row) -> dict[str, Any]:
    """The state as plain data; hidden items in row-major order."""
    numbers = row.tolist()
    items = numbers[at.ITEMS : at.ITEMS + at.CELLS]
    state: dict[str, Any] = {
        "t": numbers[at.STEP],
        "b": "".join(DIGITS[cell] for cell in numbers[at.BOARD : at.BOARD + at.CELLS]),
        "bo": [[*divmod(cell, at.SIZE), *rest] for cell, *rest in bombs_of(numbers)],
        "fl": [[*divmod(cell, at.SIZE), left] for cell, left in flames_of(numbers)],
        "ag": [[*divmod(cell, at.SIZE), *rest] for cell, *rest in agents_of(numbers)],
        "it": [[*divmod(cell, at.SIZE), item] for cell, item in enumerate(items) if item],
    }
    variant = {
        name: numbers[place]
        for name, (place, default, _, _) in variant_of(numbers).items()
        if numbers[place] != default
    }
    if variant:
        state["variant"] = variant
    words = words_of(numbers)
    if any(words):
        state["words"] = [words[i : i + 2] for i in range(0, len(words), 2)]
    return state


def differences(row: Row, other: Row) -> list[str]:
    """What differs between two rows, in words: `agent 2 ammo: 1, 0`. Empty if they are equal."""
    if np.array_equal(row, other):
        return []
    mine, theirs = dict(_named(row.tolist())), dict(_named(other.tolist()))
    names = list(mine) + [name for name in theirs if name not in mine]
    return [
        f"{name}: {mine.get(name, 'none')}, {theirs.get(name, 'none')}"
        for name in names
        if mine.get(name) != theirs.get(name)
    ] or ["numbers after the ends of the lists"]


def _named(numbers: list[int]) -> Iterator[tuple[str, Any]]:
    """Every field of a state with its name."""
    yield "step", numbers[at.STEP]
    for name, (place, *_) in variant_of(numbers).items():
        yield name, numbers[place]
    words = words_of(numbers)
    for seat in range(at.SEATS):
        yield f"words of seat {seat}", words[2 * seat : 2 * seat + 2]
    for seat, agent in enumerate(agents_of(numbers)):
        for name, value in zip(("cell", "alive", "ammo", "blast", "kick"), agent, strict=True):
            yield f"agent {seat} {name}", place_of(value) if name == "cell" else value
    for b, bomb in enumerate(bombs_of(numbers)):
        for name, value in zip(("cell", "left", "blast", "direction", "owner"), bomb, strict=True):
            yield f"bomb {b} {name}", place_of(value) if name == "cell" else value
    for f, (cell, left) in enumerate(flames_of(numbers)):
        yield f"flame {f}", f"{place_of(cell)} left {left}"
    for cell in range(at.CELLS):
        yield f"board {place_of(cell)}", numbers[at.BOARD + cell]
        yield f"hidden item {place_of(cell)}", numbers[at.ITEMS + cell]


def _table(value: Any, columns: int, most: int, what: str) -> list[list[int]]:
    """A list of at most `most` lists of `columns` numbers each."""
    if not isinstance(value, list) or len(value) > most:
        got = f"{len(value)} entries" if isinstance(value, list) else show(value)
        raise BackplayError(what, expected=f"a list of at most {most} entries", got=got)
    for i, entry in enumerate(value):
        if not isinstance(entry, list) or len(entry) != columns:
            raise BackplayError(f"{what} {i}", expected=f"{columns} numbers", got=show(entry))
        for entered in entry:
            in_range(entered, -32768, 32767, f"{what} {i}")
        in_range(entry[0], 0, at.SIZE - 1, f"{what} {i}, row")
        in_range(entry[1], 0, at.SIZE - 1, f"{what} {i}, column")
    return value


def _read_list(row: Row, start: int, value: Any, columns: int, most: int, what: str) -> int:
    """Writes a list of agents, bombs or flames into the row and returns its length."""
    table = _table(value, columns, most, what)
    for r, c, *rest in table:
        row[start : start + columns - 1] = [at.SIZE * r + c, *rest]
        start += columns - 1
    return len(table)


def _read_items(row: Row, value: Any) -> None:
    for r, c, item in _table(value, 3, at.CELLS, "it, hidden item"):
        cell = at.SIZE * r + c
        if row[at.ITEMS + cell]:
            raise BackplayError(f"hidden items at {place_of(cell)}", expected="one", got="two")
        row[at.ITEMS + cell] = item


def _read_board(text: Any) -> list[int]:
    what = "b, the board"
    ensure(isinstance(text, str), what, f"{at.CELLS} hexadecimal digits", text)
    ensure(len(text) == at.CELLS, what, f"{at.CELLS} cells", got=f"{len(text)} cells")
    cells = [DIGITS.find(digit) for digit in text]
    if -1 in cells:
        where = cells.index(-1)
        legal = "a digit 0..9, a..d"
        raise BackplayError(f"{what}, at {place_of(where)}", expected=legal, got=show(text[where]))
    return cells


def _read_words(words: Any) -> list[int]:
    pairs = isinstance(words, list) and all(isinstance(w, list) and len(w) == 2 for w in words)
    ensure(pairs and len(words) == at.SEATS, "words", "two of each of four seats", words)
    return [
        in_range(word, 0, 7, f"word of seat {s}") for s, pair in enumerate(words) for word in pair
    ]
