"""Small situations drawn as text: a corner of the board, all the rest rigid.

Board: . passage, # rigid, w wood, * flames (about to end), 6 7 8 items, a b c d agents.
Bombs: . none, o at rest, ^ v < > rolling; in row-major order, with 9 steps left, owned by seat 0.
"""

from typing import Any

import numpy as np

from backplay.envs.pommerman import states
from backplay.envs.pommerman.layout import BOARD, BOMBS, SIZE

CODES = {".": 0, "#": 1, "w": 2, "*": 4, "6": 6, "7": 7, "8": 8, "a": 10, "b": 11, "c": 12, "d": 13}
ROLLS = "o^v<>"


def scene(
    board: str,
    bombs: str = "",
    *,
    kick: str = "",
    ammo: int = 1,
    blast: int = 2,
    flame_left: int = 0,
    hidden: dict[tuple[int, int], int] | None = None,
    step: int = 0,
    **variant: int,
) -> states.Row:
    """The row of a drawing. Agents that are not in it are dead."""
    cells = np.ones((SIZE, SIZE), int)
    agents = [[SIZE - 1, SIZE - 1, 0, ammo, blast, int(name in kick)] for name in "abcd"]
    flames = []
    for r, line in enumerate(board.split()):
        for c, sign in enumerate(line):
            cells[r, c] = CODES[sign]
            if sign == "*":
                flames.append([r, c, flame_left])
            if sign in "abcd":
                agents["abcd".index(sign)][:3] = [r, c, 1]
    listed = []
    for r, line in enumerate(bombs.split()):
        for c, sign in enumerate(line):
            if sign != ".":
                listed.append([r, c, 9, blast, ROLLS.index(sign), 0])
                cells[r, c] = max(cells[r, c], 3)
    state: dict[str, Any] = {
        "t": step,
        "b": "".join("0123456789abcdef"[cell] for cell in cells.ravel()),
        "bo": listed,
        "fl": flames,
        "ag": agents,
        "it": [[r, c, item] for (r, c), item in (hidden or {}).items()],
        "variant": variant,
    }
    return states.from_json(state)


def drawing(row: states.Row, like: str) -> str:
    """The corner of the board, as large as the drawing `like`."""
    signs = {code: sign for sign, code in CODES.items()} | {3: "."}
    board = row[BOARD : BOARD + SIZE * SIZE].reshape(SIZE, SIZE)
    lines = like.split()
    return " ".join("".join(signs[v] for v in board[r, : len(lines[0])]) for r in range(len(lines)))


def drawn_bombs(row: states.Row, like: str) -> str:
    """The bombs in that corner."""
    lines = [list("." * len(line)) for line in like.split()]
    for r, c, _, _, rolls, _ in states.to_json(row)["bo"]:
        lines[r][c] = ROLLS[rolls]
    return " ".join("".join(line) for line in lines)


def bomb(row: states.Row, n: int, field: int) -> int:
    """One field of bomb `n`."""
    return int(row[BOMBS + 5 * n + field])


def shown(row: states.Row, r: int, c: int) -> int:
    """What a cell of the board shows."""
    return int(row[BOARD + SIZE * r + c])
