"""States as JSON, what is no state, and differences in words."""

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scenes import scene

from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman import states
from backplay.errors import BackplayError

GOLDEN = Path(__file__).parents[2] / "golden" / "pommerman"


def plain() -> dict[str, Any]:
    """Two agents, a bomb under one of them, a bomb, a flame, wood over an item."""
    row = scene("ab.* w...", "o... ..>.", hidden={(1, 0): 7}, ammo=3)
    return states.to_json(row)


def some_states() -> list[dict[str, Any]]:
    with gzip.open(GOLDEN / "stress_1.jsonl.gz", "rt") as file:
        games = [json.loads(line) for line, _ in zip(file, range(40), strict=False)]
    keys = ("t", "b", "bo", "fl", "ag", "it")
    return [{k: step[k] for k in keys} for game in games for step in game["steps"]]


def test_json_and_row_and_back() -> None:
    for state in some_states():
        back = states.to_json(states.from_json(state))
        assert {**back, "it": sorted(back["it"])} == {**state, "it": sorted(state["it"])}
        json.dumps(back)


def test_variants_and_words_go_along() -> None:
    variant = {"team": 1, "view": 4, "max_blast": 4, "collapse": 1, "radio": 1, "limit": 400}
    row = scene("a.b.c", **variant)
    row[at.WORDS : at.BOARD] = range(8)
    state = json.loads(json.dumps(states.to_json(row)))
    assert state["variant"] == variant
    assert state["words"] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    np.testing.assert_array_equal(states.from_json(state), row)


Break = Callable[[dict[str, Any]], Any]


def cell(r: int, c: int, digit: str) -> Break:
    at_ = 11 * r + c
    return lambda state: state.update(b=state["b"][:at_] + digit + state["b"][at_ + 1 :])


def entry(**values: Any) -> Break:
    return lambda state: state.update(values)


def number(of: str, which: int, place: int, value: int) -> Break:
    return lambda state: state[of][which].__setitem__(place, value)


def more(of: str, value: Any) -> Break:
    return lambda state: state[of].append(value)


BROKEN: dict[str, tuple[Break, str]] = {
    "9 x 9": (lambda s: s.update(b=s["b"][:81]), "b, the board: expected 121 cells, got 81 cells"),
    "a board of numbers": (entry(b=7), "b, the board: expected 121 hexadecimal digits"),
    "a strange digit": (cell(0, 2, "x"), "board, at (0, 2): expected a digit 0..9, a..d"),
    "an unknown cell": (cell(0, 2, "e"), "board at (0, 2): expected 0..4, 6..8 or 10..13"),
    "fog": (cell(0, 2, "5"), "board at (0, 2): expected 0..4, 6..8 or 10..13, got 5"),
    "a fourteenth": (cell(0, 2, "9"), "board at (0, 2): expected 0..4, 6..8 or 10..13"),
    "agent in a wall": (cell(0, 1, "1"), "agent 1: expected a free cell, got rigid wall at (0, 1)"),
    "agent in wood": (cell(0, 1, "2"), "agent 1: expected a free cell, got wood at (0, 1)"),
    "agents in one cell": (
        number("ag", 1, 1, 0),
        "agents 0 and 1: expected a cell each, got both at (0, 0)",
    ),
    "agent not drawn": (cell(0, 1, "0"), "board at (0, 1): expected 11 for agent 1, got 0"),
    "agent drawn, but dead": (
        cell(0, 2, "c"),
        "board at (0, 2): expected no agent 2: the state has none there",
    ),
    "bombs in one cell": (
        more("bo", [1, 2, 5, 2, 0, 1]),
        "bombs 1 and 2: expected a cell each, got both at (1, 2)",
    ),
    "bomb not drawn": (cell(1, 2, "0"), "board at (1, 2): expected 3 for bomb 1, got 0"),
    "bomb drawn, not listed": (
        cell(0, 2, "3"),
        "board at (0, 2): expected no bomb: the state has none there",
    ),
    "flame not drawn": (cell(0, 3, "0"), "board at (0, 3): expected 4 for flame 0, got 0"),
    "flame drawn, not listed": (
        cell(0, 2, "4"),
        "board at (0, 2): expected no flame: the state has none there",
    ),
    "bomb in flames": (
        more("fl", [1, 2, 1]),
        "bomb 1 at (1, 2): expected no flames, got flame 1 there too",
    ),
    "agent in flames": (
        more("fl", [0, 1, 1]),
        "agent 1 at (0, 1): expected no flames, got flame 1 there too",
    ),
    "too much ammo": (number("ag", 2, 3, 11), "ammo of agent 2: expected 0..10, got 11"),
    "debts": (number("ag", 2, 3, -1), "ammo of agent 2: expected 0..10, got -1"),
    "half alive": (number("ag", 0, 2, 2), "agent 0 alive: expected 0..1, got 2"),
    "no blast": (number("ag", 0, 4, 0), "blast strength of agent 0: expected 1..10, got 0"),
    "half a kick": (number("ag", 0, 5, 3), "agent 0 can kick: expected 0..1, got 3"),
    "three agents": (lambda s: s["ag"].pop(), "ag: expected 4 agents, got 3"),
    "five agents": (
        lambda s: s["ag"].append(s["ag"][0]),
        "ag, agent: expected a list of at most 4 entries",
    ),
    "agent off the board": (number("ag", 3, 0, 11), "ag, agent 3, row: expected 0..10, got 11"),
    "a direction": (number("bo", 1, 4, 5), "direction of bomb 1 at (1, 2): expected 0..4, got 5"),
    "an owner": (number("bo", 1, 5, 4), "owner of bomb 1 at (1, 2): expected 0..3, got 4"),
    "a spent bomb": (number("bo", 1, 2, 0), "life of bomb 1 at (1, 2): expected 1..10, got 0"),
    "a bomb's blast": (
        number("bo", 1, 3, 11),
        "blast strength of bomb 1 at (1, 2): expected 1..10, got 11",
    ),
    "a bomb in four numbers": (lambda s: s["bo"][1].pop(), "bo, bomb 1: expected 6 numbers"),
    "a bomb in words": (more("bo", "here"), "bo, bomb 2: expected 6 numbers, got 'here'"),
    "a flame's life": (number("fl", 0, 2, 3), "life of flame 0 at (0, 3): expected 0..2, got 3"),
    "too many flames": (
        entry(fl=[[0, 3, 1]] * 122),
        "number of flames with life 1: expected 0..121, got 122",
    ),
    "a flame too many": (
        entry(fl=[[0, 3, 1]] * 364),
        "fl, flame: expected a list of at most 363 entries, got 364",
    ),
    "item in the open": (
        more("it", [1, 1, 8]),
        "item hidden at (1, 1): expected wood or flames over it",
    ),
    "an item's kind": (number("it", 0, 2, 9), "item hidden at (1, 0): expected 6..8, got 9"),
    "two items": (more("it", [1, 0, 8]), "hidden items at (1, 0): expected one, got two"),
    "no time": (lambda s: s.pop("t"), "state: expected an entry 't'"),
    "half a step": (entry(t=1.5), "t, the step: expected a whole number, got 1.5"),
    "a negative step": (entry(t=-1), "t, the step: expected 0..32767, got -1"),
    "a huge number": (number("ag", 0, 3, 10**9), "ag, agent 0: expected -32768..32767"),
    "an unknown variant": (entry(variant={"fog": 1}), "variant: expected some of limit, team"),
    "a strange variant": (entry(variant={"team": 2}), "variant team: expected 0..1, got 2"),
    "radio without teams": (entry(variant={"radio": 1}), "variant radio: expected 0 without teams"),
    "words without radio": (entry(words=[[1, 1]] * 4), "words: expected none without radio"),
    "words of three": (entry(words=[[1, 1]] * 3), "words: expected two of each of four seats"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_no_state_is_refused_with_the_place(case: str) -> None:
    state = copy.deepcopy(plain())
    states.from_json(state)
    breaking, message = BROKEN[case]
    breaking(state)
    with pytest.raises(BackplayError) as error:
        states.from_json(state)
    assert message in str(error.value)


@pytest.mark.parametrize("state", [None, [], "state", {"t": 0}, {"variant": 3}])
def test_what_is_no_dictionary_of_a_state_is_refused(state: Any) -> None:
    with pytest.raises(BackplayError, match=r"^state: expected"):
        states.from_json(state)


def test_rows_of_another_shape_and_litter_after_the_lists_are_refused() -> None:
    row = scene("a.b")
    for wrong in (row[:-1], row.astype(np.int32), row[None], row.tolist()):
        with pytest.raises(BackplayError, match=r"state row: expected int16\[1610\]"):
            states.validate(wrong)
    for place in (at.BOMBS, at.FLAME + 3, at.ROW - 1):
        litter = row.copy()
        litter[place] = 1
        with pytest.raises(BackplayError, match="zeros after its bombs and flames"):
            states.validate(litter)
    for place, most in ((at.BOMB_COUNT, 121), (at.FLAME_COUNT, 363)):
        counted = row.copy()
        counted[place] = most + 1
        with pytest.raises(BackplayError, match=f"expected 0..{most}"):
            states.validate(counted)


def test_actions() -> None:
    assert states.check_actions([0, 5, 1, 2]).dtype == np.int64
    assert states.check_actions(np.zeros((3, 4), np.int8)).shape == (3, 4)
    for actions, message in (
        (
            [0, 6, 1, 2],
            r"action of seat 1: expected 0..5 \(stop, up, down, left, right, bomb\), got 6",
        ),
        ([[0] * 4, [0, 0, -1, 0]], "action of seat 2 in game 1: expected 0..5"),
        ([0, 1, 2], r"actions: expected 4 a game, got shape \(3,\)"),
        (3, "actions: expected 4 a game"),
        ([0.0, 1.0, 2.0, 3.0], "actions: expected whole numbers 0..5"),
        ([True, False, True, False], "actions: expected whole numbers 0..5"),
        ([0, 1, 2, None], "actions: expected whole numbers 0..5"),
        ([[0], [1, 2]], "actions: expected whole numbers 0..5"),
    ):
        with pytest.raises(BackplayError, match=message):
            states.check_actions(actions)


def test_differences_name_the_fields() -> None:
    row = states.from_json(plain())
    assert states.differences(row, row.copy()) == []
    other = row.copy()
    other[at.AGENTS + 2 * at.AGENT_FIELDS + at.AGENT_AMMO] = 0
    other[at.BOMBS + at.BOMB_FIELDS + at.BOMB_CELL] = 12
    other[at.BOARD + 2] = at.WOOD
    other[at.STEP] = 4
    assert states.differences(row, other) == [
        "step: 0, 4",
        "agent 2 ammo: 3, 0",
        "bomb 1 cell: (1, 2), (1, 1)",
        "board (0, 2): 0, 2",
    ]
    fewer = row.copy()
    fewer[at.FLAME_COUNT] = 0
    assert states.differences(row, fewer) == ["flame 0: (0, 3) left 0, none"]
    litter = row.copy()
    litter[-1] = 1
    assert states.differences(row, litter) == ["numbers after the ends of the lists"]
