"""Facts against planes: each is derived from the other, so nothing is added and nothing is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from random_states import random_rows

from backplay.envs.pommerman import facts, planes, rules
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.facts import AT, MOST
from backplay.envs.pommerman.games import Games
from backplay.envs.pommerman.players import player
from backplay.envs.pommerman.vector import PommermanVector
from backplay.errors import BackplayError

Frame = dict[str, Any]
SHOWN = {
    at.PASSAGE: 6, at.RIGID: 7, at.WOOD: 8, at.FLAMES: 9, at.EXTRA_BOMB: 10, at.RANGE: 11,
    at.KICK: 12,
}  # fmt: skip
OWN = at.AGENT  # in a frame told by facts: oneself, and the others from 11 on, by their number


def facts_of(
    previous: np.ndarray, row: np.ndarray, seat: int, turn: int = 0, centred: bool = True
) -> list[int]:
    out = np.full(MOST, 77, np.int32)
    count = facts.facts_into(previous, row, seat, turn, centred, out)
    assert (out[count:] == -1).all()
    return [int(fact) for fact in out[:count]]


def frames_from(found: list[int], centred: bool = True) -> tuple[Frame, Frame]:
    """The frame before and the frame now, from facts alone."""
    told: dict[str, list[int]] = {name: [] for name in AT}
    for fact in found:
        name, which = facts.kind_of(fact)
        told[name].append(which)
    own = told["own"][0] if told["own"] else facts.MIDDLE
    centre = own if centred else facts.MIDDLE

    def cell_of(offset: int, span: int = facts.SPAN) -> int:
        reach = span // 2
        row, col = offset // span - reach, offset % span - reach
        return (centre // 11 + row) * 11 + centre % 11 + col

    now: Frame = _numbers(told)
    board, bombs = now["board"], now["bombs"]
    for name, code in (("rigid", at.RIGID), ("wood", at.WOOD)):
        for place in told[f"near_{name}"]:
            board[cell_of(place, 2 * facts.NEAR + 1)] = code
        for cell in told[f"far_{name}"]:
            board[cell] = code
    for place in told["flames"]:
        board[cell_of(place)] = at.FLAMES
    for name, code in (("items", at.EXTRA_BOMB), ("enemies", OWN + 1)):
        for which in told[name]:
            kind, place = divmod(which, facts.OFFSETS)
            board[cell_of(place)] = code + kind
    for which in told["bomb_left"]:
        left, place = divmod(which, facts.OFFSETS)
        bombs[cell_of(place)] = [left + 1, 0]
    for which in told["bomb_blast"]:
        blast, place = divmod(which, facts.OFFSETS)
        bombs[cell_of(place)][1] = blast + 1
    for cell in bombs:
        board[cell] = at.BOMB if board[cell] == at.PASSAGE else board[cell]
    if told["own"]:
        board[own] = OWN
    if centred and told["own"]:
        check_together(told, now, own)
    return _before(now, told, cell_of), now


def check_together(told: dict[str, list[int]], now: Frame, own: int) -> None:
    """What is told of things together is what they are, each told apart."""
    (closed,) = told["closed"]
    around = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]
    for bit, (down, right) in enumerate(around):
        row, col = own // 11 + down, own % 11 + right
        code = now["board"][row * 11 + col] if 0 <= row < 11 and 0 <= col < 11 else at.RIGID
        assert (closed >> bit & 1 == 0) == (
            code in (at.PASSAGE, *range(at.EXTRA_BOMB, at.KICK + 1))
        )
    check_burning(told["burns"], now, own)


def check_burning(burns: list[int], now: Frame, own: int) -> None:
    """Cells near by burn when bombs and walls, each told apart, let them."""
    times: dict[int, int] = {}
    bombs = {
        cell: (1 if now["board"][cell] == at.FLAMES else left, blast)
        for cell, (left, blast) in now["bombs"].items()
    }
    while bombs:  # the earliest goes off next; a chain makes others as early
        cell = min(bombs, key=lambda one: min(bombs[one][0], times.get(one, 99)))
        left, blast = bombs.pop(cell)
        for reached in rays(now["board"], cell, blast):
            when = min(left, times.get(cell, 99))
            times[reached] = min(times.get(reached, 99), when)
    reach, span = facts.REACH, 2 * facts.REACH + 1
    found = {}
    for which in burns:
        left, place = divmod(which, facts.SOON)
        down, right = place // span - reach, place % span - reach
        found[own + 11 * down + right] = left + 1
    near = {c for c in times if max(abs(c // 11 - own // 11), abs(c % 11 - own % 11)) <= reach}
    assert found == {cell: times[cell] for cell in near}


def rays(board: np.ndarray, cell: int, blast: int) -> list[int]:
    """The cells that a bomb reaches."""
    reached = [cell]
    for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        for k in range(1, blast):
            row, col = cell // 11 + k * down, cell % 11 + k * right
            if not (0 <= row < 11 and 0 <= col < 11) or board[11 * row + col] == at.RIGID:
                break
            reached.append(11 * row + col)
            if board[11 * row + col] == at.WOOD:
                break
    return reached


def _numbers(told: dict[str, list[int]]) -> Frame:
    (ammo,), (blast,), (kick,) = told["ammo"], told["blast"], told["kick"]
    step = facts.PERIOD * told["period"][0] + told["in_period"][0]
    board = np.full(at.CELLS, at.PASSAGE)
    return {"ammo": ammo, "blast": blast, "kick": kick, "step": step, "board": board, "bombs": {}}


def _before(now: Frame, told: dict[str, list[int]], cell_of: Any) -> Frame:
    if told["same"]:
        return now
    before = now | {"step": now["step"] - 1, "board": now["board"].copy()}
    for name in ("ammo", "blast", "kick"):
        before[name] = (told[f"{name}_before"] or [now[name]])[0]
    stood = [divmod(which, facts.OFFSETS) for which in told["enemies_before"]]
    was = [(cell_of(place), OWN + 1 + enemy) for enemy, place in stood]
    rest = [divmod(which, at.CELLS) for which in told["cells_before"]]
    was += [(cell, OWN) for kind, cell in rest if kind == 7]
    board = before["board"]
    for _, code in was:
        board[board == code] = at.PASSAGE
    for cell, code in was:
        board[cell] = code
    for kind, cell in rest:
        if kind < 7:
            board[cell] = facts.OTHER_CODES[kind]
    for place in told["flames_before"]:
        board[cell_of(place)] = at.FLAMES
    bombs = {
        cell: [left + 1, blast] for cell, (left, blast) in now["bombs"].items() if left < 9
    }  # fmt: skip
    for which in told["bomb_left_before"]:
        left, cell = divmod(which, at.CELLS)
        bombs.pop(cell, None)
        if left:
            bombs[cell] = [left, 0]
    for which in told["bomb_blast_before"]:
        blast, cell = divmod(which, at.CELLS)
        bombs[cell][1] = blast + 1
    return before | {"bombs": bombs}


def planes_from(frame: Frame) -> np.ndarray:
    """The 19 planes of a frame that facts told."""
    out = np.zeros((19, at.CELLS), np.float32)
    for cell, (left, blast) in frame["bombs"].items():
        out[0, cell], out[1, cell] = blast, left
    board = frame["board"]
    for code, plane in SHOWN.items():
        out[plane] = board == code
    for code, plane in enumerate((2, 15, 16, 17), OWN):
        out[plane] = board == code
    for name, plane in (("ammo", 3), ("blast", 4), ("kick", 5)):
        out[plane] = frame[name]
    out[18] = np.float32(frame["step"] / at.MAX_STEPS)
    return out.reshape(19, 11, 11)


def check(
    previous: np.ndarray, row: np.ndarray, seat: int, centred: bool = True
) -> tuple[list[int], bytes]:
    """The planes that facts tell are the planes; the facts and the planes' bytes."""
    found = facts_of(previous, row, seat, centred=centred)
    expected = np.empty((38, 11, 11), np.float32)
    planes.stack(previous, row, seat, expected)
    told = np.concatenate([planes_from(frame) for frame in frames_from(found, centred)])
    np.testing.assert_array_equal(told, expected)
    assert len(set(found)) == len(found)
    assert all(0 <= fact < facts.FACTS for fact in found)
    return found, expected.tobytes()


def test_planes_follow_from_facts_in_crowded_arenas() -> None:
    rng = np.random.default_rng(0)
    kinds: set[str] = set()
    for row in random_rows(60, seed=4):
        before = row.copy()
        for _ in range(4):
            rules.step(row, rng.integers(0, 6, 4))
            for seat in range(4):
                found, _ = check(before, row, seat)
                check(before, row, seat, centred=False)
                kinds |= {facts.kind_of(fact)[0] for fact in found}
            before = row.copy()
    assert kinds >= AT.keys() - {"same"}  # every kind of fact was put to the test


def test_planes_follow_from_facts_in_games_and_facts_from_planes() -> None:
    """Facts are a function of the planes: the same planes never came with other facts."""
    games, seen = Games(4), dict[bytes, list[int]]()
    for i in range(4):
        games.seat(i, [player("simple")] * 4)
        games.begin(i, np.random.default_rng(i))
    outside = np.zeros((4, 4), np.int64)
    for t in range(120):
        before = games.rows.copy()
        games.advance(outside)
        for i in range(4):
            previous = games.rows[i] if t % 7 == 0 else before[i]
            if games.dones[i]:
                continue
            found, shown = check(previous, games.rows[i], (i + t) % 4)
            assert seen.setdefault(shown, found) == found
    games.close()


def test_what_planes_do_not_show_makes_no_fact() -> None:
    rng = np.random.default_rng(5)
    for row in random_rows(40, seed=6):
        before = row.copy()
        rules.step(row, rng.integers(0, 6, 4))
        other = row.copy()
        agents = at.AGENTS + at.AGENT_FIELDS * np.arange(4)
        other[agents[1:] + at.AGENT_AMMO] = rng.integers(0, 11, 3)  # others' numbers
        other[at.ITEMS : at.ITEMS + at.CELLS] = 0  # what lies under wood
        count = other[at.BOMB_COUNT]
        bombs = other[at.BOMBS : at.BOMBS + count * at.BOMB_FIELDS].reshape(-1, at.BOMB_FIELDS)
        bombs[:, at.BOMB_OWNER] = 3 - bombs[:, at.BOMB_OWNER]
        bombs[:, at.BOMB_DIRECTION] = 0
        flames = other[at.FLAME : at.FLAME + other[at.FLAME_COUNT] * at.FLAME_FIELDS]
        flames.reshape(-1, at.FLAME_FIELDS)[:, at.FLAME_LEFT] = 1  # how long they burn
        if not other[agents[0] + at.AGENT_ALIVE]:
            other[agents[0] + at.AGENT_CELL] = 0  # where one died
        assert facts_of(before, other, 0) == facts_of(before, row, 0)


def test_the_vector_shows_facts_where_asked() -> None:
    vectors = [
        PommermanVector(5, opponents="simple", seat=0, observation=kind)
        for kind in ("planes", "facts")
    ]
    rng = np.random.default_rng(7)
    seen = [vector.reset(seed=3)[0] for vector in vectors]
    for _ in range(40):
        told = np.stack([
            np.concatenate([planes_from(f) for f in frames_from([int(k) for k in row if k >= 0])])
            for row in seen[1]
        ])  # fmt: skip
        np.testing.assert_array_equal(told, seen[0])
        actions = rng.integers(0, 6, 5)
        seen = [vector.step(actions)[0] for vector in vectors]
    assert vectors[1].single_observation_space.contains(seen[1][0])
    again = PommermanVector(5, opponents="simple", seat=0, observation="facts")
    again.set_state(vectors[1].get_state())
    np.testing.assert_array_equal(again.observe(), vectors[1].observe())


def turned(row: np.ndarray, turns: int) -> np.ndarray:
    """The same game after quarter turns clockwise, seat `turns` now called seat 0."""
    out = row.copy()
    place = facts.TURNED[turns]
    for part in (at.BOARD, at.ITEMS):
        for cell in range(at.CELLS):
            code = row[part + cell]
            out[part + place[cell]] = (
                code if code < at.AGENT else at.AGENT + (code - at.AGENT - turns) % 4
            )
    for seat in range(4):
        there = at.AGENTS + at.AGENT_FIELDS * ((seat - turns) % 4)
        here = at.AGENTS + at.AGENT_FIELDS * seat
        out[there : there + at.AGENT_FIELDS] = row[here : here + at.AGENT_FIELDS]
        out[there + at.AGENT_CELL] = place[row[here + at.AGENT_CELL]]
    for k in range(row[at.BOMB_COUNT]):
        bomb = at.BOMBS + k * at.BOMB_FIELDS
        out[bomb + at.BOMB_CELL] = place[row[bomb + at.BOMB_CELL]]
    return out


def test_turned_facts_are_those_of_the_first_seat_on_a_turned_board() -> None:
    rng = np.random.default_rng(8)
    for row in random_rows(30, seed=9):
        before = row.copy()
        rules.step(row, rng.integers(0, 6, 4))
        for seat in range(4):
            expected = facts_of(turned(before, seat), turned(row, seat), 0)
            assert sorted(facts_of(before, row, seat, seat)) == sorted(expected)


def test_who_acts_on_a_turned_board_moves_on_it_as_told() -> None:
    """Each seat walks from its corner: the turned vector sees the first seat's cells."""
    envs = PommermanVector(4, opponents="simple", seat="rotate", observation="turned facts")
    places = []
    for action in (at.DOWN, at.RIGHT):
        seen, _ = envs.reset(seed=[5, 5, 5, 5])
        for _ in range(2):
            seen = envs.step(np.full(4, action))[0]
        own = AT["own"]
        places.append([
            next(int(f) - own for f in row if own <= f < own + at.CELLS) for row in seen
        ])  # fmt: skip
    assert places == [[34] * 4, [14] * 4]  # (3, 1) and (1, 3): the corners are open there
    envs.close()


def test_an_unknown_observation_is_refused() -> None:
    with pytest.raises(BackplayError, match="one of planes, facts"):
        PommermanVector(1, observation="sounds")
