"""What imagined states are worth to the state-machine agent's search, and when it is won."""

import numpy as np
import pytest
from imagined_states import imagined
from open_boards import open_board

from backplay.envs.pommerman.agents import search_model as model
from backplay.envs.pommerman.agents.search_scores import (
    SCORE_WORK,
    attack_score,
    evade_score,
    trapped,
)
from backplay.envs.pommerman.layout import FLAMES


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
