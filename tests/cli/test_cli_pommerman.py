"""`backplay pommerman`: each part's output, exit codes, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from cli_results import Run, assert_refused

from backplay.cli.pommerman import PARTS

TRACES = Path(__file__).parents[1] / "golden" / "pommerman" / "games.jsonl.gz"


def test_help_lists_every_part_and_teaches_with_examples(run: Run) -> None:
    result = run("pommerman", "--help")
    assert result.code == 0
    assert all(f"\n  {name} " in result.out for name in PARTS)
    assert run("pommerman").code == 2
    for name in PARTS:
        result = run("pommerman", name, "--help")
        assert result.code == 0
        assert f"\n     backplay pommerman {name} " in result.out
    assert_refused(run("pommerman", "turnament"), "Did you mean 'tournament'?")
    assert_refused(run("pommerman", "fly"), "backplay pommerman --help")


def test_a_tournament_prints_results_by_agent_and_by_seat(run: Run) -> None:
    words = ("--agents", "simple,random,random,random", "--games", 8, "--seed", 3)
    result = run("pommerman", "tournament", *words)
    assert result.code == 0
    for part in ("simple ", "random (any of 3) ", "ties ", "mean length ", "seat 3", " of 8, "):
        assert part in result.out
    assert run("pommerman", "tournament", *words, "--jobs", 1).out == result.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--agents", "human"), "agent"),
        (("--agents", "simple,simple,simple,simple,simple"), "4 names"),
        (("--agents", "run:nowhere"), "is no run"),
        (("--agents", "nothing.npz"), "is no player"),
        (("--games", 0), "--games"),
        (("--jobs", 0), "--jobs"),
        (("--simulations", 0), "simulations"),
    ],
    ids=str,
)
def test_a_wrong_tournament_is_refused(run: Run, words: Any, said: str) -> None:
    assert_refused(run("pommerman", "tournament", *words), said)


def test_watch_prints_the_end_where_there_is_no_terminal(run: Run) -> None:
    result = run("pommerman", "watch", "--agents", "simple,random,random,random")
    assert result.code == 0
    assert " of 800\n" in result.out
    last = result.out.splitlines()[-1]
    assert last.startswith(("seat ", "a tie "))
    assert "\x1b" not in result.out


def test_watch_writes_a_film(run: Run) -> None:
    words = ("pommerman", "watch", "--agents", "random", "--out", "films/game.gif")
    result = run(*words)
    assert result.code == 0
    assert "films/game.gif: " in result.out
    assert Path("films/game.gif").read_bytes().startswith(b"GIF89a")
    assert_refused(run(*words), "exists already")
    assert_refused(run(*words[:-1], "game.avi"), ".gif or .mp4")
    assert_refused(run(*words[:-1], "game.gif", "--fps", 0), "--fps")


def test_verify_says_how_much_agrees(run: Run) -> None:
    result = run("pommerman", "verify", TRACES)
    assert result.code == 0
    assert result.out == "verified 24 games, 4,633 steps\n"


def test_verify_names_the_first_difference_field_by_field(run: Run) -> None:
    with gzip.open(TRACES, "rt") as file:
        game = json.loads(next(file))
    game["steps"][7]["ag"][2][3] += 1
    game["steps"][7]["r"] = [1, 1, 1, 1]
    Path("wrong.jsonl").write_text(json.dumps(game) + "\n")
    result = run("pommerman", "verify", "wrong.jsonl")
    assert result.code == 1
    assert "1 of 1 games differ" in result.out
    assert "wrong.jsonl, game 1, step 8" in result.out
    assert "\n  agent 2 ammo: " in result.out
    assert "\n  rewards: [0, 0, 0, 0], [1, 1, 1, 1]" in result.out


def test_verify_of_what_is_no_trace_is_refused(run: Run) -> None:
    Path("noise.jsonl").write_bytes(b"\x1f\x8b\x00nothing")
    Path("other.jsonl").write_text('{"a": 1}\n')
    for words in (("noise.jsonl",), ("other.jsonl",), ("none.jsonl",), ()):
        assert_refused(run("pommerman", "verify", *words))


def test_demos_are_written_once_whole(run: Run) -> None:
    from backplay.envs.pommerman.demonstrations import load_games

    words = ("pommerman", "demos", "--maps", 1, "--held-out", 1, "--agents", "simple")
    result = run(*words, "--perspective", "runner-up", "--out", "deep/games.npz")
    assert result.code == 0
    assert "1 games to train on, 1 held out" in result.out
    library = load_games("deep/games.npz")
    assert (library.agent, library.perspective) == ("simple", "runner-up")
    assert_refused(run(*words, "--out", "deep/games.npz"), "exists already")
    assert_refused(run(*words, "--out", "x.npz", "--maps", 0), "--maps")
    assert not Path("x.npz").exists()


def press_ctrl_c_in_game(pressed: int, monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
    """A signal while this game is being played by a thread."""
    play = module.play_match

    def play_match(four: Any, seed: int, number: int, **kwargs: Any) -> Any:
        if number == pressed:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return play(four, seed, number, **kwargs)

    monkeypatch.setattr(module, "play_match", play_match)


def test_a_stopped_tournament_says_what_is_known(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from backplay.envs.pommerman import matches

    press_ctrl_c_in_game(20, monkeypatch, matches)
    result = run("pommerman", "tournament", "--agents", "simple", "--games", 10**7)
    assert result.code == 130
    stopped = re.match(r"stopped after (\d+) of 10000000 games\n", result.out)
    assert stopped
    assert 12 <= int(stopped[1]) <= 20
    assert f" of {stopped[1]}, " in result.out
    assert "mean length" in result.out


def test_stopped_demos_leave_nothing_behind(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from backplay.envs.pommerman import demonstrations

    press_ctrl_c_in_game(10, monkeypatch, demonstrations)
    words = ("demos", "--agents", "simple", "--maps", 10**6, "--out", "games.npz")
    result = run("pommerman", *words)
    assert result.code == 130
    assert "nothing was written" in result.out
    assert list(Path().iterdir()) == []
