"""The state-machine agent's states: situations with a known answer."""

import numpy as np
import pytest
from fsmts_player import ME, Player, answer, answers, cell_of, certain
from open_boards import Cell, open_board
from scipy.stats import chisquare

from backplay.envs.pommerman.agents import fsmts_memory as kept
from backplay.envs.pommerman.layout import (
    BOARD,
    BOMB,
    BOMB_COUNT,
    BOMB_DIRECTION,
    BOMBS,
    DOWN,
    EXTRA_BOMB,
    KICK,
    LAY,
    LEFT,
    RANGE,
    RIGHT,
    SIZE,
    STOP,
    UP,
)

COLUMN_6 = [(r, 6) for r in range(SIZE) if r != 5]


# Items.
@pytest.mark.parametrize(
    ("up", "right", "expected"), [(EXTRA_BOMB, KICK, UP), (KICK, EXTRA_BOMB, RIGHT)]
)
def test_of_two_items_equally_near_the_first_kind_is_fetched(up, right, expected):
    row = open_board({0: ME}, items={(2, 5): up, (5, 8): right})
    action, player = certain(row)
    assert action == expected
    assert player.memory[kept.BEFORE] == expected


@pytest.mark.parametrize(
    ("item", "expected"), [((6, 6), RIGHT), ((4, 4), UP), ((4, 6), UP), ((6, 4), LEFT)]
)
def test_ways_come_from_above_then_left_then_right(item, expected):
    assert certain(open_board({0: ME}, items={item: RANGE}))[0] == expected


def test_of_ways_from_left_and_right_the_left_one_is_taken():
    assert certain(open_board({0: ME}, items={(3, 5): RANGE}, rigid=[(4, 5)]))[0] == LEFT


def test_a_nearer_item_is_fetched_before_one_of_an_earlier_kind():
    row = open_board({0: ME}, items={(5, 9): EXTRA_BOMB, (7, 5): KICK})
    assert certain(row)[0] == DOWN


@pytest.mark.parametrize(("item", "expected"), [((10, 6), DOWN), ((10, 5), RIGHT)])
def test_what_is_more_than_15_steps_away_does_not_exist(item, expected):
    assert answer(open_board({0: (0, 0)}, items={item: KICK}))[0] == expected


# Wood.
@pytest.mark.parametrize(("ammo", "expected"), [(1, LAY), (0, STOP)])
def test_next_to_wood_it_lays_a_bomb_or_waits(ammo, expected):
    assert certain(open_board({0: ME}, wood=[(5, 6)], ammo=ammo))[0] == expected


@pytest.mark.parametrize(("blast", "expected"), [(3, STOP), (2, STOP), (1, LAY)])
def test_wood_within_the_blast_of_a_bomb_is_left_to_it(blast, expected):
    row = open_board({0: ME}, wood=[(5, 6)], rigid=COLUMN_6)
    row = with_bomb(row, (5, 8), blast, 6)
    assert certain(row)[0] == expected


def with_bomb(row: np.ndarray, place: Cell, blast: int, left: int) -> np.ndarray:
    """A bomb of any blast, also one that no agent can lay."""
    row = row.copy()
    row[BOMB_COUNT] = 1
    row[BOMBS : BOMBS + BOMB_DIRECTION] = cell_of(place) - 1, left, blast
    row[BOARD + SIZE * place[0] + place[1]] = BOMB
    return row


@pytest.mark.parametrize(("left", "expected"), [(5, STOP), (6, LAY)])
def test_a_bomb_about_to_go_off_close_by_forbids_another(left, expected):
    row = open_board({0: ME}, wood=[(5, 6)], bombs=[(4, 3, 2, left)])
    assert certain(row)[0] == expected


def test_bombs_in_line_count_as_one_that_goes_off_with_the_first():
    """Alone, the bomb at (4, 3) has time left; the others in its column and row shorten it."""
    row = open_board({0: ME}, wood=[(5, 6)], bombs=[(4, 3, 2, 9)])
    assert certain(row)[0] == LAY
    chain = [(4, 3, 2, 9), (2, 3, 2, 9), (0, 3, 2, 9), (0, 1, 2, 5)]
    assert certain(open_board({0: ME}, wood=[(5, 6)], bombs=chain))[0] == STOP


@pytest.mark.parametrize(("woods", "expected"), [([(1, 5), (5, 9)], UP), ([(0, 5), (5, 9)], RIGHT)])
def test_it_walks_to_the_nearest_wood(woods, expected):
    assert certain(open_board({0: ME}, wood=woods))[0] == expected


@pytest.mark.parametrize(("wood", "expected"), [((6, 6), RIGHT), ((6, 7), DOWN)])
def test_wood_more_than_12_steps_away_is_not_walked_to(wood, expected):
    assert answer(open_board({0: (0, 0)}, wood=[wood]))[0] == expected


def test_wood_is_walked_to_from_above_rather_than_from_below():
    assert certain(open_board({0: ME}, wood=[(5, 9)], rigid=[(5, 8), (5, 10)]))[0] == UP


def all_rigid_but(*free: Cell) -> list[Cell]:
    return [(r, c) for r in range(SIZE) for c in range(SIZE) if (r, c) not in free]


@pytest.mark.parametrize(("turn", "expected"), [(5, LAY), (6, STOP)])
def test_to_lay_a_bomb_there_must_be_shelter_within_five_steps(turn, expected):
    corridor = [(5, c) for c in range(1, turn + 1)] + [(4, turn)]
    row = open_board({0: (5, 1)}, wood=[(5, 0)], rigid=all_rigid_but(*corridor, (5, 0)))
    assert certain(row)[0] == expected


# Fleeing.
def test_it_flees_from_a_bomb_in_a_clear_line_however_far():
    action, player = certain(open_board({0: (5, 1)}, bombs=[(5, 9, 2, 9)]))
    assert action == UP
    assert player.has_goal((4, 1))
    assert player.memory[kept.BEFORE] == UP
    assert player.memory[kept.PLACE_BEFORE] == 0


def test_a_wall_shields_unless_the_bomb_is_near():
    row = open_board({0: (5, 1)}, bombs=[(5, 9, 2, 9)], rigid=[(5, 5)], items={(8, 1): KICK})
    assert certain(row)[0] == DOWN
    row = open_board({0: ME}, bombs=[(5, 7, 4, 9)], rigid=[(5, 6)], items={(8, 5): KICK})
    assert certain(row)[1].has_goal((4, 5))


def test_from_its_own_bomb_it_flees_around_a_corner():
    action, player = certain(open_board({0: ME}, bombs=[(5, 5, 2, 9)], ammo=0))
    assert action == UP
    assert player.has_goal((4, 4))


CORNERS = [(3, 4), (4, 3), (3, 6), (4, 7)]


@pytest.mark.parametrize(
    ("enemies", "expected", "goal"), [({1: (5, 6)}, LEFT, (6, 4)), ({}, UP, (4, 4))]
)
def test_with_an_enemy_near_it_does_not_flee_into_corners(enemies, expected, goal):
    row = open_board({0: ME, **enemies}, bombs=[(5, 5, 2, 9)], rigid=CORNERS, ammo=0)
    action, player = certain(row)
    assert action == expected
    assert player.has_goal(goal)


def test_of_equally_near_cells_it_flees_by_the_less_threatened_way():
    """(3, 4) and (7, 4) are three steps away; one way leads through column 5, the other past walls.

    Cells between walls are nearer, but no place to be with an enemy near.
    """
    row = open_board(
        {0: ME, 1: (5, 8)},
        bombs=[(5, 5, 2, 9), (4, 10, 2, 9)],
        rigid=[(6, 3), (6, 5), (6, 7)],
    )
    action, player = certain(row)
    assert player.has_goal((7, 4))
    assert action == LEFT


def test_without_a_safe_cell_it_moves_at_random():
    box = [(r, c) for r in (4, 6) for c in range(3, 8)] + [(5, 3), (5, 7)]
    actions, players = answers(open_board({0: ME}, rigid=box, bombs=[(5, 6, 2, 5)]), draws=900)
    counts = np.bincount(actions, minlength=6)
    assert set(np.flatnonzero(counts)) == {STOP, LEFT, RIGHT}
    assert chisquare(counts[counts > 0]).pvalue > 1e-4
    assert all(player.has_goal(None) for player in players)


def test_fleeing_at_random_it_avoids_flames():
    box = [(r, c) for r in (4, 6) for c in range(3, 8)] + [(5, 7)]
    row = open_board({0: ME}, rigid=box, bombs=[(5, 6, 2, 5)], flames=[(5, 4)])
    assert set(answers(row)[0]) == {STOP, RIGHT}


# The committed walk.
def test_committed_it_minds_neither_items_nor_enemies():
    row = open_board({0: ME, 1: (5, 7)}, items={(5, 6): KICK})
    action, player = certain(row, goal=(3, 5))
    assert action == UP
    assert player.has_goal((3, 5))
    assert player.memory[kept.BEFORE] == UP
    assert player.memory[kept.PLACE_BEFORE] == cell_of(ME)


def test_a_goal_is_given_up_on_arrival():
    action, player = certain(open_board({0: ME}, items={(5, 6): KICK}), goal=ME)
    assert action == RIGHT
    assert player.has_goal(None)


def test_stuck_on_its_way_it_lays_a_bomb():
    action, player = certain(open_board({0: ME}), goal=(4, 4), before=UP, place_before=ME)
    assert action == LAY
    assert player.has_goal(None)
    for before, place in ((UP, (6, 5)), (LEFT, ME)):
        action, _ = certain(open_board({0: ME}), goal=(4, 4), before=before, place_before=place)
        assert action == UP


def test_an_unreachable_goal_is_given_up():
    wall = [(r, 7) for r in range(SIZE)]
    row = open_board({0: ME}, rigid=wall, items={(5, 6): KICK})
    action, player = certain(row, goal=(5, 9))
    assert action == RIGHT
    assert player.has_goal(None)


def test_a_step_into_a_blast_that_arrives_is_made_without_simulation():
    row = open_board({0: ME}, bombs=[(3, 6, 3, 5)])
    action, player = answer(row, goal=(5, 6), owners={(3, 6): 1})
    assert action == RIGHT
    assert player.has_goal((5, 6))
    assert player.memory[kept.PLACE_BEFORE] == 0


def test_where_nothing_is_allowed_it_walks_on():
    bombs = [(r, 8, 3, 5) for r in (4, 5, 6)]
    action, player = answer(open_board({0: ME}, bombs=bombs), goal=(3, 5))
    assert action == UP
    assert player.memory[kept.PLACE_BEFORE] == cell_of(ME)


def test_before_a_blast_it_searches_for_a_safe_move():
    row = open_board({0: (5, 2)}, bombs=[(3, 3, 3, 5)])
    actions, players = answers(row, draws=200, goal=(5, 5))
    assert set(actions) == {STOP, UP, DOWN, LEFT}
    assert all(player.has_goal((5, 5)) for player in players)
    assert not any(player.memory[kept.PLACE_BEFORE] for player in players)


# Attacking.
TRAP = [(4, 6), (6, 6), (5, 7)]


def test_a_trapped_enemy_is_bombed_without_simulation():
    action, player = answer(open_board({0: ME, 1: (5, 6)}, rigid=TRAP))
    assert action == LAY
    assert player.memory[kept.TARGET] == 2


def test_it_does_not_lay_a_bomb_it_cannot_flee_from():
    rows = [(r, c) for r in (4, 6) for c in range(6)]
    assert answer(open_board({0: ME, 1: (5, 6)}, rigid=TRAP + rows))[0] == STOP


def test_an_enemy_four_steps_away_is_approached():
    action, player = certain(open_board({0: ME, 1: (5, 9)}))
    assert action == RIGHT
    assert player.memory[kept.TARGET] == 0
    assert player.memory[kept.BEFORE] == RIGHT


def test_a_target_four_steps_away_is_still_attacked():
    actions, players = answers(open_board({0: ME, 1: (5, 9)}), draws=200, target=1)
    assert all(player.memory[kept.TARGET] == 2 for player in players)
    assert set(actions) > {RIGHT, LAY}


def test_a_target_five_steps_away_is_dropped():
    action, player = certain(open_board({0: ME, 1: (5, 10)}), target=1)
    assert action == RIGHT
    assert player.memory[kept.TARGET] == 0


def test_a_dropped_target_is_not_replaced_in_the_same_decision():
    action, player = certain(open_board({0: ME, 1: (5, 10), 2: (5, 8)}), target=1)
    assert action == RIGHT
    assert player.memory[kept.TARGET] == 0
    _, player = answer_any(open_board({0: ME, 1: (5, 10), 2: (5, 8)}))
    assert player.memory[kept.TARGET] == 3


def answer_any(row: np.ndarray) -> tuple[int, Player]:
    actions, players = answers(row, draws=1)
    return actions[0], players[0]


def test_of_two_enemies_equally_near_the_higher_seat_is_approached():
    assert certain(open_board({0: ME, 1: (5, 9), 2: (1, 5)}))[0] == UP


def test_an_approach_under_threat_is_left_for_an_item():
    row = open_board({0: ME, 1: (5, 10)}, bombs=[(2, 6, 2, 5)], items={(6, 4): KICK})
    assert certain(row)[0] == LEFT


def test_without_ammo_it_does_not_attack():
    row = open_board({0: ME, 1: (5, 6)}, items={(2, 5): KICK}, ammo=0)
    assert certain(row)[0] == UP


def test_a_teammate_is_no_target_but_in_the_way():
    row = open_board({0: ME, 2: (5, 6)}, items={(5, 7): KICK}, team=1)
    action, player = certain(row)
    assert action == UP  # around the teammate
    assert player.memory[kept.TARGET] == 0
