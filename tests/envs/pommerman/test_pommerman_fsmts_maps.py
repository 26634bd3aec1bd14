"""What the state-machine agent sees in games, and what its options change there."""

import numpy as np
import pytest

from backplay.envs import chance
from backplay.envs.pommerman import boards, rules
from backplay.envs.pommerman.agents import MEMORY, SCRATCH
from backplay.envs.pommerman.agents import fsmts_options as places
from backplay.envs.pommerman.agents.fsmts import decide
from backplay.envs.pommerman.agents.fsmts_options import FsmtsOptions
from backplay.envs.pommerman.layout import (
    AGENT_ALIVE,
    AGENT_AMMO,
    AGENT_FIELDS,
    AGENTS,
    BOARD,
    BOMB_CELL,
    BOMB_COUNT,
    BOMB_DIRECTION,
    BOMB_FIELDS,
    BOMB_LEFT,
    BOMBS,
    FLAME,
    ITEMS,
    LAY,
    PASSAGE,
    ROW,
    SEATS,
    SIZE,
    STEP,
    STOP,
    VIEW,
    WOOD,
)
from backplay.errors import BackplayError


# What it sees.
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


# Its options.
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
