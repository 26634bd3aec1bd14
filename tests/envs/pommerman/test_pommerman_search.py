"""The state-machine agent's search: the moves it tries, and what simulations come to."""

from collections import Counter

import numpy as np
import pytest
from fsmts_player import ME, Player
from imagined_states import imagined
from open_boards import Cell, open_board

from backplay.envs import chance
from backplay.envs.pommerman.agents import MEMORY, SCRATCH
from backplay.envs.pommerman.agents import fsmts_memory as kept
from backplay.envs.pommerman.agents import search as tree
from backplay.envs.pommerman.agents import search_model as model
from backplay.envs.pommerman.agents.fsmts_maps import look
from backplay.envs.pommerman.agents.fsmts_options import FsmtsOptions
from backplay.envs.pommerman.agents.padded import PAD
from backplay.envs.pommerman.agents.search_scores import evade_score
from backplay.envs.pommerman.layout import DOWN, EXTRA_BOMB, KICK, LAY, LEFT, RIGHT, SIZE, STOP, UP


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


# The moves it tries.
BOMB_ABOVE = {"bombs": [(4, 5, 2, 5)]}


@pytest.mark.parametrize(
    ("situation", "moves"),
    [
        ({}, [STOP, UP, DOWN, LEFT, LAY]),
        ({"kick": 1}, [STOP, UP, DOWN, LEFT, RIGHT, LAY]),
        ({"ammo": 0}, [STOP, UP, DOWN, LEFT]),
        ({"rigid": [(4, 5)], "wood": [(6, 5)]}, [STOP, LEFT, LAY]),
        ({"items": {(4, 5): KICK}, "flames": [(6, 5)]}, [STOP, UP, LEFT, LAY]),
        (BOMB_ABOVE, [STOP, DOWN, LEFT, LAY]),
        ({"kick": 1, **BOMB_ABOVE}, [STOP, UP, DOWN, LEFT, RIGHT, LAY]),
        ({"kick": 1, "wood": [(3, 5)], **BOMB_ABOVE}, [STOP, DOWN, LEFT, RIGHT, LAY]),
        ({"kick": 1, "items": {(3, 5): KICK}, **BOMB_ABOVE}, [STOP, DOWN, LEFT, RIGHT, LAY]),
        ({"bombs": [(5, 5, 2, 9)]}, [STOP, UP, DOWN, LEFT]),
    ],
)
def test_a_search_tries_the_moves_that_make_sense(situation, moves):
    """Enemy 1 stands to the right."""
    row = open_board({0: ME, 1: (5, 6)}, **situation)
    player = Player()
    player.decide(row, chance.streams(0, 1))
    count = tree._expand(row, 0, player.memory, chance.streams(0, 1), 0, player.scratch)
    assert list(player.scratch[tree.MOVES : tree.MOVES + count]) == moves


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
