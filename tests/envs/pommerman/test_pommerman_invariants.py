"""What holds in every game, on crowded random states and whatever the actions."""

import json
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from random_states import arena

from backplay.envs import chance
from backplay.envs.pommerman import boards, rules, states
from backplay.envs.pommerman import layout as at

VARIANTS: list[dict[str, int]] = [
    {},
    {"team": 1, "view": 4, "max_blast": 4},
    {"team": 1, "radio": 1},
    {"collapse": 1},
]
ACTIONS = 6


def games(seed: int, count: int, **variant: int) -> Iterator[tuple[states.Row, np.ndarray]]:
    """States and actions: short games in arenas, and longer ones on fresh boards."""
    rng = np.random.default_rng(seed)
    for n in range(count):
        row = arena(rng, **variant)
        if n % 10 == 0:
            boards.generate(row, chance.streams(n, 1), 0)
            row[1 : at.WORDS] = states.empty_row(**variant)[1 : at.WORDS]
        for _ in range(40 if n % 10 == 0 else 8):
            actions = rng.integers(0, ACTIONS, 4)
            yield row, actions
            row = row.copy()
            rules.step(row, actions)


def agents_of(row: states.Row) -> np.ndarray:
    return row[at.AGENTS : at.BOMB_COUNT].reshape(at.SEATS, at.AGENT_FIELDS)


def bombs_of(row: states.Row) -> np.ndarray:
    end = at.BOMBS + int(row[at.BOMB_COUNT]) * at.BOMB_FIELDS
    return row[at.BOMBS : end].reshape(-1, at.BOMB_FIELDS)


def flames_of(row: states.Row) -> np.ndarray:
    end = at.FLAME + int(row[at.FLAME_COUNT]) * at.FLAME_FIELDS
    return row[at.FLAME : end].reshape(-1, at.FLAME_FIELDS)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_step_leads_from_state_to_state(variant: dict[str, int]) -> None:
    """`validate` says that nobody shares a cell, that the board agrees and the tails are empty."""
    for row, actions in games(1, 60, **variant):
        after = row.copy()
        rules.step(after, actions)
        states.validate(after)
        assert after[at.STEP] == row[at.STEP] + 1
        assert (after[1 : at.WORDS] == row[1 : at.WORDS]).all()


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_state_written_and_read_plays_on_the_same(variant: dict[str, int]) -> None:
    for row, actions in games(2, 30, **variant):
        read = states.from_json(json.loads(json.dumps(states.to_json(row))))
        np.testing.assert_array_equal(read, row)
        after = row.copy()
        rules.step(after, actions)
        rules.step(read, actions)
        np.testing.assert_array_equal(read, after)


def test_what_the_dead_do_changes_nothing() -> None:
    for row, actions in games(3, 60):
        dead = agents_of(row)[:, at.AGENT_ALIVE] == 0
        one, other = row.copy(), row.copy()
        rules.step(one, actions)
        rules.step(other, np.where(dead, (actions + 3) % ACTIONS, actions))
        np.testing.assert_array_equal(one, other)


def test_what_is_lost_and_what_is_kept() -> None:
    for row, actions in games(4, 100):
        after = row.copy()
        rules.step(after, actions)
        board, later = row[at.BOARD : at.ITEMS], after[at.BOARD : at.ITEMS]
        assert ((board == at.RIGID) == (later == at.RIGID)).all()
        assert set(later[(board == at.WOOD) & (later != at.WOOD)]) <= {at.FLAMES}
        assert not ((later == at.WOOD) & (board != at.WOOD)).any()
        was, now = agents_of(row), agents_of(after)
        assert (now[:, at.AGENT_ALIVE] <= was[:, at.AGENT_ALIVE]).all()
        assert (now[:, at.AGENT_KICK] >= was[:, at.AGENT_KICK]).all()
        assert (now[:, at.AGENT_BLAST] >= was[:, at.AGENT_BLAST]).all()
        moved = was[:, at.AGENT_CELL] != now[:, at.AGENT_CELL]
        assert not moved[(actions == 0) | (actions == 5) | (was[:, at.AGENT_ALIVE] == 0)].any()
        for cell, to in zip(was[:, at.AGENT_CELL], now[:, at.AGENT_CELL], strict=True):
            assert abs(cell // 11 - to // 11) + abs(cell % 11 - to % 11) <= 1


def after_flames(row: states.Row) -> np.ndarray:
    """The board once the flames have aged, as agents walk on it."""
    board, items = row[at.BOARD : at.ITEMS].copy(), row[at.ITEMS : at.AGENTS].copy()
    for cell, left in flames_of(row):
        if left == 0:
            board[cell], items[cell] = items[cell], 0
    for cell, left in flames_of(row):
        if left > 0:
            board[cell] = at.FLAMES
    return board


def test_every_bomb_is_laid_from_ammo_and_comes_back_as_ammo() -> None:
    laid = returned = 0
    for row, actions in games(5, 200):
        after = row.copy()
        rules.step(after, actions)
        board, lying = after_flames(row), set(bombs_of(row)[:, at.BOMB_CELL])
        before, later = (Counter(bombs_of(r)[:, at.BOMB_OWNER].tolist()) for r in (row, after))
        for seat in range(at.SEATS):
            cell, alive, ammo, _, _ = agents_of(row)[seat]
            lays = int(alive and actions[seat] == 5 and ammo > 0 and cell not in lying)
            to = agents_of(after)[seat, at.AGENT_CELL]
            finds = int(to != cell and board[to] == at.EXTRA_BOMB)
            burst = before[seat] + lays - later[seat]
            assert burst >= 0
            expected = min(min(ammo - lays + finds, 10) + burst, 10)
            assert agents_of(after)[seat, at.AGENT_AMMO] == expected
            laid, returned = laid + lays, returned + burst
    assert laid > 100
    assert returned > 100


def turned(row: states.Row, cells: np.ndarray, directions: np.ndarray) -> states.Row:
    """The game on another side of the board: cell c goes to cells[c], action d to directions[d]."""
    other = row.copy()
    for start in (at.BOARD, at.ITEMS):
        other[start + cells] = row[start : start + at.CELLS]
    agents_of(other)[:, 0] = cells[agents_of(row)[:, 0]]
    bombs_of(other)[:, 0] = cells[bombs_of(row)[:, 0]]
    bombs_of(other)[:, 3] = directions[bombs_of(row)[:, 3]]
    flames_of(other)[:, 0] = cells[flames_of(row)[:, 0]]
    return other


GRID = np.arange(at.CELLS).reshape(at.SIZE, at.SIZE)
TURNS = {
    "transposed": (GRID.T.ravel(), np.array([0, 3, 4, 1, 2, 5])),
    "upside down": (GRID[::-1].ravel(), np.array([0, 2, 1, 3, 4, 5])),
    "left to right": (GRID[:, ::-1].ravel(), np.array([0, 1, 2, 4, 3, 5])),
}


@pytest.mark.parametrize("turn", TURNS)
def test_the_rules_know_no_direction(turn: str) -> None:
    """Turn then step, or step then turn: the same but for the order of new flames."""
    cells, directions = TURNS[turn]
    for row, actions in games(6, 150):
        one, other = turned(row, cells, directions), row.copy()
        rules.step(one, directions[actions])
        rules.step(other, actions)
        other = turned(other, cells, directions)
        for r in (one, other):
            flames = flames_of(r)
            flames[:] = flames[np.lexsort((flames[:, 0], flames[:, 1]))]
        np.testing.assert_array_equal(one, other)


def test_a_batch_plays_as_its_games_do_alone() -> None:
    rows = np.array([row for row, _ in games(7, 40)])
    actions = np.array([taken for _, taken in games(7, 40)])
    n = len(rows)
    rewards, dones = np.zeros((n, 4), np.int16), np.zeros(n, np.int8)
    together = rows.copy()
    rules.step_many(together, actions, rewards, dones)
    for i in range(n):
        paid = np.zeros(4, np.int16)
        rules.step(rows[i], actions[i])
        assert rules.outcome(rows[i], paid) == dones[i]
        assert (paid == rewards[i]).all()
    np.testing.assert_array_equal(together, rows)


def test_the_same_streams_play_the_same_games() -> None:
    def play(seed: int) -> np.ndarray:
        streams, rows = chance.streams(seed, 8), np.zeros((8, at.ROW), np.int16)
        boards.generate_many(rows, streams)
        rewards, dones = np.zeros((8, 4), np.int16), np.zeros(8, np.int8)
        for _ in range(50):
            actions = [[chance.below(streams, i, ACTIONS) for _ in range(4)] for i in range(8)]
            rules.step_many(rows, np.array(actions), rewards, dones)
            for i in np.flatnonzero(dones):
                boards.generate(rows[i], streams, i)
        return rows

    np.testing.assert_array_equal(play(1), play(1))
    assert not np.array_equal(play(1), play(2))
