"""`backplay play`: keys, undo, and what is saved; through a pipe and in a terminal."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from cli_results import Result, Run, assert_refused

import backplay as bp
from backplay.train.environments import make_env
from backplay.ui import keys
from backplay.ui.screen import Picture, captions, draw, fit

STILL = ("--env-kwargs", '{"is_slippery": false}')


@pytest.fixture
def play(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Plays with the keys of the first word, through a pipe; then the words of the command."""
    opened = []

    def call(typed: str, *words: object) -> Result:
        Path("typed").write_text(typed)
        opened.append(Path("typed").open())  # noqa: SIM115  # closed below
        monkeypatch.setattr(sys, "stdin", opened[-1])
        return run("play", *words)

    yield call
    for file in opened:
        file.close()


def test_what_was_taken_back_is_not_in_the_demonstration(play: Run, run: Run) -> None:
    result = play(
        "2 0u 2 uu22\x7f2 r 22 1110uu 1 U 22\x1b[B\x1bOB12 s",
        "FrozenLake-v1",
        "--out",
        "a.npz",
        *STILL,
    )
    assert result.code == 0
    assert "exact: 6 states" in result.out
    run("record", "FrozenLake-v1", "--out", "b.npz", "--actions", "2,2,1,1,1,2", *STILL)
    assert bp.load("a.npz") == bp.load("b.npz")


def test_after_the_end_steps_can_be_taken_back(play: Run) -> None:
    result = play("22112" + "uu" + "112s", "FrozenLake-v1", "--out", "a.npz", *STILL)
    assert "the episode is over" not in result.out
    assert bp.load("a.npz").actions == [2, 2, 1, 1, 1, 2]
    assert "the episode is over" in play("1122200q", "FrozenLake-v1", "--out", "b.npz", *STILL).out


def test_leaving_without_saving_asks_first(play: Run) -> None:
    words = ("FrozenLake-v1", "--out", "a.npz", *STILL)
    assert play("2q2s", *words).code == 0  # one q is not enough
    assert bp.load("a.npz").actions == [2, 2]
    result = play("2qqs", *words, "--overwrite")
    assert "left without saving" in result.out
    assert bp.load("a.npz").actions == [2, 2]
    assert "left without saving" in play("22", *words, "--overwrite").out  # the pipe ends
    assert "nothing to save yet" in play("suz q", *words, "--overwrite").out


def test_bad_input_of_play_is_one_line(play: Run) -> None:
    assert_refused(play("", "Pendulum-v1", "--out", "a.npz"), "Discrete action space", "record")
    assert_refused(play("", "Taxi-v9", "--out", "a.npz"), "Did you mean Taxi-v")
    assert_refused(play("", "FrozenLake-v1", "--out", "typed"), "exists already")


def test_an_episode_that_cannot_be_saved_is_not_lost(
    play: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bp.Demonstration, "save", full)
    result = play("22s", "FrozenLake-v1", "--out", "a.npz", *STILL)
    assert_refused(
        result, "No space left", "backplay record FrozenLake-v1 --seed 0", "--actions 2,2"
    )


def in_terminal(typed: bytes, *words: str, then: bytes = b"") -> tuple[int, str]:
    """Plays in a terminal of 80 x 24; the exit code and all that was printed.

    Types `typed` when the first screen is there, and `then` when step 2 is.
    """
    waiting = [(b"step 0", typed), (b"step 2", then)]
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "backplay.cli", "play", *words],
        stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
        preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),  # our Ctrl-C goes to it
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"},
    )  # fmt: skip
    os.close(terminal)
    printed = b""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if not select.select([main], [], [], 0.1)[0]:
            continue
        try:
            printed += os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if waiting and waiting[0][0] in printed:
            os.write(main, waiting.pop(0)[1])
    code = process.wait(timeout=10)
    os.close(main)
    return code, printed.decode()


def test_playing_in_a_terminal(tmp_path: Path) -> None:
    out = tmp_path / "a.npz"
    code, printed = in_terminal(
        b"\x1b[C\x1b[C\x1b[Au\x1b[B\x1b[B\x1b[B\x1b[Cs", "FrozenLake-v1", "--out", str(out), *STILL
    )
    assert code == 0, printed
    assert bp.load(out).actions == [2, 2, 1, 1, 1, 2]
    assert "exact: 6 states" in printed


def test_pictures_in_a_terminal(tmp_path: Path) -> None:
    out = tmp_path / "a.npz"
    code, printed = in_terminal(b"\x1b[Cs", "MountainCar-v0", "--out", str(out))
    assert code == 0, printed
    assert bp.load(out).actions == [2]
    assert printed.count("▀") > 1000
    assert "0 ← push left" in re.sub(r"\x1b\[[0-9;]*m", "", printed)


def test_an_interrupt_leaves_a_way_to_go_on(tmp_path: Path) -> None:
    out = tmp_path / "a.npz"
    code, printed = in_terminal(b"22", "FrozenLake-v1", "--out", str(out), *STILL, then=b"\x03")
    assert code == 130, printed
    assert "--actions 2,2" in printed.replace("\r\n", "")
    assert not out.exists()


def test_names_and_keys_of_actions() -> None:
    names = keys.action_names(make_env("MiniGrid-DoorKey-5x5-v0"))
    assert names == ["left", "right", "forward", "pickup", "drop", "toggle", "done"]
    found = keys.assign_keys(names)
    assert [found[key] for key in ("left", "right", "up", "p", "d", "t", "6")] == [
        0,
        1,
        2,
        3,
        4,
        5,
        6,
    ]

    names = keys.action_names(make_env("ALE/Breakout-v5", {"full_action_space": True}))
    found = keys.assign_keys(names)
    assert [names[found[key]] for key in ("space", "left", "up")] == ["fire", "left", "up"]
    assert sorted(found[key] for key in "0123456789abcdefgh") == list(range(18))
    assert not {"u", "U", "r", "s", "q"} & found.keys()

    assert keys.action_names(make_env("highway-v0")) == [
        "lane_left", "idle", "lane_right", "faster", "slower",
    ]  # fmt: skip
    assert keys.action_names(make_env("Blackjack-v1")) == ["action 0", "action 1"]


def test_names_of_keys() -> None:
    text = "a\x1b[A\x1bOD\x7f \n\x1b[5~Z\x1b"
    assert keys.parse_keys(text) == ["a", "up", "left", "backspace", "space", "\x1b[5~", "Z"]


def test_a_frame_fits_into_the_terminal() -> None:
    frame = np.zeros((210, 160, 3), np.uint8)
    frame[:105] = 200
    small = fit(frame, 80, 40)
    assert small.shape == (40, 30, 3)
    assert (small[:19] == 200).all()
    assert (small[21:] == 0).all()
    assert fit(frame[:5, :4], 80, 40).shape == (40, 32, 3)
    assert fit(frame[:30, :60], 80, 40).shape == (30, 60, 3)
    Picture(small)


def test_an_env_without_pictures_shows_what_is_seen() -> None:
    env = gym.make("CartPole-v1")
    observation, _ = env.reset(seed=0)
    assert "0.01369617" in str(draw(env, observation, 80, 20))
    assert captions({"mission": "get to the goal", "image": observation}) == [
        "mission: get to the goal"
    ]
