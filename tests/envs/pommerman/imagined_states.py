"""States as the state-machine agent's search imagines them."""

import numpy as np

from backplay.envs.pommerman.agents import search_model as model
from backplay.envs.pommerman.agents.padded import PAD, PADDED
from backplay.envs.pommerman.layout import (
    AGENT_FIELDS,
    AGENTS,
    BOARD,
    BOMB_COUNT,
    BOMB_FIELDS,
    BOMBS,
    CELLS,
    RIGID,
    SEATS,
)


def agent(row: np.ndarray, seat: int) -> np.ndarray:
    return row[AGENTS + seat * AGENT_FIELDS :][:AGENT_FIELDS]


def imagined(row: np.ndarray) -> np.ndarray:
    """The row as the search sees it, with all its bombs."""
    m = np.zeros(model.STATE, np.int16)
    m[:PADDED] = RIGID
    m[PAD] = row[BOARD : BOARD + CELLS]
    model.equip(m)
    for seat in range(SEATS):
        cell, alive = agent(row, seat)[:2]
        m[model.PLACE + seat] = PAD[cell] if alive else 0
    for bomb in row[BOMBS:].reshape(-1)[: row[BOMB_COUNT] * BOMB_FIELDS].reshape(-1, BOMB_FIELDS):
        cell, left, blast, _, owner = bomb
        model.add_bomb(m, PAD[cell], left, blast, np.int64(owner))
    return m
