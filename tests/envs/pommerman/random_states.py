"""States to test with: crowded arenas a few steps into a game of random agents."""

from typing import Any

import numpy as np

from backplay.envs.pommerman import rules, states
from backplay.envs.pommerman.layout import AGENT, SIZE


def arena(rng: np.random.Generator, **variant: int) -> states.Row:
    """A small crowded arena: agents, bombs at rest and rolling, flames, wood, items."""
    height, width = rng.integers(3, 8, 2)
    top, left = rng.integers(0, SIZE - height + 1), rng.integers(0, SIZE - width + 1)
    inside = [(top + r, left + c) for r in range(height) for c in range(width)]
    board = np.ones((SIZE, SIZE), int)
    items = []
    for cell in inside:
        board[cell] = rng.choice([0, 2, 6, 7, 8], p=[0.64, 0.18, 0.06, 0.06, 0.06])
        if board[cell] == 2 and rng.random() < 0.6:
            items.append([*map(int, cell), int(rng.integers(6, 9))])
    free = [cell for cell in inside if board[cell] == 0]
    rng.shuffle(free)
    while len(free) < 4:  # too much wood: clear some, with what lay under it
        cell = next(cell for cell in inside if board[cell] != 0 and cell not in free)
        board[cell] = 0
        items = [item for item in items if (item[0], item[1]) != cell]
        free.append(cell)
    agents, bombs, flames = [], [], []
    for seat in range(4):
        r, c = map(int, free.pop())
        alive = int(seat < 2 or rng.random() < 0.8)
        numbers = [int(rng.integers(0, 11)), int(rng.integers(2, 11)), int(rng.random() < 0.6)]
        agents.append([r, c, alive, *numbers])
        if alive:
            board[r, c] = AGENT + seat
            if rng.random() < 0.3:
                bombs.append([r, c, *some_bomb(rng)])
        else:
            free.append((r, c))
    for _ in range(int(rng.integers(0, 6))):
        if free:
            r, c = map(int, free.pop())
            board[r, c] = 3
            bombs.append([r, c, *some_bomb(rng)])
    for _ in range(int(rng.integers(0, 4))):
        if free:
            r, c = map(int, free.pop())
            board[r, c] = 4
            flames += [[r, c, int(left)] for left in rng.integers(0, 3, rng.integers(1, 3))]
    state: dict[str, Any] = {
        "t": int(rng.choice([0, 13, 498, 574, 797])),
        "b": "".join("0123456789abcdef"[cell] for cell in board.ravel()),
        "bo": bombs,
        "fl": flames,
        "ag": agents,
        "it": items,
        "variant": variant,
    }
    return states.from_json(state)


def some_bomb(rng: np.random.Generator) -> list[int]:
    """Life, blast strength, direction and owner."""
    rolls = int(rng.integers(0, 5)) if rng.random() < 0.6 else 0
    return [int(rng.integers(1, 10)), int(rng.integers(2, 6)), rolls, int(rng.integers(0, 4))]


def random_rows(count: int, seed: int, **variant: int) -> np.ndarray:
    """States of short games in arenas, [count, ROW]."""
    rng = np.random.default_rng(seed)
    rows: list[states.Row] = []
    while len(rows) < count:
        row = arena(rng, **variant)
        for _ in range(4):
            rows.append(row.copy())
            rules.step(row, rng.integers(0, 6, 4))
    return np.array(rows[:count])
