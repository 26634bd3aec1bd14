"""Situations on an open board: all passage but for what is listed; agents not listed are dead."""

from typing import Any

import numpy as np

from backplay.envs.pommerman import states
from backplay.envs.pommerman.layout import AGENT, BOMB, FLAMES, RIGID, SIZE, WOOD

Cell = tuple[int, int]


def open_board(
    agents: dict[int, Cell],
    *,
    bombs: list[tuple[int, ...]] | None = None,
    items: dict[Cell, int] | None = None,
    wood: list[Cell] | None = None,
    rigid: list[Cell] | None = None,
    flames: list[Cell] | None = None,
    ammo: int = 1,
    kick: int = 0,
    step: int = 20,
    **variant: int,
) -> states.Row:
    """The row. Bombs are (row, col, blast, left[, direction, owner]); ammo, kick of seat 0."""
    cells = np.zeros((SIZE, SIZE), int)
    for group, code in ((wood, WOOD), (rigid, RIGID), (flames, FLAMES)):
        for cell in group or []:
            cells[cell] = code
    for cell, item in (items or {}).items():
        cells[cell] = item
    listed = []
    for r, c, blast, left, *rest in bombs or []:
        listed.append([r, c, left, blast, *(rest or (0, 1))])
        cells[r, c] = BOMB
    seats = [[0, 0, 0, 1, 2, 0] for _ in range(4)]
    for seat, (r, c) in agents.items():
        seats[seat] = [r, c, 1, 1, 2, 0]
        cells[r, c] = AGENT + seat
    seats[0][3], seats[0][5] = ammo, kick
    state: dict[str, Any] = {
        "t": step,
        "b": "".join("0123456789abcdef"[cell] for cell in cells.ravel()),
        "bo": listed,
        "fl": [[r, c, 2] for r, c in flames or []],
        "ag": seats,
        "it": [],
        "variant": variant,
    }
    return states.from_json(state)
