"""The states of a whole recorded game as rows, at once.

Comes in: the first row, checked, and the states after it as JSON. Goes out: rows [T + 1, ROW] with
the settings of the first. Does not know: rules. The rows after the first are what the JSON says,
right or wrong: they are for comparing, and only states.from_json checks what may be played.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.states import DIGITS, Row, from_json
from backplay.errors import BackplayError

_Numbers = np.ndarray[Any, np.dtype[np.int64]]

_CELL_OF_BYTE = np.full(256, -1, np.int16)
_CELL_OF_BYTE[[ord(digit) for digit in DIGITS]] = range(len(DIGITS))


def rows_from_json(first: Row, states: list[dict[str, Any]]) -> Row:
    """The first row and those of `states`."""
    try:
        return _rows(first, states)
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError):
        return _one_by_one(first, states)


def _rows(first: Row, states: list[dict[str, Any]]) -> Row:
    rows = np.zeros((len(states) + 1, at.ROW), np.int16)
    rows[:, : at.WORDS] = first[: at.WORDS]
    rows[0] = first
    after = rows[1:]
    after[:, at.STEP] = _small(np.array([state["t"] for state in states], np.int64))
    text = "".join(state["b"] for state in states).encode("ascii")
    board = _CELL_OF_BYTE[np.frombuffer(text, np.uint8)]
    if (board < 0).any() or any(len(state["b"]) != at.CELLS for state in states):
        raise ValueError("board")
    after[:, at.BOARD : at.ITEMS] = board.reshape(len(states), at.CELLS)
    if any(len(state["ag"]) != at.SEATS for state in states):
        raise ValueError("ag")
    _write_list(after, at.AGENTS, [state["ag"] for state in states], 6)
    after[:, at.BOMB_COUNT] = _write_list(after, at.BOMBS, [s["bo"] for s in states], 6)
    after[:, at.FLAME_COUNT] = _write_list(after, at.FLAME, [s["fl"] for s in states], 3)
    owner, _, table = _table([state["it"] for state in states], 3)
    after[owner, at.ITEMS + _cells(table)] = _small(table[:, 2])
    for i, state in enumerate(states):
        if "words" in state:
            after[i, at.WORDS : at.BOARD] = np.array(state["words"], np.int16).reshape(-1)
    return rows


def _table(lists: list[list[list[int]]], columns: int) -> tuple[_Numbers, _Numbers, _Numbers]:
    """All entries [n, columns] of lists of lists; of each its list and its place there."""
    counts = np.array([len(entries) for entries in lists], np.int64)
    entries = list(chain.from_iterable(lists))
    if any(len(entry) != columns for entry in entries):
        raise ValueError("columns")
    table = np.array(entries)
    if len(entries) and table.dtype.kind != "i":
        raise ValueError("numbers")
    owner = np.repeat(np.arange(len(lists)), counts)
    place = np.arange(len(entries)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, place, table.astype(np.int64).reshape(len(entries), columns)


def _cells(table: _Numbers) -> _Numbers:
    if ((table[:, :2] < 0) | (table[:, :2] >= at.SIZE)).any():
        raise ValueError("off the board")
    cells: _Numbers = at.SIZE * table[:, 0] + table[:, 1]
    return cells


def _write_list(rows: Row, start: int, lists: list[list[list[int]]], columns: int) -> list[int]:
    """Writes the lists into their rows and returns their lengths."""
    owner, place, table = _table(lists, columns)
    begin = start + place * (columns - 1)
    if len(begin) and begin.max() + columns - 1 > _end(start):
        raise ValueError("too many")
    rows[owner, begin] = _cells(table)
    for column in range(2, columns):
        rows[owner, begin + column - 1] = _small(table[:, column])
    return [len(entries) for entries in lists]


def _end(start: int) -> int:
    return {at.AGENTS: at.BOMB_COUNT, at.BOMBS: at.FLAME_COUNT, at.FLAME: at.ROW}[start]


def _small(values: _Numbers) -> _Numbers:
    if (np.abs(values) > 32767).any():
        raise ValueError("too large")
    return values


def _one_by_one(first: Row, states: list[dict[str, Any]]) -> Row:
    """The same, slowly: for states that are not as they should be, to say which and why."""
    rows = [first]
    for t, state in enumerate(states, start=1):
        try:
            row = from_json(state)
        except BackplayError as error:
            raise BackplayError(f"step {t}: {error}") from error
        row[1 : at.WORDS] = first[1 : at.WORDS]
        rows.append(row)
    return np.array(rows)
