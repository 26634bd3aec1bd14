"""The rules: exact on the public game's recorded games, and case by case."""

from pathlib import Path

import numpy as np
import pytest
from scenes import drawing, drawn_bombs, scene

from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman import rules, states, traces
from backplay.errors import BackplayError

GOLDEN = Path(__file__).parents[2] / "golden" / "pommerman"
STOP, UP, DOWN, LEFT, RIGHT, LAY = range(6)


@pytest.mark.parametrize(
    ("name", "games", "steps"),
    [
        ("games", 24, 4633),
        ("stress_1", 1250, 11791),
        ("stress_2", 1250, 12509),
        ("edges", 3000, 17515),
    ],
)
def test_every_step_of_every_public_trace_is_exact(name: str, games: int, steps: int) -> None:
    report = traces.verify([GOLDEN / f"{name}.jsonl.gz"])
    assert report.first is None, str(report)
    assert (report.games, report.steps) == (games, steps)


def play(row: states.Row, *turns: tuple[int, ...]) -> states.Row:
    for actions in turns:
        rules.step(row, np.array([*actions, *[STOP] * (4 - len(actions))]))
    states.validate(row)
    return row


MOVES = {
    "swap: both stay": ("ab.", "", "", (RIGHT, LEFT), "ab.", "..."),
    "following a leaving agent": ("ab.", "", "", (RIGHT, RIGHT), ".ab", "..."),
    "four in a ring": ("ab dc", "", "", (RIGHT, DOWN, LEFT, UP), "da cb", ".. .."),
    "two want a cell, a third follows": ("ca.b", "", "", (RIGHT, LEFT, RIGHT), "ca.b", "...."),
    "into walls and off the board": ("a#w b..", "", "", (UP, LEFT), "a#w b..", "... ..."),
    "into wood": ("wa.", "", "", (LEFT,), "wa.", "..."),
    "no kick: stay before a bomb": ("a.. ...", ".o. ...", "", (RIGHT,), "a.. ...", ".o. ..."),
    "kick a resting bomb": ("a...", ".o..", "a", (RIGHT,), ".a..", "..>."),
    "kick against wood": ("a.w", ".o.", "a", (RIGHT,), "a.w", ".o."),
    "kick against an item": ("a.6", ".o.", "a", (RIGHT,), "a.6", ".o."),
    "kick against a bomb": ("a..", ".oo", "a", (RIGHT,), "a..", ".oo"),
    "kick against the edge": (".a", "o.", "a", (LEFT,), ".a", "o."),
    "kick against an agent": ("a.b", ".o.", "a", (RIGHT,), "a.b", ".o."),
    "kick onto a cell being left": ("a.b.", ".o..", "a", (RIGHT, RIGHT), ".a.b", "..>."),
    "kick onto a cell being entered": ("a..b", ".o..", "a", (RIGHT, LEFT), "a.b.", ".o.."),
    "bomb rolls on": ("....", "..<.", "", (), "....", ".<.."),
    "bomb stops at the edge": ("....", "<...", "", (), "....", "o..."),
    "bomb stops before an agent": ("a...", ".<..", "", (), "a...", ".o.."),
    "bomb stops before an item": ("8...", ".<..", "", (), "8...", ".o.."),
    "bomb stops before a bomb": ("...", "o<.", "", (), "...", "oo."),
    "head on without kick: both stay": ("a...", ".<..", "", (RIGHT,), "a...", ".o.."),
    "same cell without kick: both stay": ("a...", "..<.", "", (RIGHT,), "a...", "..o."),
    "same cell with kick: sent back": ("a...", "..<.", "a", (RIGHT,), ".a..", "..>."),
    "head on with kick": ("a...", ".<..", "a", (RIGHT,), ".a..", "..>."),
    "kick turns a bomb": ("a.. ... ...", "... <.. ...", "a", (DOWN,), "... a.. ...", "... ... v.."),
    "an agent follows a bomb": ("a...", ".>..", "", (RIGHT,), ".a..", "..>."),
    "two bombs cross: both stop": ("....", ".><.", "", (), "....", ".oo."),
    "two bombs want a cell": ("...", ">.<", "", (), "...", "o.o"),
    "leave a bomb while another enters": ("ab..", "o...", "", (DOWN, LEFT), "ab..", "o..."),
    "leave a bomb, no kick": ("ab .#", "o. ..", "", (DOWN, LEFT), ".b a#", "o. .."),
    "leave a bomb, kick": (".ab .##", ".o. ...", "b", (DOWN, LEFT), ".ab .##", ".o. ..."),
    "leave a bomb, kick it on": (".ab ..#", ".o. ...", "b", (DOWN, LEFT), ".b. .a#", "<.. ..."),
}


@pytest.mark.parametrize("case", MOVES)
def test_who_goes_where(case: str) -> None:
    board, bombs, kick, actions, board_after, bombs_after = MOVES[case]
    row = play(scene(board, bombs, kick=kick), actions)
    assert drawing(row, board) == board_after
    assert drawn_bombs(row, board) == bombs_after


def test_a_bomb_explodes_nine_steps_after_it_was_laid_and_burns_for_three() -> None:
    row = scene("a.... ##### b....")
    play(row, (LAY,), (RIGHT,), (RIGHT,), (RIGHT,))
    assert states.to_json(row)["bo"] == [[0, 0, 6, 2, 0, 0]]
    assert row[at.AGENTS + at.AGENT_AMMO] == 0
    play(row, *[()] * 5)
    assert drawing(row, ".....") == "...a."
    play(row, ())
    assert drawing(row, ".....") == "**.a."
    assert states.to_json(row)["fl"] == [[0, 0, 2], [0, 1, 2]]
    assert row[at.AGENTS + at.AGENT_AMMO] == 1
    play(row, (), ())
    assert drawing(row, ".....") == "**.a."
    entered = play(row.copy(), (LEFT,))  # the third step after the explosion: the flame is gone
    assert drawing(entered, ".....") == "..a.."
    play(row, (LEFT,), (LEFT,))
    assert drawing(row, ".....") == ".a..."


def test_an_item_is_taken_before_the_blast_kills() -> None:
    row = scene("a8. ###", "..o ...")
    row[at.BOMBS + at.BOMB_LEFT] = 1
    play(row, (RIGHT,))
    assert states.to_json(row)["ag"][0] == [0, 1, 0, 2, 2, 1]
    assert drawing(row, "... ###") == ".** ###"


def test_walking_into_a_live_flame_is_deadly() -> None:
    row = scene("a*. b..", flame_left=1)
    play(row, (RIGHT,))
    assert states.to_json(row)["ag"][0][:3] == [0, 1, 0]
    assert drawing(row, "...") == ".*."
    before = row.copy()
    play(row, (LEFT,))
    assert states.to_json(row)["ag"][0] == states.to_json(before)["ag"][0]  # the dead do not act


def test_a_bomb_rolls_through_a_dying_flame_and_explodes_in_a_live_one() -> None:
    dying = play(scene("..*.", ".>..", flame_left=0), ())
    assert drawn_bombs(dying, "....") == "..>."
    live = play(scene("..*.", ".>..", flame_left=1), ())
    assert drawing(live, "....") == ".***"
    assert states.to_json(live)["fl"] == [[0, 2, 0], [0, 1, 2], [0, 2, 2], [0, 3, 2]]


def test_wood_stops_the_blast_of_every_bomb_of_the_step() -> None:
    board = ".w.. #### ...."
    row = scene(board, "o.o. .... ....", blast=4)
    row[at.BOMBS + at.BOMB_LEFT] = 1
    row[at.BOMBS + 5 + at.BOMB_LEFT] = 1
    play(row, ())
    assert drawing(row, board) == "**** #### ...."
    assert states.to_json(row)["bo"] == []


def test_a_chain_reaches_on_and_flames_are_listed_row_by_row() -> None:
    row = scene("..... .###.", "o.o.o .....", blast=3)
    row[at.BOMBS + 10 + at.BOMB_LEFT] = 1
    play(row, ())
    assert states.to_json(row)["fl"] == [[0, c, 2] for c in range(5)] + [[1, 0, 2], [1, 4, 2]]
    assert row[at.AGENTS + at.AGENT_AMMO] == 4  # three bombs come back, to a dead owner too


def test_wood_burns_down_to_its_item_and_a_second_fire_destroys_it() -> None:
    row = scene("*b.", hidden={(0, 0): 7})
    assert drawing(play(row.copy(), ()), "...") == "7b."
    again = scene("*..", "..o", hidden={(0, 0): 7}, blast=3)
    again[at.BOMBS + at.BOMB_LEFT] = 2
    again[at.FLAME + at.FLAME_LEFT] = 2
    play(again, (), ())
    assert drawing(again, "...") == "***"
    play(again, (), (), ())
    assert drawing(again, "...") == "..."
    assert not again[at.ITEMS : at.AGENTS].any()


@pytest.mark.parametrize(
    ("item", "field", "value", "most", "variant"),
    [
        ("6", at.AGENT_AMMO, 9, 10, {}),
        ("7", at.AGENT_BLAST, 9, 10, {}),
        ("7", at.AGENT_BLAST, 3, 4, {"team": 1, "view": 4, "max_blast": 4}),
        ("8", at.AGENT_KICK, 0, 1, {}),
    ],
)
def test_items_raise_to_a_limit(
    item: str, field: int, value: int, most: int, variant: dict[str, int]
) -> None:
    row = scene(f"a{item}{item}", **variant)
    row[at.AGENTS + field] = value
    play(row, (RIGHT,))
    assert row[at.AGENTS + field] == most
    play(row, (RIGHT,))
    assert row[at.AGENTS + field] == most


def test_returned_ammo_is_capped() -> None:
    row = scene("b.. ###", "..o ...", ammo=10)
    row[at.BOMBS + at.BOMB_LEFT] = 1
    assert play(row, ())[at.AGENTS + at.AGENT_AMMO] == 10


def test_no_bomb_on_a_bomb_and_none_without_ammo() -> None:
    assert states.to_json(play(scene("a.", "o."), (LAY,)))["bo"] == [[0, 0, 8, 2, 0, 0]]
    assert states.to_json(play(scene("a.", ammo=0), (LAY,)))["bo"] == []


@pytest.mark.parametrize(
    ("living", "step", "team", "done", "rewards"),
    [
        ("abcd", 10, 0, 0, [0, 0, 0, 0]),
        ("ac", 10, 0, 0, [0, -1, 0, -1]),
        ("c", 10, 0, 1, [-1, -1, 1, -1]),
        ("c", 800, 0, 1, [-1, -1, 1, -1]),
        ("", 10, 0, 1, [-1, -1, -1, -1]),
        ("abd", 799, 0, 0, [0, 0, -1, 0]),
        ("abd", 800, 0, 1, [-1, -1, -1, -1]),
        ("abcd", 10, 1, 0, [0, 0, 0, 0]),
        ("ab", 10, 1, 0, [0, 0, 0, 0]),
        ("ac", 10, 1, 1, [1, -1, 1, -1]),
        ("a", 10, 1, 1, [1, -1, 1, -1]),
        ("d", 10, 1, 1, [-1, 1, -1, 1]),
        ("bd", 800, 1, 1, [-1, 1, -1, 1]),
        ("abc", 800, 1, 1, [-1, -1, -1, -1]),
        ("", 10, 1, 1, [-1, -1, -1, -1]),
    ],
)
def test_outcomes(living: str, step: int, team: int, done: int, rewards: list[int]) -> None:
    row = scene(living or "...", step=step, team=team)
    paid = np.full(4, 9)
    assert rules.outcome(row, paid) == done
    assert paid.tolist() == rewards


def ring_of(cell: int) -> int:
    return min(*divmod(cell, 11), 10 - cell // 11, 10 - cell % 11)


@pytest.mark.parametrize(("step", "ring"), [(500, 0), (575, 1), (650, 2), (725, 3)])
def test_a_ring_collapses_before_the_next_step(step: int, ring: int) -> None:
    board = " ".join(["..........."] * 11)
    marked = [list(line) for line in board.split()]
    marked[ring][ring], marked[ring][5], marked[5][5] = "a", "*", "b"
    marked[5][ring] = "w"
    bombs = [list(line) for line in board.split()]
    bombs[10 - ring][10 - ring] = "o"
    row = scene(
        " ".join(map("".join, marked)), " ".join(map("".join, bombs)), ammo=0, flame_left=2,
        hidden={(5, ring): 8}, step=step - 1, collapse=1,
    )  # fmt: skip
    play(row, ())
    paid = np.zeros(4, int)
    assert not rules.outcome(row, paid)
    assert paid.tolist() == [0, 0, -1, -1]  # at its step the board is still whole
    assert not (row[at.BOARD : at.ITEMS] == at.RIGID).any()
    play(row, ())
    shown = row[at.BOARD : at.ITEMS]
    for cell in range(121):
        assert (shown[cell] == at.RIGID) == (ring_of(cell) == ring)
    state = states.to_json(row)
    assert [agent[2] for agent in state["ag"]] == [0, 1, 0, 0]
    assert (state["bo"], state["fl"], state["it"]) == ([], [], [])
    assert state["ag"][0][3] == 1  # the bomb that vanished


def test_without_the_variant_nothing_collapses() -> None:
    row = play(scene("a.b ...", step=499), (), ())
    assert drawing(row, "a.b ...") == "a.b ..."


def test_words_are_those_of_the_living_of_this_step() -> None:
    row = scene("ab#* cd#.", team=1, radio=1, flame_left=2)
    words = np.array([[1, 2], [3, 4], [5, 6], [7, 0]])
    row[at.AGENTS + at.AGENT_FIELDS + at.AGENT_ALIVE] = 0
    row[at.BOARD + 1] = 0
    rules.step_with_words(row, np.zeros(4, int), words)
    assert row[at.WORDS : at.BOARD].tolist() == [1, 2, 0, 0, 5, 6, 7, 0]
    rules.step(row, np.zeros(4, int))  # plain actions say nothing
    assert not row[at.WORDS : at.BOARD].any()


def test_who_dies_in_a_step_still_speaks_in_it() -> None:
    row = scene("a*. bcd", team=1, radio=1, flame_left=2)
    rules.step_with_words(row, np.array([RIGHT, 0, 0, 0]), np.full((4, 2), 5))
    assert states.to_json(row)["ag"][0][2] == 0
    assert (row[at.WORDS : at.BOARD] == 5).all()


def test_a_batch_is_its_games_one_by_one() -> None:
    rows = np.array([scene(board) for board in ("ab.", "a.b", "b..a", "abcd ....")])
    actions = np.random.default_rng(0).integers(0, 6, (4, 4))
    rewards, dones = np.zeros((4, 4), np.int16), np.zeros(4, np.int8)
    alone = rows.copy()
    rules.step_many(rows, actions, rewards, dones)
    for i in range(4):
        paid = np.zeros(4, np.int16)
        rules.step(alone[i], actions[i])
        assert rules.outcome(alone[i], paid) == dones[i]
        assert paid.tolist() == rewards[i].tolist()
    np.testing.assert_array_equal(rows, alone)


def test_with_a_shield_only_others_burn_where_an_own_bomb_explodes() -> None:
    def due(owners: tuple[int, ...], **variant: int) -> states.Row:
        row = scene("ab#. .#..", "o..", blast=3, **variant)  # a stands on the bomb, b beside it
        for k, owner in enumerate(owners):
            bomb = at.BOMBS + k * at.BOMB_FIELDS
            row[bomb + at.BOMB_LEFT], row[bomb + at.BOMB_OWNER] = 1, owner
        return play(row, (STOP, STOP))

    assert drawing(due((0,)), "ab#. .#..") == "**#. *#.."
    assert drawing(due((0,), shield=1), "ab#. .#..") == "a*#. *#.."
    assert drawing(due((1,), shield=1), "ab#. .#..") == "*b#. *#.."
    assert drawing(due((2,), shield=1), "ab#. .#..") == "**#. *#.."


def test_a_chain_spares_the_owners_of_all_its_bombs_where_theirs_reach() -> None:
    row = scene("a.b", "oo.", blast=3, shield=1)
    row[at.BOMBS + at.BOMB_LEFT] = 1
    row[at.BOMBS + at.BOMB_FIELDS + at.BOMB_OWNER] = 1
    assert drawing(play(row, ()), "...") == "a*b"


def test_a_shield_is_part_of_a_state_and_lasts() -> None:
    row = scene("a..b", shield=1)
    assert states.to_json(row)["variant"] == {"shield": 1}
    assert np.array_equal(states.from_json(states.to_json(row)), row)
    assert play(row, (RIGHT,), (RIGHT,))[at.SHIELD] == 1
    assert states.differences(row, scene("a..b"))[0].startswith("step")
    with pytest.raises(BackplayError, match="none without radio"):
        states.from_json({**states.to_json(row), "words": [[1, 0]] + [[0, 0]] * 3})
