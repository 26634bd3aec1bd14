"""Fresh boards: counts, symmetry, what is always there, reachability, uniform draws."""

import numpy as np
import pytest

from backplay.envs import chance
from backplay.envs.pommerman import boards, states
from backplay.envs.pommerman import layout as at

N = 2000


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    fresh = np.full((N, at.ROW), 77, np.int16)  # generate must not rely on what was there
    boards.generate_many(fresh, chance.streams(5, N))
    return fresh


def grids(rows: np.ndarray) -> np.ndarray:
    return rows[:, at.BOARD : at.ITEMS].reshape(-1, at.SIZE, at.SIZE)


def test_a_fresh_row_is_a_valid_start(rows: np.ndarray) -> None:
    for row in rows[:100]:
        states.validate(row)
        state = states.to_json(row)
        starts = [[1, 1], [9, 1], [9, 9], [1, 9]]
        assert state["ag"] == [[*cell, 1, 1, 2, 0] for cell in starts]
        assert (state["t"], state["bo"], state["fl"]) == (0, [], [])
        assert "variant" not in state


def test_walls(rows: np.ndarray) -> None:
    board = grids(rows)
    assert ((board == at.RIGID).sum((1, 2)) == 36).all()
    assert ((board == at.WOOD).sum((1, 2)) == 36).all()
    for wall in (at.RIGID, at.WOOD):
        np.testing.assert_array_equal(board == wall, (board == wall).transpose(0, 2, 1))
    assert not np.isin(np.diagonal(board, axis1=1, axis2=2), (at.RIGID, at.WOOD)).any()
    for i in (4, 5, 6):
        for r, c in ((1, i), (10 - i, 1), (9, 10 - i), (10 - i, 9)):
            assert (board[:, r, c] == at.WOOD).all()
    for i in (2, 3):
        free = (1, i), (i, 1), (9, 10 - i), (10 - i, 9), (1, 10 - i), (10 - i, 1), (i, 9), (9, i)
        for r, c in free:
            assert (board[:, r, c] == at.PASSAGE).all()


def test_items_lie_under_wood(rows: np.ndarray) -> None:
    items = rows[:, at.ITEMS : at.AGENTS].reshape(-1, at.SIZE, at.SIZE)
    assert ((items != 0).sum((1, 2)) == 20).all()
    assert (grids(rows)[items != 0] == at.WOOD).all()
    kinds = np.bincount(items[items != 0], minlength=9)
    assert kinds[:6].sum() == 0
    assert np.allclose(kinds[6:] / kinds.sum(), 1 / 3, atol=0.01)


def unreached(board: np.ndarray) -> int:
    """Passages no way leads to from (9, 9), through all but rigid walls."""
    seen, edge = {(9, 9)}, [(9, 9)]
    while edge:
        r, c = edge.pop()
        for cell in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            inside = 0 <= cell[0] < at.SIZE and 0 <= cell[1] < at.SIZE
            if inside and cell not in seen and board[cell] != at.RIGID:
                seen.add(cell)
                edge.append(cell)
    return sum((r, c) not in seen for r, c in np.argwhere(board == at.PASSAGE))


def test_at_most_four_passages_are_out_of_reach(rows: np.ndarray) -> None:
    counts = [unreached(board) for board in grids(rows)]
    assert max(counts) == boards.MOST_UNREACHED
    assert min(counts) == 0


def test_the_flood_counts_what_a_plain_search_counts() -> None:
    row, streams = np.zeros(at.ROW, np.int16), chance.streams(3, 1)
    counts = []
    for _ in range(500):
        boards._draw_walls(row, streams, 0, row[at.FLAME :])
        before = row.copy()
        counts.append(boards._unreached(row))
        np.testing.assert_array_equal(row, before)
        assert counts[-1] == unreached(grids(row[None])[0])
    assert max(counts) > boards.MOST_UNREACHED  # some are drawn again


def test_walls_and_items_are_drawn_uniformly() -> None:
    row, streams = np.zeros(at.ROW, np.int16), chance.streams(9, 1)
    draws = 20_000
    rigid, wood = np.zeros(at.CELLS), np.zeros(at.CELLS)
    for _ in range(draws):
        boards._draw_walls(row, streams, 0, row[at.FLAME :])
        rigid += row[at.BOARD : at.ITEMS] == at.RIGID
        wood += row[at.BOARD : at.ITEMS] == at.WOOD
    assert len(boards.PAIRS) == 40
    margin = 5 * np.sqrt(0.25 / draws)  # five standard deviations
    assert np.abs(rigid[boards.PAIRS] / draws - 18 / 40).max() < margin
    assert np.abs(wood[boards.PAIRS] / draws - 12 / 40).max() < margin
    hidden = np.zeros(at.CELLS)
    woods = np.flatnonzero(row[at.BOARD : at.ITEMS] == at.WOOD)
    for _ in range(draws):
        row[at.ITEMS : at.AGENTS] = 0
        boards._hide_items(row, streams, 0, row[at.FLAME :])
        hidden += row[at.ITEMS : at.AGENTS] != 0
    assert np.abs(hidden[woods] / draws - 20 / 36).max() < margin


def test_a_stream_decides_the_board_and_nothing_else_does() -> None:
    streams = chance.streams(1, 3)
    rows = np.zeros((3, at.ROW), np.int16)
    boards.generate_many(rows, streams)
    again, alone = chance.streams(1, 3), np.zeros(at.ROW, np.int16)
    boards.generate(alone, again, 2)
    np.testing.assert_array_equal(alone, rows[2])
    assert again[2] == streams[2]
    assert len({row.tobytes() for row in rows}) == 3
    boards.generate(alone, again, 2)
    assert not np.array_equal(alone, rows[2])
