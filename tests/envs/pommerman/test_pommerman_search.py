"""The state-machine agent's search: the game it imagines, what it is worth, what it comes to."""

from collections import Counter

import numpy as np
import pytest
from agreement import read_lines
from open_boards import Cell, open_board

from backplay.envs.pommerman import chance, rules, states
from backplay.envs.pommerman.agents import MEMORY, SCRATCH
from backplay.envs.pommerman.agents import fsmts_memory as kept
from backplay.envs.pommerman.agents import search as tree
from backplay.envs.pommerman.agents import search_model as model
from backplay.envs.pommerman.agents.fsmts import FsmtsOptions
from backplay.envs.pommerman.agents.fsmts_maps import look
from backplay.envs.pommerman.agents.padded import FLAT, PAD, PADDED
from backplay.envs.pommerman.agents.search_scores import (
    SCORE_WORK,
    attack_score,
    evade_score,
    trapped,
)
from backplay.envs.pommerman.layout import (
    AGENT,
    AGENT_AMMO,
    AGENT_FIELDS,
    AGENTS,
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
    LAY,
    LEFT,
    PASSAGE,
    RANGE,
    RIGHT,
    RIGID,
    SEATS,
    SIZE,
    START_AMMO,
    START_BLAST,
    STOP,
    UP,
)

FREEZE, MOBILE = np.int64(1), np.int64(0)


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


# What a state is worth.
def attack(row: np.ndarray, row0: bool = True, repeat: bool = True) -> float:
    work = np.full(SCORE_WORK, 5, np.int16)
    return float(attack_score(imagined(row), 0, np.int64(1), row0, repeat, work))


@pytest.mark.parametrize(
    ("me", "target", "bombs", "expected"),
    [
        ((5, 8), (5, 5), [], -68),
        ((5, 6), (5, 5), [], -11),
        ((1, 1), (1, 2), [], 17),
        ((5, 8), (5, 5), [(4, 4, 2, 5)], -12),
        ((5, 8), (0, 5), [], 100),
    ],
)
def test_attack_scores(me, target, bombs, expected):
    assert attack(open_board({0: me, 1: target}, bombs=bombs)) == expected


def test_attack_scores_without_oddities():
    row = open_board({0: (5, 10), 1: (5, 5)})
    assert attack(row) == 100 - 4 * 45 + 5
    assert attack(row, repeat=False) == 100 - 4 * 25 + 5
    assert attack(open_board({0: (5, 10), 1: (0, 5)}), row0=False, repeat=False) == 100 - 64 + 2


def test_the_dead_score_least_and_a_dead_target_most():
    assert attack(open_board({0: (5, 8)})) == 100
    dead = imagined(open_board({0: (5, 8), 1: (5, 5)}))
    dead[dead[model.PLACE]] = FLAMES
    work = np.zeros(SCORE_WORK, np.int16)
    assert attack_score(dead, 0, np.int64(1), True, True, work) == -100
    assert evade_score(dead, 0) == -100


@pytest.mark.parametrize(
    ("bomb", "expected"),
    [
        ((5, 8, 2, 9), -5),
        ((5, 6, 2, 4), 82.5),
        ((5, 6, 2, 10), 100),
        ((5, 5, 2, 9), 100),
        ((3, 8, 2, 4), 82.5),
        ((4, 7, 4, 4), 100),
    ],
)
def test_evade_scores(bomb, expected):
    assert evade_score(imagined(open_board({0: (5, 8)}, bombs=[bomb])), 0) == expected


@pytest.mark.parametrize("between", ["rigid", "wood", "flames"])
def test_walls_and_flames_keep_a_bomb_off(between):
    row = open_board({0: (5, 8)}, bombs=[(5, 6, 2, 4)], **{between: [(5, 7)]})
    assert evade_score(imagined(row), 0) == 100


def test_bombs_add_up():
    row = open_board({0: (5, 8)}, bombs=[(5, 6, 2, 4), (7, 8, 3, 9)])
    assert evade_score(imagined(row), 0) == 100 - 17.5 - 5


# When it is won.
def test_a_target_without_exits_is_trapped():
    sides = {0: (4, 5)}
    around = {"rigid": [(5, 4)], "wood": [(5, 6)], "bombs": [(6, 5, 2, 5)]}
    assert trapped(imagined(open_board({**sides, 1: (5, 5)}, **around)), 0, np.int64(1))
    for leave_out in around:
        fewer = {name: cells for name, cells in around.items() if name != leave_out}
        assert not trapped(imagined(open_board({**sides, 1: (5, 5)}, **fewer)), 0, np.int64(1))
    flames = {"rigid": [(5, 4)], "wood": [(5, 6)], "flames": [(6, 5)]}
    assert not trapped(imagined(open_board({**sides, 1: (5, 5)}, **flames)), 0, np.int64(1))


def test_the_edge_of_the_board_is_no_exit():
    row = open_board({0: (0, 1), 1: (0, 0)}, rigid=[(1, 0)])
    assert trapped(imagined(row), 0, np.int64(1))


def test_a_dead_target_is_a_win_for_the_living():
    m = imagined(open_board({0: (5, 5)}))
    assert trapped(m, 0, np.int64(1))
    m[m[model.PLACE]] = FLAMES
    assert not trapped(m, 0, np.int64(1))


# Random steps.
def test_random_moves_are_those_open_around_a_cell():
    row = open_board({0: (5, 5), 1: (4, 5)}, rigid=[(6, 5)], items={(5, 6): KICK})
    m, streams = imagined(row), chance.streams(1, 1)
    around = np.int64(m[model.PLACE])
    counts = Counter(int(tree._my_random_move(m, 0, around, streams, 0)) for _ in range(2000))
    assert set(counts) == {STOP, LEFT, RIGHT, LAY}
    assert min(counts.values()) > 400
    around = np.int64(PAD[SIZE * 8 + 8])
    elsewhere = {int(tree._my_random_move(m, 0, around, streams, 0)) for _ in range(200)}
    assert elsewhere == {STOP, UP, DOWN, LEFT, RIGHT, LAY}


# The search itself.
class Tree:
    """Seat 0's tree of a situation; the bombs listed in `known` were seen being laid by seat 1."""

    def __init__(self, row: np.ndarray, known: tuple[Cell, ...] = (), **options: bool):
        self.row, self.options = row, FsmtsOptions(**options).row()
        self.streams = chance.streams(2, 1)
        self.memory, self.w = np.zeros(MEMORY, np.int16), np.zeros(SCRATCH, np.int16)
        self.memory[kept.BELIEVED_AMMO] = 2
        for r, c in known:
            self.memory[kept.OWNERS + SIZE * r + c] = kept.SEAT_0 + 1
        look(row, 0, self.w)
        tree._imagine(self.memory, self.options, self.w)
        self.count = tree._expand(row, 0, self.memory, self.streams, 0, self.w)

    def child(self, move: int) -> np.ndarray:
        k = list(self.w[tree.MOVES : tree.MOVES + self.count]).index(move)
        return self.w[tree.CHILDREN + k * model.STATE :][: model.STATE]

    def values(self, move: int, goal: Cell, draws: int = 400) -> set[float]:
        """What simulations of a move towards a goal come to."""
        k = list(self.w[tree.MOVES : tree.MOVES + self.count]).index(move)
        place = np.int64(PAD[SIZE * goal[0] + goal[1]])
        own = float(evade_score(self.child(move), 0))
        space = (self.streams, 0, self.options, self.w)
        return {
            float(tree._simulate(k, own, 0, tree.NO_TARGET, place, *space)) for _ in range(draws)
        }


def test_children_start_with_what_the_search_assumes():
    row = open_board({0: (5, 5), 1: (9, 9)}, items={(4, 5): KICK, (6, 5): EXTRA_BOMB})
    for move in (UP, DOWN, LAY):
        child = Tree(row).child(move)
        assert list(child[model.AMMO : model.COUNT]) == [1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0]
        assert child[model.COUNT] >= (move == LAY)


def test_a_simulation_ends_where_it_is_won():
    """One way out of a box, towards the goal and into the blast of a known bomb.

    Staying is worth 100, a bomb laid under me -5 or one step later -7.5. The goal would be worth
    less than 100 for the known bomb.
    """
    box = [(4, 5), (6, 5), (5, 4), (4, 6), (6, 6)]
    row = open_board({0: (5, 5)}, rigid=box, bombs=[(5, 8, 2, 9)])
    assert Tree(row, known=((5, 8),)).values(STOP, (5, 6)) == {100, -5, -7.5}
    assert Tree(row, known=((5, 8),)).values(STOP, (9, 9)) > {100, -5, -7.5}


@pytest.mark.parametrize(("goal", "values"), [((0, 0), {-100, 100}), ((9, 9), {-100})])
def test_the_dead_are_looked_for_in_the_corner(goal, values):
    row = open_board({0: (5, 5)}, bombs=[(5, 6, 2, 1)])
    assert Tree(row, known=((5, 6),)).values(STOP, goal) == values


def draws_of(tree_search: Tree, target: int, allowed: int) -> tuple[int, int]:
    """The move of a search, and how many random numbers it took."""
    streams = chance.streams(4, 1)
    reference = streams.copy()
    row, memory, options, w = (
        tree_search.row,
        tree_search.memory,
        tree_search.options,
        tree_search.w,
    )
    move = tree.search(
        row, 0, memory, np.int64(target), tree.NO_GOAL, np.int64(allowed), streams, 0, options, w
    )
    count = 0
    while reference[0] != streams[0]:
        chance.draw(reference, 0)
        count += 1
    return int(move), count


def test_without_a_choice_nothing_is_simulated():
    there = Tree(open_board({0: (5, 5), 1: (5, 8), 2: (9, 9)}))
    assert draws_of(there, 1, 1 << UP) == (UP, 12)  # six moves, two others
    assert draws_of(there, 1, 0) == (-1, 12)
    assert draws_of(there, 1, 1 << UP | 1 << DOWN)[1] > 12 + 50


def test_the_first_child_is_next_on_equal_terms():
    sums, counts = np.array([100.0, 100.0, 300.0]), np.array([1.0, 1.0, 3.0])
    assert tree._next(3, True, sums, counts) == 0
    assert tree._next(3, False, sums, counts) == 0
    second = np.array([0.0, 1.0, 0.0])
    assert tree._next(3, True, sums + second, counts) == 1
    assert tree._next(3, False, sums, counts - second) == 1
