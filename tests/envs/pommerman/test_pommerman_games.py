"""Games with agents inside: complete snapshots, and results that do not depend on threads."""

from __future__ import annotations

import numpy as np
import pytest
from played_games import walks

from backplay.envs.pommerman.agents import FSMTS
from backplay.envs.pommerman.games import Games
from backplay.envs.pommerman.layout import BOMB_COUNT, LIMIT, STEP
from backplay.envs.pommerman.matches import follow, in_order, play_match
from backplay.envs.pommerman.players import LEARNER, player, players
from backplay.errors import BackplayError

NOBODY = np.zeros((1, 4), np.int64)


def begun(n: int, names: str = "fsmts,fsmts,fsmts,fsmts", jobs: int = 1, seed: int = 0) -> Games:
    games = Games(n, jobs=jobs)
    four = [LEARNER if name == "learner" else player(name) for name in names.split(",")]
    for i in range(n):
        games.seat(i, four)
        games.begin(i, np.random.default_rng([seed, i]))
    return games


def everything(games: Games) -> list[np.ndarray]:
    arrays = (games.rows, games.memories, games.streams, games.rewards, games.dones, games.actions)
    return [array.copy() for array in arrays]


def same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_a_restored_game_goes_on_exactly_from_many_steps() -> None:
    games, other = begun(1), begun(1, seed=9)
    steps, kept = [], []
    while not games.dones[0] and len(steps) < 300:
        kept.append(games.snapshot(0))
        games.advance(NOBODY)
        steps.append(everything(games))
    assert len(steps) > 100
    for start in np.random.default_rng(0).permutation(len(steps))[:25]:
        for _ in range(3):  # another game leaves its traces first
            other.advance(NOBODY)
        other.restore(0, kept[start])
        for step in range(start, min(start + 30, len(steps))):
            other.advance(NOBODY)
            assert same(everything(other), steps[step]), (start, step)


def test_each_part_of_a_snapshot_matters() -> None:
    """What is left out of a restore changes how a game goes on, for each of its parts."""
    for part in ("row", "memories", "streams", "kinds", "options"):
        names = "fsmts:7,fsmts:7,simple,random"
        games, other = begun(1, names), begun(1, "simple,random,fsmts,fsmts", seed=1)
        for _ in range(60):
            games.advance(NOBODY)
            other.advance(NOBODY)
        snapshot = games.snapshot(0)
        other.restore(0, {name: value for name, value in snapshot.items() if name != part})
        differs = False
        for _ in range(200):
            games.advance(NOBODY)
            other.advance(NOBODY)
            differs = differs or not np.array_equal(games.rows, other.rows)
        assert differs, part


def test_a_game_restored_in_another_place_of_a_batch_goes_on_exactly() -> None:
    one, batch = begun(1), begun(5, seed=3)
    for _ in range(50):
        one.advance(NOBODY)
        batch.advance(np.zeros((5, 4), np.int64))
    batch.restore(3, one.snapshot(0))
    for _ in range(150):
        one.advance(NOBODY)
        batch.advance(np.zeros((5, 4), np.int64))
        assert np.array_equal(one.rows[0], batch.rows[3])
        assert np.array_equal(one.memories[0], batch.memories[3])


def test_threads_and_batches_do_not_matter() -> None:
    names = "learner,fsmts,simple,random"
    actions = walks(80, 7, 4)
    results = []
    for jobs in (1, 2):
        games = begun(7, names, jobs)
        for taken in actions:
            games.advance(taken)
        results.append(everything(games))
        games.close()
    assert same(*results)
    alone = Games(1)
    alone.seat(0, [LEARNER, player("fsmts"), player("simple"), player("random")])
    alone.begin(0, np.random.default_rng([0, 4]))
    for taken in actions:
        alone.advance(taken[4:5])
    assert same(everything(alone), [array[4:5] for array in results[0]])


def test_agents_decide_on_the_same_state_and_learners_do_as_told() -> None:
    games = begun(1, "learner,learner,learner,fsmts")
    games.advance(np.array([[5, 4, 0, 1]]))  # the last is not asked
    assert games.actions[0, :3].tolist() == [5, 4, 0]
    assert games.rows[0, BOMB_COUNT] >= 1
    assert games.rows[0, STEP] == 1


def test_a_game_that_is_over_stands_still() -> None:
    games = begun(2, "random,random,random,random")
    games.rows[0, LIMIT] = 3
    for _ in range(5):
        games.advance(np.zeros((2, 4), np.int64))
    assert games.rows[:, STEP].tolist() == [3, 5]
    assert games.dones.tolist() == [1, 0]


def test_a_match_is_the_same_played_at_once_or_step_by_step() -> None:
    four = players("fsmts", 4)
    match = play_match(four, seed=2, number=7, keep=True)
    rows = list(follow(four, seed=2, number=7))
    assert len(rows) == match.steps + 1 == len(match.kept.memories) == len(match.kept.streams)
    assert len(match.kept.actions) == match.steps
    assert np.array_equal(rows[0], match.first)
    assert np.array_equal(rows[-1], match.last)
    assert not match.kept.memories[0].any()
    plain = play_match(four, seed=2, number=7)
    assert np.array_equal(plain.last, match.last)
    assert plain.kept is None
    assert play_match(four, seed=2, number=8).first.tolist() != match.first.tolist()


def test_work_in_order() -> None:
    assert list(in_order(lambda n: n * n, jobs=3, total=10)) == [n * n for n in range(10)]
    endless = in_order(lambda n: n, jobs=2)
    assert [next(endless) for _ in range(5)] == [0, 1, 2, 3, 4]
    endless.close()

    def fail(n: int) -> int:
        raise ValueError(n)

    with pytest.raises(ValueError, match="0"):
        list(in_order(fail, jobs=2, total=4))


def test_players_by_name() -> None:
    assert player("fsmts:250").options.simulations == 250
    assert player("fsmts", 7).options.simulations == 7
    assert [p.name for p in players("simple", 3)] == ["simple"] * 3
    assert player("fsmts").kind == FSMTS
    for wrong in ("fmts", "simple:3", "fsmts:x", "fsmts:0", "", 3):
        with pytest.raises(BackplayError):
            player(wrong)
    with pytest.raises(BackplayError, match="'fsmts'"):
        player("fsmt")
    with pytest.raises(BackplayError, match="3 names"):
        players(["simple", "simple"], 3)
