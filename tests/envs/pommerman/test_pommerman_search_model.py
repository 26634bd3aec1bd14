"""The game that the state-machine agent's search imagines, against the rules."""

from collections import Counter

import numpy as np
import pytest
from agreement import read_lines
from imagined_states import agent, imagined
from open_boards import Cell, open_board

from backplay.envs.pommerman import rules, states
from backplay.envs.pommerman.agents import search_model as model
from backplay.envs.pommerman.agents.padded import FLAT, PAD
from backplay.envs.pommerman.layout import (
    AGENT,
    AGENT_AMMO,
    BOARD,
    BOMB,
    BOMB_COUNT,
    BOMB_DIRECTION,
    BOMB_FIELDS,
    BOMBS,
    CELLS,
    DOWN,
    EXTRA_BOMB,
    FLAME,
    FLAME_COUNT,
    FLAMES,
    ITEMS,
    KICK,
    PASSAGE,
    RANGE,
    RIGHT,
    SEATS,
    SIZE,
    START_AMMO,
    START_BLAST,
    STOP,
    UP,
)

FREEZE, MOBILE = np.int64(1), np.int64(0)


class Imagined:
    """A state of the model and the space to step it."""

    def __init__(self, row: np.ndarray):
        self.m = imagined(row)
        self.work = np.zeros(model.WORK, np.int16)

    def step(self, *actions: int, freeze: np.int64 = MOBILE) -> None:
        self.work[model.ACTION : model.ACTION + SEATS] = actions
        model.advance(self.m, self.work, freeze)
        assert not self.work[model.CROWD : model.FIRE].any(), "the space is not clean after a step"

    def place(self, seat: int) -> Cell:
        row, col = divmod(int(FLAT[self.m[model.PLACE + seat]]), SIZE)
        return row, col

    def shows(self, place: Cell) -> int:
        return int(self.m[PAD[SIZE * place[0] + place[1]]])

    def bombs(self) -> list[tuple[int, ...]]:
        n, fields = int(self.m[model.COUNT]), model.FUSED_FIELDS
        listed = self.m[model.FUSED : model.FUSED + n * fields].reshape(n, fields)
        return [(int(FLAT[cell]), *map(int, rest)) for cell, *rest in listed]


# The model against the rules.
def simplified(row: np.ndarray) -> np.ndarray:
    """The row with all that the model leaves out: resting bombs, fresh flames, plain agents."""
    row = row.copy()
    row[ITEMS : ITEMS + CELLS] = 0
    for seat in range(SEATS):
        agent(row, seat)[AGENT_AMMO:] = START_AMMO, START_BLAST, 0
    row[BOMBS + BOMB_DIRECTION : BOMBS + BOMB_FIELDS * row[BOMB_COUNT] : BOMB_FIELDS] = STOP
    burning = np.flatnonzero(row[BOARD : BOARD + CELLS] == FLAMES)
    row[FLAME:] = 0
    row[FLAME_COUNT] = len(burning)
    row[FLAME : FLAME + 2 * len(burning) : 2] = burning
    row[FLAME + 1 : FLAME + 1 + 2 * len(burning) : 2] = 2
    return row


def assert_same(row: np.ndarray, game: Imagined) -> None:
    np.testing.assert_array_equal(game.m[PAD], row[BOARD : BOARD + CELLS])
    bombs = row[BOMBS : BOMBS + BOMB_FIELDS * row[BOMB_COUNT]].reshape(-1, BOMB_FIELDS)
    assert game.bombs() == [(c, left, blast, owner) for c, left, blast, _, owner in bombs.tolist()]
    for seat in range(SEATS):
        cell, alive, *carries = agent(row, seat).tolist()
        assert bool(model.stands(game.m, seat)) == bool(alive)
        if alive:
            assert FLAT[game.m[model.PLACE + seat]] == cell
            where = (model.AMMO, model.STRENGTH, model.KICKS)
            assert [game.m[place + seat] for place in where] == carries


def test_a_step_of_the_model_is_a_step_of_the_game():
    """Crowded states; two steps, for then flames would end, and one where a kick was picked up."""
    rng = np.random.default_rng(3)
    seen: Counter[str] = Counter()
    for line in read_lines("stress_1.jsonl.gz"):
        for state in line["steps"][::9]:
            row = simplified(states.from_json({**state, "variant": {}}))
            game = Imagined(row)
            for _ in range(2):
                bombs = row[BOMB_COUNT]
                actions = rng.integers(0, 6, SEATS)
                rules.step(row, actions)
                game.step(*actions)
                assert_same(row, game)
                seen["steps"] += 1
                seen["bursts"] += int(row[BOMB_COUNT] < bombs)
                if any(agent(row, seat)[4] for seat in range(SEATS)):
                    break
    assert seen["steps"] > 500
    assert seen["bursts"] > 50


def test_a_kicker_stays_where_it_is():
    game = Imagined(open_board({0: (5, 5), 1: (9, 9)}, bombs=[(5, 6, 2, 8)]))
    game.m[model.KICKS] = 1
    game.step(RIGHT, STOP, STOP, STOP)
    assert game.place(0) == (5, 5)
    assert [bomb[:2] for bomb in game.bombs()] == [(SIZE * 5 + 7, 7)]
    assert game.shows((5, 6)) == PASSAGE
    assert game.shows((5, 7)) == BOMB


@pytest.mark.parametrize(
    "blocked", [{"rigid": [(5, 7)]}, {"items": {(5, 7): RANGE}}, {"wood": [(5, 7)]}]
)
def test_a_kick_that_is_blocked_moves_nothing(blocked):
    game = Imagined(open_board({0: (5, 5)}, bombs=[(5, 6, 2, 8)], **blocked))
    game.m[model.KICKS] = 1
    game.step(RIGHT, STOP, STOP, STOP)
    assert game.place(0) == (5, 5)
    assert [bomb[0] for bomb in game.bombs()] == [SIZE * 5 + 6]


def test_a_bomb_kicked_into_flames_goes_off():
    game = Imagined(open_board({0: (5, 5)}, bombs=[(5, 6, 2, 8)], flames=[(5, 7)]))
    game.m[model.KICKS] = 1
    game.step(RIGHT, STOP, STOP, STOP)
    assert game.bombs() == []
    assert game.shows((4, 7)) == FLAMES


def test_items_are_picked_up():
    for item, place in ((EXTRA_BOMB, model.AMMO), (RANGE, model.STRENGTH), (KICK, model.KICKS)):
        game = Imagined(open_board({0: (5, 5)}, items={(5, 6): item}))
        before = int(game.m[place])
        game.step(RIGHT, STOP, STOP, STOP)
        assert game.m[place] == before + 1


def test_a_bomb_the_search_does_not_know_is_drawn_but_can_be_entered():
    game = Imagined(open_board({0: (5, 5)}, bombs=[(5, 6, 2, 1)]))
    game.m[model.COUNT] = 0
    game.step(RIGHT, STOP, STOP, STOP)
    assert game.place(0) == (5, 6)
    game.step(RIGHT, STOP, STOP, STOP)
    assert game.shows((5, 6)) == PASSAGE


@pytest.mark.parametrize(("freeze", "place"), [(FREEZE, (0, 5)), (MOBILE, (1, 5))])
def test_in_row_0_agents_may_be_frozen(freeze, place):
    game = Imagined(open_board({0: (0, 5), 1: (9, 9)}))
    game.step(DOWN, UP, STOP, STOP, freeze=freeze)
    assert game.place(0) == place
    assert game.shows(place) == AGENT
    assert game.place(1) == (8, 9)


def test_frozen_agents_neither_burn_nor_block():
    burning = Imagined(open_board({0: (0, 5)}, bombs=[(0, 7, 3, 1)]))
    burning.step(STOP, STOP, STOP, STOP, freeze=FREEZE)
    assert burning.shows((0, 5)) == FLAMES  # overwritten: it counts as dead from now on
    assert not model.stands(burning.m, 0)
    walked_over = Imagined(open_board({0: (0, 5), 1: (1, 5)}))
    walked_over.step(STOP, UP, STOP, STOP, freeze=FREEZE)
    assert walked_over.shows((0, 5)) == AGENT + 1
    on_a_bomb = Imagined(open_board({0: (0, 5)}, bombs=[(0, 5, 2, 8)]))
    on_a_bomb.step(STOP, STOP, STOP, STOP, freeze=FREEZE)
    assert on_a_bomb.shows((0, 5)) == BOMB
