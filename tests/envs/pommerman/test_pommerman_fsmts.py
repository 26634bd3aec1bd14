"""The state-machine agent: situations with a known answer, what it remembers and what it sees."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from open_boards import Cell, open_board
from scipy.stats import chisquare

from backplay.envs.pommerman import boards, chance, rules
from backplay.envs.pommerman.agents import MEMORY, SCRATCH
from backplay.envs.pommerman.agents import fsmts_memory as kept
from backplay.envs.pommerman.agents import fsmts_options as places
from backplay.envs.pommerman.agents.fsmts import SCRATCH_NEEDED, FsmtsOptions, decide
from backplay.envs.pommerman.agents.search import MOVES, ROOT, _expand
from backplay.envs.pommerman.agents.search_model import COUNT
from backplay.envs.pommerman.layout import (
    AGENT_ALIVE,
    AGENT_AMMO,
    AGENT_FIELDS,
    AGENTS,
    BOARD,
    BOMB,
    BOMB_CELL,
    BOMB_COUNT,
    BOMB_DIRECTION,
    BOMB_FIELDS,
    BOMB_LEFT,
    BOMBS,
    DOWN,
    EXTRA_BOMB,
    FLAME,
    ITEMS,
    KICK,
    LAY,
    LEFT,
    PASSAGE,
    RANGE,
    RIGHT,
    ROW,
    SEATS,
    SIZE,
    STEP,
    STOP,
    UP,
    VIEW,
    WOOD,
)
from backplay.errors import BackplayError

ME = (5, 5)
COLUMN_6 = [(r, 6) for r in range(SIZE) if r != 5]


def cell_of(place: Cell) -> int:
    return SIZE * place[0] + place[1] + 1


@dataclass
class Player:
    """Seat 0 (or another) with its memory; streams and scratch are its own."""

    seat: int = 0
    goal: Cell | None = None
    before: int = 0
    place_before: Cell | None = None
    target: int | None = None
    owners: dict[Cell, int] = field(default_factory=dict)
    recent: list[Cell] = field(default_factory=list)
    options: FsmtsOptions = field(default_factory=FsmtsOptions)

    def __post_init__(self) -> None:
        self.memory = np.zeros(MEMORY, np.int16)
        self.memory[kept.GOAL] = cell_of(self.goal) if self.goal else 0
        self.memory[kept.BEFORE] = self.before
        self.memory[kept.PLACE_BEFORE] = cell_of(self.place_before) if self.place_before else 0
        self.memory[kept.TARGET] = 0 if self.target is None else self.target + 1
        for place, owner in self.owners.items():
            self.memory[kept.OWNERS + cell_of(place) - 1] = owner + kept.SEAT_0
        for k, place in enumerate(self.recent):
            self.memory[kept.RECENT + kept.RECENT_CELLS - len(self.recent) + k] = cell_of(place)
        self.row = self.options.row()
        self.scratch = np.full(SCRATCH, 7, np.int16)  # whatever others left there

    def decide(self, row: np.ndarray, streams: np.ndarray) -> int:
        return int(decide(row, self.seat, self.memory, streams, 0, self.row, self.scratch))

    def has_goal(self, goal: Cell | None) -> bool:
        return bool(self.memory[kept.GOAL] == (cell_of(goal) if goal else 0))


def answers(row: np.ndarray, draws: int = 30, **memory: Any) -> tuple[list[int], list[Player]]:
    """What players with this memory do, each with a stream of its own."""
    players = [Player(**memory) for _ in range(draws)]
    return [p.decide(row, chance.streams(k, 1)) for k, p in enumerate(players)], players


def answer(row: np.ndarray, **memory: Any) -> tuple[int, Player]:
    """The one thing they all do."""
    actions, players = answers(row, **memory)
    assert len(set(actions)) == 1, f"not one action: {actions}"
    return actions[0], players[0]


def certain(row: np.ndarray, **memory: Any) -> tuple[int, Player]:
    """What a player does without drawing a random number."""
    player, streams = Player(**memory), chance.streams(5, 1)
    before = streams.copy()
    action = player.decide(row, streams)
    np.testing.assert_array_equal(streams, before, "it drew a random number")
    return action, player


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


def test_ammo_and_blast_are_believed_to_stay_what_they_were_at_first():
    rows = [open_board({0: ME}, wood=[(5, 6)], ammo=ammo) for ammo in (1, 0)]
    for frozen, expected in ((True, LAY), (False, STOP)):
        player = Player(options=FsmtsOptions(frozen_supplies=frozen))
        assert player.decide(rows[0], chance.streams(0, 1)) == LAY
        assert player.decide(rows[1], chance.streams(0, 1)) == expected


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


# What it remembers of bombs.
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
    count = _expand(row, 0, player.memory, chance.streams(0, 1), 0, player.scratch)
    assert list(player.scratch[MOVES : MOVES + count]) == moves


# What it sees, and what it needs.
def games(count: int, steps: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows of games of four such agents with their memories, every few steps."""
    seen = []
    row = np.zeros(ROW, np.int16)
    scratch, options = np.zeros(SCRATCH, np.int16), FsmtsOptions(simulations=8).row()
    rewards, actions = np.zeros(SEATS, np.int16), np.zeros(SEATS, np.int64)
    for seed in range(count):
        streams = chance.streams(seed, SEATS + 1)
        boards.generate(row, streams, SEATS)
        memory = np.zeros((SEATS, MEMORY), np.int16)
        for step in range(steps):
            if step % 7 == 0:
                seen.append((row.copy(), memory.copy()))
            for seat in range(SEATS):
                actions[seat] = decide(row, seat, memory[seat], streams, seat, options, scratch)
            assert ((actions >= STOP) & (actions <= LAY)).all()
            rules.step(row, actions)
            if rules.outcome(row, rewards):
                break
    return seen


@pytest.fixture(scope="module")
def played() -> list[tuple[np.ndarray, np.ndarray]]:
    return games(4, 300)


def outcome(row, seat, memory, options, seed=11):
    """Action, memory and stream after a decision."""
    memory, streams = memory.copy(), chance.streams(seed, 1)
    scratch = np.random.default_rng(seed).integers(0, 99, SCRATCH).astype(np.int16)
    action = decide(row, seat, memory, streams, 0, options.row(), scratch)
    return int(action), memory.tobytes(), int(streams[0])


def test_decisions_repeat_and_leave_the_game_alone(played):
    for row, memory in played[::5]:
        for seat in range(SEATS):
            before = row.copy()
            first = outcome(row, seat, memory[seat], FsmtsOptions())
            assert outcome(row, seat, memory[seat], FsmtsOptions()) == first
            np.testing.assert_array_equal(row, before)


def is_alive(row, seat):
    return row[AGENTS + seat * AGENT_FIELDS + AGENT_ALIVE] != 0


def hide(row, seat, rng, view):
    """Change what the seat does not observe: hidden items, what others carry, ages of flames..."""
    row = row.copy()
    row[ITEMS : ITEMS + SIZE * SIZE] = rng.integers(6, 9, SIZE * SIZE)
    row[FLAME + 1 :: 2] = rng.integers(0, 3, len(row[FLAME + 1 :: 2]))
    for other in set(range(SEATS)) - {seat}:
        row[AGENTS + other * AGENT_FIELDS + AGENT_AMMO :][:3] = rng.integers(0, 2, 3) + 3
    me = row[AGENTS + seat * AGENT_FIELDS]
    far = np.array([view > 0 and beyond(c, me, view) for c in range(SIZE * SIZE)], bool)
    for bomb in range(BOMBS, BOMBS + BOMB_FIELDS * row[BOMB_COUNT], BOMB_FIELDS):
        row[bomb + BOMB_DIRECTION : bomb + BOMB_FIELDS] = rng.integers(0, 4, 2)
        if far[row[bomb + BOMB_CELL]]:
            row[bomb + BOMB_LEFT : bomb + BOMB_DIRECTION] = rng.integers(2, 10, 2)
    board = row[BOARD : BOARD + SIZE * SIZE]
    anything = far & (board <= WOOD)
    board[anything] = rng.integers(PASSAGE, WOOD + 1, anything.sum())
    row[STEP] += 1
    return row


def beyond(cell, me, view):
    return max(abs(cell // SIZE - me // SIZE), abs(cell % SIZE - me % SIZE)) > view


@pytest.mark.parametrize("view", [0, 4, 2])
def test_it_decides_by_what_its_seat_observes_alone(played, view):
    rng = np.random.default_rng(0)
    for row, memory in played[1::2]:
        row = row.copy()
        row[VIEW] = view
        for seat in [k for k in range(SEATS) if is_alive(row, k)]:
            expected = outcome(row, seat, memory[seat], FsmtsOptions())
            changed = hide(row, seat, rng, view)
            assert outcome(changed, seat, memory[seat], FsmtsOptions()) == expected


def test_a_smaller_view_changes_decisions(played):
    changed = 0
    for row, memory in played:
        small = row.copy()
        small[VIEW] = 2
        for seat in range(SEATS):
            full = outcome(row, seat, memory[seat], FsmtsOptions())
            changed += outcome(small, seat, memory[seat], FsmtsOptions()) != full
    assert changed > len(played)


def test_the_dead_stop_and_draw_nothing(played):
    row, memory = played[0]
    row = row.copy()
    row[AGENTS + AGENT_ALIVE] = 0
    before = outcome(row, 0, memory[0], FsmtsOptions())
    assert before == (STOP, memory[0].tobytes(), int(chance.streams(11, 1)[0]))


SWITCHES = [
    "owner_shift",
    "unknown_bombs_invisible",
    "row0_freeze",
    "row0_target_scores_100",
    "frozen_reply",
    "stale_rollout_position",
    "duplicate_flood",
    "frozen_supplies",
]


@pytest.mark.parametrize("name", SWITCHES)
def test_every_switch_changes_something(played, name):
    other = FsmtsOptions(**{name: False})
    for seed in range(5):
        for row, memory in played:
            for seat in [k for k in range(SEATS) if is_alive(row, k)]:
                known = row, seat, memory[seat]
                if outcome(*known, other, seed) != outcome(*known, FsmtsOptions(), seed):
                    return
    pytest.fail(f"{name} changes nothing")


@pytest.mark.parametrize(("step", "forgets"), [(0, True), (1, False)])
def test_reset_on_episode_forgets_at_step_0(step, forgets):
    row = open_board({0: ME}, step=step)
    player = Player(goal=(1, 5), options=FsmtsOptions(reset_on_episode=True))
    player.decide(row, chance.streams(0, 1))
    assert player.has_goal(None) == forgets
    player = Player(goal=(1, 5))
    player.decide(row, chance.streams(0, 1))
    assert player.has_goal((1, 5))


def test_the_options_row_has_the_order_kernels_expect():
    usual = FsmtsOptions().row()
    assert usual.dtype == np.int32
    assert FsmtsOptions(simulations=123).row()[places.SIMULATIONS] == 123
    for name in [*SWITCHES, "reset_on_episode"]:
        flipped = FsmtsOptions(**{name: not getattr(FsmtsOptions(), name)}).row()
        assert list(np.flatnonzero(flipped != usual)) == [getattr(places, name.upper())]


@pytest.mark.parametrize("simulations", [0, -5, 2_000_000])
def test_a_budget_out_of_range_is_refused(simulations):
    with pytest.raises(BackplayError, match="simulations: expected 1 to 1,000,000"):
        FsmtsOptions(simulations=simulations)


def test_memory_and_scratch_are_large_enough():
    assert kept.REMEMBERED <= MEMORY
    assert SCRATCH_NEEDED <= SCRATCH
