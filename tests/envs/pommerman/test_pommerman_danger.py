"""When cells burn and which moves can be survived, against games that are played out."""

from __future__ import annotations

import numpy as np
import pytest
from random_states import random_rows

from backplay.envs.pommerman import danger, rules
from backplay.envs.pommerman import layout as at

COUNT = 150


def quiet_rows(seed: int) -> np.ndarray:
    """Arenas of rigid walls and resting bombs in which seat 0 alone lives; all flames are new."""
    rows = random_rows(COUNT, seed)
    board = rows[:, at.BOARD : at.BOARD + at.CELLS]
    board[(board == at.WOOD) | (board >= at.EXTRA_BOMB) & (board != at.AGENT)] = at.PASSAGE
    rows[:, at.ITEMS : at.ITEMS + at.CELLS] = 0
    agents = rows[:, at.AGENTS : at.BOMB_COUNT].reshape(COUNT, at.SEATS, at.AGENT_FIELDS)
    agents[:, 1:, at.AGENT_ALIVE] = 0
    agents[:, 0, at.AGENT_KICK] = 0
    bombs = rows[:, at.BOMBS : at.FLAME_COUNT].reshape(COUNT, at.MAX_BOMBS, at.BOMB_FIELDS)
    bombs[:, :, at.BOMB_DIRECTION] = 0
    flames = rows[:, at.FLAME :].reshape(COUNT, at.MAX_FLAMES, at.FLAME_FIELDS)
    for row, life in zip(rows, flames, strict=True):
        life[: row[at.FLAME_COUNT], at.FLAME_LEFT] = at.FLAME_LIFE
    for k, row in enumerate(rows):  # where an agent stood on a bomb, the bomb shows now
        for cell in bombs[k, : row[at.BOMB_COUNT], at.BOMB_CELL]:
            if row[at.BOARD + cell] == at.PASSAGE:
                row[at.BOARD + cell] = at.BOMB
    return rows[agents[:, 0, at.AGENT_ALIVE] == 1]


def times_of(row: np.ndarray, place: int = 0, blast: int = 0) -> np.ndarray:
    times = np.zeros(at.CELLS, np.int16)
    danger.burning_times(row, place, blast, times)
    return times


def stepped(row: np.ndarray, action: int) -> np.ndarray:
    row = row.copy()
    rules.step(row, np.array([action, 0, 0, 0]))
    return row


def begins_to_burn(row: np.ndarray) -> np.ndarray:
    """The first step after which each cell is in flames that were not there at first."""
    found = np.full(at.CELLS, danger.NEVER)
    for t in range(1, danger.AHEAD + 1):
        row = stepped(row, at.STOP)
        drawn = row[at.FLAME :].reshape(-1, at.FLAME_FIELDS)[: row[at.FLAME_COUNT]]
        new = drawn[drawn[:, at.FLAME_LEFT] == at.FLAME_LIFE, at.FLAME_CELL]
        found[new] = np.minimum(found[new], t)
    return found


@pytest.mark.parametrize("seed", [0, 1])
def test_cells_burn_when_they_are_said_to(seed: int) -> None:
    some = 0
    for row in quiet_rows(seed):
        told, seen = times_of(row), begins_to_burn(row)
        np.testing.assert_array_equal(told, seen)
        some += (told < danger.NEVER).sum()
    assert some > 1000


def can_live(row: np.ndarray, steps: int) -> bool:
    """Whether seat 0 has a way to live for so many steps, by trying all moves."""
    alive = {int(row[at.AGENTS + at.AGENT_CELL]): row}
    for _ in range(steps):
        later = [stepped(one, move) for one in alive.values() for move in range(at.LAY)]
        alive = {
            int(one[at.AGENTS + at.AGENT_CELL]): one
            for one in later
            if one[at.AGENTS + at.AGENT_ALIVE]
        }
    return bool(alive)


def lived(row: np.ndarray, action: int) -> bool:
    after = stepped(row, action)
    return bool(after[at.AGENTS + at.AGENT_ALIVE]) and can_live(after, danger.AHEAD - 1)


@pytest.mark.parametrize("seed", [2, 3])
def test_moves_are_survived_that_are_said_to_be(seed: int) -> None:
    moves, said = np.zeros(at.LAY, np.int16), np.zeros(3, int)
    for row in quiet_rows(seed)[::3]:
        own = int(row[at.AGENTS + at.AGENT_CELL])
        danger.survivable(row, own, 0, times_of(row), moves)
        for move in range(at.LAY):
            onto = at.NEXT[own, move]
            code = at.RIGID if onto < 0 else row[at.BOARD + onto]
            closed = move != at.STOP and code in (at.RIGID, at.BOMB)
            assert (moves[move] == 0) == closed
            if not closed:
                assert (moves[move] == 2) == lived(row, move)
            said[moves[move]] += 1
    assert said.min() > 20


def test_bombs_are_laid_and_survived_where_they_are_said_to_be() -> None:
    moves, said = np.zeros(at.LAY, np.int16), []
    for row in quiet_rows(4):
        own = int(row[at.AGENTS + at.AGENT_CELL])
        bombs = row[at.BOMBS : at.FLAME_COUNT].reshape(-1, at.BOMB_FIELDS)
        if (bombs[: row[at.BOMB_COUNT], at.BOMB_CELL] == own).any():
            continue
        row[at.AGENTS + at.AGENT_AMMO] = 1
        blast = int(row[at.AGENTS + at.AGENT_BLAST])
        danger.survivable(row, own, blast, times_of(row, own, blast), moves)
        assert (moves[at.STOP] == 2) == lived(row, at.LAY)
        said.append(moves[at.STOP] == 2)
    assert 10 < sum(said) < len(said) - 10
