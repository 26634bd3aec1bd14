"""What the state-machine agent remembers: who laid which bomb, where it wandered, its supplies."""

import numpy as np
import pytest
from fsmts_player import ME, Player, answer, answers, cell_of
from open_boards import open_board
from scipy.stats import chisquare

from backplay.envs import chance
from backplay.envs.pommerman.agents import MEMORY, SCRATCH
from backplay.envs.pommerman.agents import fsmts_memory as kept
from backplay.envs.pommerman.agents.fsmts import SCRATCH_NEEDED
from backplay.envs.pommerman.agents.fsmts_options import FsmtsOptions
from backplay.envs.pommerman.agents.search import ROOT
from backplay.envs.pommerman.agents.search_model import COUNT
from backplay.envs.pommerman.layout import DOWN, LAY, RIGHT, SEATS, SIZE, STOP, UP


def test_memory_and_scratch_are_large_enough():
    assert kept.REMEMBERED <= MEMORY
    assert SCRATCH_NEEDED <= SCRATCH


# Bombs.
@pytest.mark.parametrize("seat", range(SEATS))
@pytest.mark.parametrize("shift", [True, False])
def test_a_fresh_bomb_belongs_to_the_seat_below_whoever_stands_on_it(seat, shift):
    row = open_board({0: (0, 0), seat: (9, 9)}, bombs=[(9, 9, 2, 9)])
    player = Player(options=FsmtsOptions(owner_shift=shift))
    player.decide(row, chance.streams(0, 1))
    owners = player.memory[kept.OWNERS : kept.OWNERS + SIZE * SIZE]
    assert owners[cell_of((9, 9)) - 1] == kept.SEAT_0 + seat - shift
    assert np.count_nonzero(owners) == 1


def test_the_owner_of_a_kicked_bomb_goes_with_it():
    row = open_board({0: (0, 0)}, bombs=[(8, 9, 2, 5), (2, 9, 2, 5)])
    player = Player(owners={(9, 9): 2, (5, 5): 1, (2, 9): 0, (1, 9): 3})
    player.decide(row, chance.streams(0, 1))
    owners = player.memory[kept.OWNERS : kept.OWNERS + SIZE * SIZE]
    assert owners[cell_of((8, 9)) - 1] == kept.SEAT_0 + 2
    assert owners[cell_of((2, 9)) - 1] == kept.SEAT_0  # it had one
    assert np.count_nonzero(owners) == 2


@pytest.mark.parametrize(("invisible", "seen"), [(True, 2), (False, 4)])
def test_a_search_sees_bombs_it_saw_being_laid_but_for_those_of_seat_minus_one(invisible, seen):
    bombs = [(0, 8, 2, 5), (10, 8, 2, 5), (9, 9, 2, 5), (8, 10, 2, 5)]
    row = open_board({0: ME, 1: (5, 6)}, bombs=bombs)
    player = Player(
        owners={(0, 8): 0, (10, 8): 3, (9, 9): -1},
        options=FsmtsOptions(unknown_bombs_invisible=invisible),
    )
    player.decide(row, chance.streams(0, 1))
    assert player.scratch[ROOT + COUNT] == seen


# Wandering.
def test_with_nothing_to_do_it_wanders():
    action, player = answer(open_board({0: ME}))
    assert action == UP
    assert player.memory[kept.VISITS + cell_of(ME) - 1] == 1
    assert list(player.memory[kept.RECENT : kept.RECENT + 6]) == [0, 0, 0, 0, 0, cell_of(ME)]


def test_wandering_mostly_avoids_recent_cells():
    actions, players = answers(open_board({0: ME}), draws=1200, recent=[(4, 5)])
    counts = np.bincount(actions, minlength=6)
    assert set(np.flatnonzero(counts)) == {UP, DOWN}
    assert chisquare(counts[[DOWN, UP]], [900, 300]).pvalue > 1e-4
    assert list(players[0].memory[kept.RECENT + 4 : kept.RECENT + 6]) == [
        cell_of((4, 5)),
        cell_of(ME),
    ]


def test_where_all_cells_are_recent_none_is_avoided():
    recent = [(4, 5), (6, 5), (5, 4), (5, 6), ME]
    assert answer(open_board({0: ME}), recent=recent)[0] == UP


def test_wandering_does_not_stay_where_it_can_go():
    player = Player()
    player.memory[kept.VISITS : kept.RECENT] = 9
    player.memory[kept.VISITS + cell_of(ME) - 1] = 0
    assert player.decide(open_board({0: ME}), chance.streams(3, 1)) == UP


def test_wandering_prefers_where_it_left_from_least_often():
    player = Player()
    player.memory[kept.VISITS + cell_of((4, 5)) - 1] = 2
    player.memory[kept.VISITS + cell_of((6, 5)) - 1] = 1
    player.memory[kept.VISITS + cell_of((5, 4)) - 1] = 1
    assert player.decide(open_board({0: ME}), chance.streams(3, 1)) == RIGHT


def test_closed_in_it_stays():
    row = open_board({0: ME}, rigid=[(4, 5), (6, 5), (5, 4), (5, 6)])
    assert answer(row)[0] == STOP


# What it believes to carry, and forgets.
def test_ammo_and_blast_are_believed_to_stay_what_they_were_at_first():
    rows = [open_board({0: ME}, wood=[(5, 6)], ammo=ammo) for ammo in (1, 0)]
    for frozen, expected in ((True, LAY), (False, STOP)):
        player = Player(options=FsmtsOptions(frozen_supplies=frozen))
        assert player.decide(rows[0], chance.streams(0, 1)) == LAY
        assert player.decide(rows[1], chance.streams(0, 1)) == expected


@pytest.mark.parametrize(("step", "forgets"), [(0, True), (1, False)])
def test_reset_on_episode_forgets_at_step_0(step, forgets):
    row = open_board({0: ME}, step=step)
    player = Player(goal=(1, 5), options=FsmtsOptions(reset_on_episode=True))
    player.decide(row, chance.streams(0, 1))
    assert player.has_goal(None) == forgets
    player = Player(goal=(1, 5))
    player.decide(row, chance.streams(0, 1))
    assert player.has_goal((1, 5))
