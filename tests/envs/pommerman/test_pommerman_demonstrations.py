"""Recorded games: which are kept, their file, and the demonstrations they become."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from played_games import ENV, demonstrations, library, perspectives

import backplay as bp
from backplay.data import archive
from backplay.envs.pommerman.demonstrations import LEAST_STEPS, load_games, make_games
from backplay.envs.pommerman.games import Games
from backplay.envs.pommerman.layout import AGENT_ALIVE, AGENT_FIELDS, AGENTS, ROW, STEP
from backplay.envs.pommerman.matches import play_match
from backplay.envs.pommerman.players import players
from backplay.envs.pommerman.recordings import Game
from backplay.errors import DemonstrationError

KIND = "backplay pommerman games"


def alive(row: np.ndarray) -> list[int]:
    return row[AGENTS + AGENT_ALIVE : AGENTS + 4 * AGENT_FIELDS : AGENT_FIELDS].tolist()


def test_games_are_whole_long_and_have_one_survivor() -> None:
    games = library().training + library().held_out
    assert len(games) == 5
    for game in games:
        assert len(game) >= LEAST_STEPS
        assert len(game.rows) == len(game.memories) == len(game.streams) == len(game) + 1
        assert game.rows[:, STEP].tolist() == list(range(len(game) + 1))
        assert sum(alive(game.rows[-1])) == 1
        assert sum(alive(game.rows[-2])) > 1
        assert alive(game.rows[-1])[game.winner or 0] == 1
    assert len({game.number for game in games}) == 5


def test_the_recorded_actions_are_what_was_done_once_a_step() -> None:
    """From every tenth step the agents, asked once, do again what is recorded."""
    game = library().training[0]
    games = Games(1)
    games.seat(0, players("fsmts", 4))
    for t in [*range(0, len(game), 10), len(game) - 1]:
        parts = {"row": game.rows[t], "memories": game.memories[t], "streams": game.streams[t]}
        games.restore(0, parts)
        for step in (t, t + 1):
            if step < len(game):
                games.advance(np.zeros((1, 4), np.int64))
                assert games.actions[0].tolist() == game.actions[step].tolist()
                assert np.array_equal(games.rows[0], game.rows[step + 1])
                assert np.array_equal(games.memories[0], game.memories[step + 1])
                assert np.array_equal(games.streams[0], game.streams[step + 1])


def test_the_first_fit_games_are_kept_and_no_others() -> None:
    made = make_games(5, held_out=2, agent="simple", seed=1)
    matches = [play_match(players("simple", 4), 1, number) for number in range(made.played)]
    winners = [match.number for match in matches if match.winner is not None]
    fit = [n for n in winners if matches[n].steps >= 240]
    assert [game.number for game in made.training + made.held_out] == fit
    assert len(fit) < len(winners) < made.played  # some were too short, some ties


@pytest.mark.parametrize("name", ["winner", "runner-up"])
def test_four_maps_are_one_for_every_seat(name: Any) -> None:
    made = make_games(4, held_out=0, perspective=name, seed=6)
    assert sorted(game.seen_by(name).seat for game in made.training) == [0, 1, 2, 3]


def test_the_set_depends_on_the_seed_and_not_on_threads() -> None:
    again = make_games(4, held_out=1, seed=5, jobs=2)
    assert [g.number for g in again.training] == [g.number for g in library().training]
    assert again.played == library().played
    for a, b in zip(again.training, library().training, strict=True):
        assert np.array_equal(a.rows, b.rows)
        assert np.array_equal(a.memories, b.memories)
    seen: list[tuple[int, int, int]] = []
    make_games(1, held_out=1, seed=7, progress=lambda *counts: seen.append(counts))
    assert seen[-1][:2] == (2, 2)
    assert [played for *_, played in seen] == list(range(1, len(seen) + 1))


def test_the_runner_up_is_who_died_last() -> None:
    for game in library().training:
        second = game.runner_up
        assert second != game.winner
        assert alive(game.rows[-2])[second] == 1
        assert alive(game.rows[-1])[second] == 0
        assert len(game.seen_by("runner-up")) == len(game)


def test_of_several_who_died_last_together_it_is_the_lowest_seat() -> None:
    game = library().training[0]
    rows = game.rows[:4].copy()
    for t, living in enumerate(([0, 1, 2, 3], [0, 1, 2, 3], [1, 2, 3], [1])):
        for seat in range(4):
            rows[t, AGENTS + AGENT_FIELDS * seat + AGENT_ALIVE] = seat in living
    short = Game(0, game.kind, rows, game.actions[:3], game.memories[:4], game.streams[:4])
    assert (short.winner, short.runner_up) == (1, 2)
    assert len(short.seen_by(0)) == 2  # who dies earlier has a shorter game
    nobody = replace(short, rows=np.concatenate([rows[:3], rows[:1]]))
    with pytest.raises(DemonstrationError, match="no winner"):
        nobody.seen_by("winner")


def test_a_file_keeps_every_state(tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    library().save(path)
    loaded = load_games(path)
    assert str(loaded) == str(library())
    for part in ("training", "held_out"):
        for a, b in zip(getattr(loaded, part), getattr(library(), part), strict=True):
            assert a.number == b.number
            for name in ("rows", "actions", "memories", "streams"):
                assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert path.stat().st_size < 100_000 * 5


def damaged(change: Any) -> Any:
    def tree(path: Path) -> None:
        library().save(path)
        content = archive.read(path, KIND)
        change(content)
        archive.write(path, KIND, content)

    return tree


DAMAGES = {
    "other actions": lambda tree: tree["training"][0]["actions"].__setitem__(slice(0, 50), 0),
    "no action": lambda tree: tree["training"][0]["actions"].__setitem__((9, 0), 6),
    "another end": lambda tree: tree["training"][1]["last"].__setitem__(STEP, 3),
    "no board": lambda tree: tree["training"][0]["first"].__setitem__(AGENTS, 121),
    "memories of nobody": lambda tree: tree["training"][0]["memories"].__setitem__((3, 1, 0), 99),
    "short memories": lambda tree: tree["training"][0].update(memories=np.zeros((2, 4, 256), "i2")),
    "other streams": lambda tree: tree["training"][0].update(streams=np.zeros((3, 5))),
    "a list": lambda tree: tree["training"][0].update(first=[1, 2]),
    "a count without bounds": lambda tree: tree["training"][0].update(
        last=np.full(ROW, 10**12, np.int64)
    ),
    "no games": lambda tree: tree.update(training=[]),
    "another agent": lambda tree: tree.update(agent="human"),
    "no perspective": lambda tree: tree.update(perspective="loser"),
    "more": lambda tree: tree.update(more=1),
    "less": lambda tree: tree["held_out"][0].pop("last"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    damaged(DAMAGES[damage])(path)
    with pytest.raises(DemonstrationError, match="cannot be used"):
        load_games(path)


def test_no_file_and_another_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DemonstrationError, match="no file"):
        load_games(tmp_path / "none.npz")
    demonstrations()[0].save(tmp_path / "demo.npz")
    with pytest.raises(DemonstrationError, match="pommerman games"):
        load_games(tmp_path / "demo.npz")


@pytest.mark.parametrize("name", ["winner", "runner-up"])
def test_a_game_becomes_an_exact_demonstration(name: Any) -> None:
    env = gym.make(ENV)
    perspective = perspectives(name)[0]
    demo = perspective.record(env)
    assert len(demo) == len(perspective)
    assert demo.terminated
    assert demo.rewards.tolist() == [0.0] * (len(demo) - 1) + [1.0 if name == "winner" else -1.0]
    assert demo.success == (name == "winner")
    report = bp.check(env, demo, max_steps=4000)
    assert report.exact
    assert report.restored == len(demo)


def test_it_is_used_by_backplay_env_and_success_is_to_win() -> None:
    """The runner-up's demonstration ends with its death: that is no success."""
    env = gym.make(ENV)
    demos = [perspectives("runner-up")[0].record(env)]
    wrapped = bp.BackplayEnv(env, demos, bp.Uniform(), initial="demonstration")
    for seed in range(12):
        wrapped.reset(seed=seed)
        assert env.unwrapped.seat == perspectives("runner-up")[0].seat
        over = False
        while not over:
            _, reward, over, _, _ = wrapped.step(5)
        (episode,) = wrapped.take_episodes()
        assert episode.success == (reward == 1.0)


def test_other_opponents_do_not_repeat_it() -> None:
    with pytest.raises(DemonstrationError, match="another way"):
        perspectives()[0].record(gym.make(ENV, opponents="simple"))


def test_a_demonstration_is_written_and_read(tmp_path: Path) -> None:
    demo = demonstrations()[1]
    demo.save(tmp_path / "demo.npz")
    assert bp.load(tmp_path / "demo.npz", gym.make(ENV)) == demo


def test_wrong_numbers_are_refused() -> None:
    for kwargs in ({"maps": 0}, {"maps": 2, "held_out": -1}, {"maps": 1, "agent": "human"}):
        with pytest.raises(bp.BackplayError):
            make_games(**kwargs)
