"""Players that were trained: their files, what they do, where they may sit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman import learned
from backplay.envs.pommerman.agents import OUTSIDE
from backplay.envs.pommerman.dictionary import dictionary, row_of
from backplay.envs.pommerman.env import PommermanFFA
from backplay.envs.pommerman.facts import FACTS, MOST, facts_into
from backplay.envs.pommerman.games import Games
from backplay.envs.pommerman.learned import Policy, PublicAgent
from backplay.envs.pommerman.matches import follow, play_match
from backplay.envs.pommerman.parallel import AGENTS, PommermanParallel
from backplay.envs.pommerman.players import LEARNER, Player, player, players
from backplay.envs.pommerman.vector import PommermanVector
from backplay.errors import BackplayError


def policy(sees: str = "facts", seed: int = 0) -> Policy:
    """One with random weights, strong opinions and half of the facts."""
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float16).astype(np.float32)

    known = np.sort(rng.permutation(FACTS)[: FACTS // 2]).astype(np.int32)
    return Policy(
        sees=sees, known=known, rows=drawn(len(known), 8) / 8, bias=drawn(8),
        layers=((drawn(5, 8), drawn(5)), (drawn(6, 5) / 4, drawn(6) / 4)), made={"by": "hand"},
    )  # fmt: skip


def seated(sees: str = "facts") -> Player:
    return Player("trained", OUTSIDE, policy=policy(sees))


def facts_of(previous: np.ndarray, row: np.ndarray, seat: int, turn: int = 0) -> np.ndarray:
    out = np.empty(MOST, np.int32)
    facts_into(previous, row, seat, turn, True, out)
    return out


def test_chances_are_those_of_the_layers_written_out() -> None:
    one, game = policy(), begun()
    facts = facts_of(game.rows[0], game.rows[0], 2)
    total = one.bias.astype(float)
    for fact in facts[facts >= 0]:
        if fact in one.known:
            total = total + one.rows[np.searchsorted(one.known, fact)]
    (first, a), (last, b) = one.layers
    logits = last @ np.maximum(first @ np.maximum(total, 0) + a, 0) + b
    expected = np.exp(logits - logits.max())
    assert np.allclose(one.chances(facts[None])[0], expected / expected.sum(), atol=1e-4)


def begun(*seats: Player, seed: int = 0) -> Games:
    games = Games(1)
    games.seat(0, seats or [LEARNER] * 4)
    games.begin(0, np.random.default_rng(seed))
    return games


def test_a_file_holds_all_of_it_and_is_small(tmp_path: Path) -> None:
    one, file = policy(), tmp_path / "agent.npz"
    one.save(file)
    other = Policy.load(file)
    game = begun()
    facts = facts_of(game.rows[0], game.rows[0], 1)[None]
    assert np.array_equal(one.chances(facts), other.chances(facts))
    assert (other.sees, other.made) == ("facts", {"by": "hand"})
    assert player(str(file)).policy is not None


def test_short_rows_can_be_left_out() -> None:
    one = policy()
    lengths = np.sqrt((one.rows**2).sum(1))
    least = float(np.median(lengths))
    few = one.trimmed(least)
    assert set(few.known) == {
        fact for fact, n in zip(one.known, lengths, strict=True) if n >= least
    }
    assert np.array_equal(few._table[few.known], one._table[few.known])
    assert not few._table[np.setdiff1d(one.known, few.known)].any()


def test_the_agent_that_comes_along_is_small_and_tells_how_it_was_made() -> None:
    assert learned.SHIPPED.stat().st_size < 10_000_000
    made = player("backplay").policy.made
    assert made["frames"] >= made["job"]["frames"] == 52_224_000
    assert (made["job"]["maps"], made["job"]["opponents"]) == (100, "fsmts")


@pytest.mark.parametrize(
    "change",
    [
        {"sees": "planes"},
        {"known": np.array([FACTS], np.int32)},
        {"rows": np.full((1, 8), np.nan, np.float16)},
        {"layers": []},
        {"bias": np.zeros(7, np.float16)},
    ],
)
def test_a_file_of_anything_else_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    from backplay.data import archive

    file, half = tmp_path / "agent.npz", np.zeros((6, 8), np.float16)
    tree = {
        "sees": "facts", "known": np.array([3], np.int32), "rows": np.zeros((1, 8), np.float16),
        "bias": np.zeros(8, np.float16), "layers": [[half, np.zeros(6, np.float16)]], "made": {},
    }  # fmt: skip
    archive.write(file, "Pommerman agent", tree)
    Policy.load(file)
    archive.write(file, "Pommerman agent", {**tree, **change})
    with pytest.raises(BackplayError, match="is no player"):
        Policy.load(file)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "agent.npz"
    policy().save(file)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(BackplayError, match="is no player"):
        Policy.load(file)


def test_what_is_drawn_has_the_chances_and_comes_from_the_seats_stream() -> None:
    games = begun()
    seats = np.array([2])
    wanted = policy().chances(facts_of(games.rows[0], games.rows[0], 2)[None])[0]
    streams = games.streams[0].copy()
    rows = games.rows[:1]
    drawn = [policy_decides(rows, seats, streams) for _ in range(4000)]
    shares = np.bincount(drawn, minlength=6) / len(drawn)
    assert abs(shares - wanted).max() < 0.04
    assert np.flatnonzero(streams != games.streams[0]).tolist() == [2]


_ONE = policy()


def policy_decides(rows: np.ndarray, seats: np.ndarray, streams: np.ndarray) -> int:
    return _ONE.decide(rows, rows, seats, streams, 2)


@pytest.mark.parametrize("sees", ["facts", "turned facts"])
def test_a_match_is_the_same_stepped_and_played_and_not_a_stopping_player(sees: str) -> None:
    four = [seated(sees), *players("simple", 3)]
    rows = list(follow(four, seed=5))
    match = play_match(four, seed=5, number=0, keep=True)
    assert np.array_equal(rows[-1], match.last)
    assert len(match.kept.actions) == match.steps
    assert len(set(match.kept.actions[:, 0].tolist())) > 2
    again = np.repeat(match.first[None], 2, 0)
    assert np.array_equal(rows[0], again[0])


def test_the_frame_before_is_seen() -> None:
    """Whoever sees both frames as one would decide otherwise somewhere in a game."""
    four = [seated(), *players("simple", 3)]
    games = begun(*four, seed=5)
    differs, outside = False, np.zeros((1, 4), np.int64)
    for _ in range(40):
        before, row = games.previous[0].copy(), games.rows[0].copy()
        chances = [_ONE.chances(facts_of(one, row, 0)[None])[0] for one in (before, row)]
        differs = differs or not np.allclose(*chances)
        games.advance(outside)
        assert np.array_equal(games.previous[0], row)
    assert differs


def test_trained_opponents_play_in_envs_and_resume_exactly(tmp_path: Path) -> None:
    file = tmp_path / "agent.npz"
    policy().save(file)
    env = PommermanFFA(opponents=[str(file), "simple", str(file)], seat=1)
    env.reset(seed=3)
    for _ in range(12):
        env.step(0)
    state = env.get_state()

    def on() -> list[bytes]:
        env.set_state(state)
        return [env.step(action)[0].tobytes() for action in (0, 1, 0, 0, 2, 0)]

    assert on() == on()
    envs = PommermanVector(3, opponents=str(file), seat="rotate", observation="facts")
    envs.reset(seed=0)
    for _ in range(30):
        envs.step(np.zeros(3, np.int64))
    kept = envs.get_state()
    seen = [envs.step(np.zeros(3, np.int64))[0].copy() for _ in range(20)]
    envs.set_state(kept)
    assert all(np.array_equal(envs.step(np.zeros(3, np.int64))[0], one) for one in seen)


def test_a_dictionary_shows_the_facts_that_its_row_shows() -> None:
    games, outside = begun(*players("fsmts", 4)), np.zeros((1, 4), np.int64)
    for _ in range(150):
        if games.dones[0]:
            break
        games.advance(outside)
        rows = games.previous[0], games.rows[0]
        for seat in range(at.SEATS):
            if not games.rows[0, at.AGENTS + at.AGENT_FIELDS * seat + at.AGENT_ALIVE]:
                continue
            told = [row_of(dictionary(row, seat)) for row in rows]
            assert set(facts_of(*told, seat)) == set(facts_of(*rows, seat))


def test_a_public_agent_does_in_the_parallel_env_what_the_player_does_inside() -> None:
    env, agent = PommermanParallel(), PublicAgent(_ONE, seed=1)
    observations, _ = env.reset(seed=4)
    games = begun(*[Player("trained", OUTSIDE, policy=_ONE)], *[LEARNER] * 3)
    games.rows[0] = games.previous[0] = env.row
    games.streams[0, 0] = agent._streams[0]
    done = 0
    while AGENTS[0] in env.agents and done < 60:
        chosen = agent.act(observations[AGENTS[0]])
        outside = np.zeros((1, 4), np.int64)
        games.advance(outside)
        assert games.actions[0, 0] == chosen
        observations, *_ = env.step({AGENTS[0]: chosen})
        done += 1
    assert done > 5
    assert agent.act({**observations[AGENTS[0]], "alive": (11, 12)}) == 0
