"""Tournaments: seats rotate, counts add up, intervals are Wilson's."""

from __future__ import annotations

import numpy as np
import pytest

from backplay.envs.pommerman.layout import AGENT_ALIVE, AGENT_FIELDS, AGENTS, ROW
from backplay.envs.pommerman.matches import Match, Score, Standings, seat_of, tournament
from backplay.errors import BackplayError


def test_a_score_has_wilsons_interval() -> None:
    assert str(Score(3, 4)) == "3 of 4, 75.0% [30.1%, 95.4%]"


def match(number: int, living: list[int], steps: int = 100) -> Match:
    last = np.zeros(ROW, np.int16)
    for seat in living:
        last[AGENTS + AGENT_FIELDS * seat + AGENT_ALIVE] = 1
    return Match(number, last, last, steps)


def test_wins_go_to_who_sat_there() -> None:
    standings = Standings(("a", "b", "b", "c"))
    standings.add(match(0, [0]))  # player 0 sits in seat 0
    standings.add(match(1, [0]))  # player 3 sits in seat 0
    standings.add(match(2, [0], 300))  # player 2
    standings.add(match(3, []))
    standings.add(match(4, [1, 2]))
    standings.add(match(5, [0, 1, 2, 3], 200))
    assert (standings.games, standings.deaths, standings.timeouts) == (6, 1, 2)
    assert standings.mean_length == 150
    assert standings.names == ["a", "b", "c"]
    assert [standings.score(name) for name in "abc"] == [Score(1, 6)] * 3
    assert standings.seat_score("a", 0) == Score(1, 2)  # games 0 and 4
    assert standings.seat_score("b", 0) == Score(1, 2)  # games 2 and 3
    assert standings.seat_score("b", 2) == Score(0, 4)  # 0 and 4 as player 2, 1 and 5 as player 1
    assert seat_of(2, 3) == 1


def test_a_tournament_does_not_depend_on_threads_and_adds_up() -> None:
    names = ["simple", "random", "random", "fsmts"]
    results = []
    for jobs in (1, 2):
        *_, standings = tournament(names, 12, seed=1, jobs=jobs)
        results.append(standings)
    assert results[0] == results[1]
    last = results[0]
    wins = sum(last.score(name).wins for name in last.names)
    assert wins + last.timeouts + last.deaths == last.games == 12
    for name in last.names:
        seats = [last.seat_score(name, seat) for seat in range(4)]
        assert sum(score.wins for score in seats) == last.score(name).wins
        assert [score.games for score in seats] == [3 * names.count(name)] * 4
    *_, other = tournament(names, 12, seed=2)
    assert other != last


def test_the_better_agent_wins_from_every_seat() -> None:
    *_, standings = tournament(["simple", "random", "random", "random"], 80)
    assert all(standings.seat_score("simple", seat).wins >= 12 for seat in range(4))
    assert standings.score("random").wins < 20


def test_the_standings_can_be_had_at_any_time() -> None:
    games = tournament("random", 50)
    for played in range(1, 4):
        assert next(games).games == played
    games.close()


def test_four_names_or_one() -> None:
    with pytest.raises(BackplayError, match="4 names"):
        next(tournament(["simple", "random"], 3))
    with pytest.raises(BackplayError, match="agent"):
        next(tournament("human", 3))
