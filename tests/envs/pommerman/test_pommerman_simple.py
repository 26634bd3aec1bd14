"""The simple agent against the recorded one, and against a second, slow implementation."""

from collections import Counter

import numpy as np
import pytest
from agreement import Verdict, cases, p_value, read_lines, tally, verdict
from numba import njit
from scipy.stats import chi2
from simple_reference import outcomes

from backplay.envs import chance
from backplay.envs.pommerman import boards, rules, states
from backplay.envs.pommerman.agents import MEMORY, SCRATCH, simple
from backplay.envs.pommerman.layout import (
    ACTIONS,
    AGENT,
    AGENT_ALIVE,
    AGENT_AMMO,
    AGENT_FIELDS,
    AGENTS,
    DOWN,
    LAY,
    LEFT,
    RIGHT,
    ROW,
    SEATS,
    SIZE,
    STOP,
    TEAM,
    UP,
    VIEW,
)

NO_OPTIONS = np.zeros(1, np.int32)
NO_MEMORY = np.zeros(1, np.int64)
USED = simple.VISITED + simple.VISITS  # the part of the memory row that the agent uses


@njit(nogil=True)
def decide(s, seat, memory, streams, i, options, scratch):
    return simple.decide(s, seat, memory, streams, i, scratch)


@njit(nogil=True)
def decide_often(s, seat, before, streams, actions, after, scratch):
    """Decisions from each memory of before[n], many streams: actions and memories [n, draws]."""
    memory = np.zeros(MEMORY, np.int16)
    for k in range(len(before)):
        for i in range(actions.shape[1]):
            for place in range(USED):
                memory[place] = (before[k] >> (7 * place)) & 127
            actions[k, i] = simple.decide(s, seat, memory, streams, i, scratch)
            after[k, i] = 0
            for place in range(USED):
                after[k, i] |= np.int64(memory[place]) << (7 * place)


class Decisions:
    """What the kernel does in a state, tried with many streams; a memory is one packed number."""

    def __init__(self, draws):
        self.streams = chance.streams(7, draws)
        self.scratch = np.zeros(SCRATCH, np.int16)

    def __call__(self, row, seat, before=NO_MEMORY):
        shape = len(before), len(self.streams)
        actions, after = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        decide_often(row, seat, before, self.streams, actions, after, self.scratch)
        return actions, after


def test_recorded_decisions_are_possible_and_as_frequent_as_they_should_be():
    """All 11,252 decisions of the simple agents in 24 recorded games."""
    made, impossible, surplus, variance = 0, [], np.zeros(ACTIONS), np.zeros(ACTIONS)
    for game in read_lines("games.jsonl.gz"):
        rows = rows_of(game)
        for seat in [k for k in range(SEATS) if game["agents"][k] == "simple"]:
            did = [step["a"][seat] for step in game["steps"]]
            chances = follow(rows, did, seat, draws=24)
            if len(chances) < len(rows) and is_alive(rows[len(chances)], seat):
                chances = follow(rows, did, seat, draws=1024)  # a rare memory may have been missed
            made += len(chances)
            if len(chances) < len(rows) and is_alive(rows[len(chances)], seat):
                impossible.append((game["seed"], seat, "step", len(chances)))
            for p, action in zip(chances, did, strict=False):
                surplus += (np.arange(ACTIONS) == action) - p
                variance += p * (1 - p)
    assert impossible == []
    assert made == 11252
    assert np.abs(surplus / np.sqrt(variance)).max() < 4


def follow(rows, did, seat, draws):
    """The odds of the actions in every state of a game, until the seat dies or does the impossible.

    Keeps all the memories that explain what the seat did so far, each with its weight.
    """
    decisions, chances = Decisions(draws), []
    known, weights = NO_MEMORY, np.ones(1)
    for row, action in zip(rows, did, strict=True):
        if not is_alive(row, seat):
            break
        actions, after = decisions(row, seat, known)
        each = np.repeat(weights / draws, draws)
        match = actions.ravel() == action
        if not match.any():
            break
        chances.append(np.bincount(actions.ravel(), each, ACTIONS))
        known, which = np.unique(after.ravel()[match], return_inverse=True)
        weights = np.bincount(which, each[match]) / each[match].sum()
    return chances


def rows_of(game):
    """The states before every step of a recorded game."""
    row, rows = states.from_json(game["s0"]), []
    for step in game["steps"]:
        rows.append(row.copy())
        rules.step(row, np.array(step["a"]))
    assert states.differences(row, states.from_json(game["steps"][-1])) == []
    return rows


def is_alive(row, seat):
    return row[AGENTS + seat * AGENT_FIELDS + AGENT_ALIVE] == 1


def test_fresh_agents_choose_like_the_recorded_ones():
    """374 states, 64 decisions each: the same action where it is certain, else the same odds."""
    p_values, certain, wrong = {}, 0, []
    for case in cases("simple"):
        ours = tally(decide, case, NO_OPTIONS, draws=1024)
        p_values[case.name] = p_value(case.counts, ours)
        certain += is_certain(case.counts)
        if (
            is_certain(case.counts) != is_certain(ours)
            or case.counts.argmax() not in ours.nonzero()[0]
        ):
            wrong.append((case.name, case.counts, ours))
    assert wrong == []
    assert (len(p_values), certain) == (374, 170)
    assert verdict(p_values) == Verdict(odd=[], too_many=False, matching=374)


def is_certain(counts):
    return np.count_nonzero(counts) == 1


@pytest.mark.parametrize("env", ["PommeFFACompetition-v0", "PommeTeamCompetition-v0"])
def test_decisions_are_those_of_the_reference(env):
    """Crowded states, free for all or teams in the fog, any memory: all outcomes and their odds."""
    rng = np.random.default_rng(11)
    decisions, distance, freedom = Decisions(draws=512), 0.0, 0
    for line in read_lines("observations.jsonl.gz"):
        if line["env"] != env:
            continue
        variant = {} if "FFA" in env else {"team": 1, "view": 4, "max_blast": 4}
        row = states.from_json({**line["state"], "variant": variant})
        for seat, observation in enumerate(line["obs"]):
            if AGENT + seat not in observation["alive"]:
                continue
            for _ in range(4):
                memory = some_memory(rng, observation["position"])
                odds = outcomes(observation, memory)
                expected = {(action, packed(then)): p for (action, then), p in odds.items()}
                actions, after = decisions(row, seat, np.array([packed(memory)]))
                got = Counter(zip(actions[0].tolist(), after[0].tolist(), strict=True))
                assert set(got) == set(expected), (line["state"], seat, memory)
                n = actions.size
                distance += sum((got[key] - n * p) ** 2 / (n * p) for key, p in expected.items())
                freedom += len(expected) - 1
    assert freedom > 100
    assert chi2.sf(distance, freedom) > 1e-4


def some_memory(rng, position):
    """A last step to an enemy, and up to six visits near the position."""
    visits = np.clip(rng.integers(-1, 2, (rng.integers(7), 2)) + position, 0, SIZE - 1)
    return int(rng.integers(5)), tuple(map(tuple, visits.tolist()))


def packed(memory):
    """A memory of the reference as the number that `decide_often` reads and writes."""
    step, visits = memory
    slots = [step, *[0] * (simple.VISITS - len(visits)), *(SIZE * r + c + 1 for r, c in visits)]
    return sum(slot << (7 * place) for place, slot in enumerate(slots))


OPEN_5 = ["     "] * 5

# Seat 0 (a) decides on a corner of the board, the rest is rigid; bombs are (row, col, blast).
EXAMPLES = {
    "a bomb underfoot: right before down": (["a  ", "   "], [(0, 0, 2)], {RIGHT}),
    "not into a dead end": (["a 1", " 11", "  1"], [(0, 0, 2)], {DOWN}),
    "stay where all ends are dead": (["a 1", " 11", "111"], [(0, 0, 2)], {STOP}),
    "a corridor longer than the blast": (["a    1"], [(0, 0, 2)], {RIGHT}),
    "a corridor as long as the blast": (["a   1"], [(0, 0, 2)], {STOP}),
    "bombs on all sides: up first": (
        ["  3  ", "     ", "3 a 3", "     ", "  3  "],
        [(4, 2, 2), (2, 4, 2), (2, 0, 2), (0, 2, 2)],
        {UP},
    ),
    "left before what is underfoot": (["3 a  ", *OPEN_5], [(0, 2, 2), (0, 0, 2)], {LEFT}),
    "right before below": (
        [*OPEN_5[:2], "  a  ", "     ", "  3  "],
        [(2, 2, 2), (4, 2, 2)],
        {RIGHT},
    ),
    "the blast of the bomb ahead counts too": (["a    3"], [(0, 0, 2), (0, 5, 5)], {STOP}),
    "of two bombs ahead the larger blast": (
        ["11", "1 ", "1 ", "1 ", "a 33", " 11 ", "    "],
        [(4, 0, 2), (4, 2, 2), (4, 3, 7)],
        {DOWN},
    ),
    "away from a bomb, or aside": (["  a 3", "     "], [(0, 4, 2)], {LEFT, DOWN}),
    "walls do not shield": ([" a13", "    "], [(0, 3, 4)], {LEFT, DOWN}),
    "a walk longer than the blast": ([" a13", "    "], [(0, 3, 3)], {DOWN}),
    "nowhere but towards the bomb": (["a 3", "1  "], [(0, 2, 2)], {RIGHT}),
    "ten rows below the first is out of sight": (["a", *" " * 9, "3"], [(10, 0, 10)], {STOP}),
    "nine rows below is not": (["1", "a", *" " * 8, "3"], [(10, 0, 10)], {DOWN}),
    "an enemy beside, and a way out": (["ab ", "   "], [], {LAY}),
    "an enemy beside, no way out": (["ab ", "111"], [], {RIGHT}),
    "an enemy three steps off, two ways": (["a 1", "  b"], [], {RIGHT, DOWN}),
    "the later of two enemies": (["a b", "   ", "c  "], [], {DOWN}),
    "an item two steps off": (["a 6", "   "], [], {RIGHT}),
    "the higher of two items": (["a 8", "   ", "6  "], [], {RIGHT}),
    "the later of two alike": (["a 6", "   ", "6  "], [], {DOWN}),
    "right after left": (["6a6", "   "], [], {RIGHT}),
    "left after up": ([" 6 ", "6a ", "   "], [], {LEFT}),
    "two ways to the later of two": (["6 6", " a ", "   "], [], {UP, RIGHT}),
    "the nearer of two items": (["a6 ", "   ", "8  "], [], {RIGHT}),
    "wood beside, a passage off the lines": (["a2 ", "   "], [], {LAY}),
    "wood beside, a passage beyond the blast": (["a2", *[" 1"] * 3], [], {LAY}),
    "wood beside, no way out": (["a2", *[" 1"] * 2], [], {STOP}),
    "wood beside, a passage ten steps off": (["1", "a2", " ", " ", *"666666", "6 "], [], {LAY}),
    "wood beside, a passage eleven steps off": (
        ["1", "a2", " ", " ", *"666666", "66 "],
        [],
        {STOP},
    ),
    "wood two steps off": (["a 2", "   "], [], {RIGHT}),
    "wood two steps off, past a bomb": (["a 2", " 3 "], [(1, 1, 2)], {STOP}),
    "nothing near": (["a  ", "   "], [], {RIGHT, DOWN}),
    "locked in": (["a1", "1 "], [], {STOP}),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_rules_one_by_one(name):
    rows, bombs, expected = EXAMPLES[name]
    actions, _ = Decisions(draws=64)(corner(rows, bombs), 0)
    assert set(actions[0].tolist()) == expected


def corner(rows, bombs):
    """A state with these cells in the corner of a rigid board; agents not on it are dead."""
    board = "\n".join(row.ljust(SIZE, "1") for row in rows).replace(" ", "0")
    board = board.replace("\n", "").ljust(SIZE * SIZE, "1")
    seats = [board.find(letter) for letter in "abcd"]
    return states.from_json(
        {
            "t": 5,
            "b": board,
            "bo": [[r, c, 9, blast, 0, 0] for r, c, blast in bombs],
            "fl": [],
            "ag": [[*divmod(max(cell, 0), SIZE), int(cell >= 0), 1, 2, 0] for cell in seats],
            "it": [],
        }
    )


def test_without_ammo_no_bomb():
    row = corner(["ab ", "   "], [])
    row[AGENTS + AGENT_AMMO] = 0
    actions, _ = Decisions(draws=16)(row, 0)
    assert set(actions[0].tolist()) == {RIGHT}


@pytest.mark.parametrize(("view", "expected"), [(0, {DOWN}), (2, {RIGHT, DOWN}), (3, {DOWN})])
def test_a_bomb_in_the_fog_is_no_danger(view, expected):
    row = corner(["a  3", " 111"], [(0, 3, 3)])
    row[VIEW] = view
    actions, _ = Decisions(draws=64)(row, 0)
    assert set(actions[0].tolist()) == expected


def test_a_mate_is_no_enemy_and_can_be_walked_through():
    row = corner(["acb", "   "], [])
    row[TEAM] = 1
    actions, _ = Decisions(draws=64)(row, 0)
    assert set(actions[0].tolist()) == {RIGHT}  # on to the enemy behind


def test_the_dead_draw_nothing_and_keep_their_memory():
    row = corner(["a  ", "   "], [])
    streams, memory = chance.streams(3, 4), np.arange(MEMORY, dtype=np.int16)
    assert simple.decide(row, 1, memory, streams, 1, np.zeros(SCRATCH, np.int16)) == STOP
    np.testing.assert_array_equal(streams, chance.streams(3, 4))
    np.testing.assert_array_equal(memory, np.arange(MEMORY))


def test_games_of_four_are_as_long_and_as_often_tied_as_the_recorded_ones():
    """Of 200 recorded games 46 were ties; mean 374 steps, median 323."""
    lengths, ties = play_games(chance.streams(0, 100, SEATS + 1))
    assert abs(lengths.mean() - 374) < 4 * np.sqrt(lengths.var() * (1 / 100 + 1 / 200))
    share = (46 + ties) / 300
    assert abs(ties / 100 - 46 / 200) < 4 * np.sqrt(share * (1 - share) * (1 / 100 + 1 / 200))
    longer = int((lengths > 323).sum())
    assert abs(longer / 100 - 0.5) < 4 * np.sqrt(0.25 * (1 / 100 + 1 / 200))


@njit(nogil=True)
def play_games(streams):
    """The number of steps of each of n games, and how many had no winner; streams[n, 5]."""
    s, memory = np.zeros(ROW, np.int16), np.zeros((SEATS, MEMORY), np.int16)
    scratch, actions = np.zeros(SCRATCH, np.int16), np.zeros(SEATS, np.int64)
    rewards, lengths, ties = np.zeros(SEATS, np.int16), np.zeros(len(streams), np.int64), 0
    for n in range(len(streams)):
        boards.generate(s, streams[n], SEATS)
        memory[:] = 0
        done = 0
        while not done:
            for seat in range(SEATS):
                actions[seat] = simple.decide(s, seat, memory[seat], streams[n], seat, scratch)
            rules.step(s, actions)
            done = rules.outcome(s, rewards)
            lengths[n] += 1
        ties += rewards.max() < 1
    return lengths, ties
