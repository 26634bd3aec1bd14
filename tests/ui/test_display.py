"""Progress of one run, of many and of counts: live and in plain lines, on standard error."""

import io
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.live import Live

from backplay.runs.standing import Standing
from backplay.runs.sweep import Overview
from backplay.train import Progress
from backplay.train.evaluate import Evaluation
from backplay.ui import display
from backplay.ui.display import Display, counting, duration, open_display, overview_table

RUNNING = Standing(
    name="optimal-backplay-0",
    frames=2_500_000,
    total=10_000_000,
    seconds=250.0,
    speed=10_000.0,
    success=0.25,
    starts="[4, 8) steps back",
    finished=False,
)
BEGINNING = Standing(
    name="optimal-standard-0",
    frames=0,
    total=10_000_000,
    seconds=0.0,
    speed=None,
    success=None,
    starts="",
    finished=False,
)
OVERVIEW = Overview(
    done=3, waiting=4, failed=1, running=[RUNNING, BEGINNING], share=0.4, seconds_left=7_200.0
)


def progress(frames: int, evaluated: bool) -> Progress:
    results = Evaluation(np.array([True, False]), np.array([1.0, 0.0]), np.array([3, 9]))
    return Progress(
        frames=frames,
        total_frames=100_000,
        frames_per_second=1234.5,
        seconds_left=90_061.0,
        starts="[4, 8) steps back",
        train_success=0.25,
        true_success=0.5 if evaluated else None,
        evaluation=results if evaluated else None,
        episodes=(),
        metrics={},
    )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    return now


def on_a_terminal(draw: Callable[[Display], None]) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=140, height=20, color_system=None)
    with Live(console=console, auto_refresh=False) as live:
        draw(Display(live))
        live.refresh()
    return out.getvalue()


def rendered(what: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=140, color_system=None).print(what)
    return out.getvalue()


def test_plain_lines_come_with_evaluations_and_now_and_then(
    capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    plain = Display()
    for seconds, evaluated in ((1, False), (2, True), (3, False), (11, False), (13, False)):
        clock[0] = float(seconds)
        plain.show(progress(1000 * seconds, evaluated))
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert [line.split()[0] for line in lines] == ["2,000", "13,000"]
    for part in ("1,234/s", "true start  50%", "[4, 8) steps back", "1 day, 1:01:01 left"):
        assert part in lines[0]


def test_a_run_on_a_terminal_says_how_far_and_how_well() -> None:
    text = on_a_terminal(lambda shown: shown.show(progress(50_000, True)))
    assert "50,000 frames: success 50% [9%, 91%] over 2 episodes" in text
    assert "50,000 of 100,000 frames" in text
    assert "success 50% from the true start, 25% from [4, 8) steps back" in text


def test_the_table_has_a_row_for_each_running_run_and_all() -> None:
    _, first, second, last = rendered(overview_table(OVERVIEW)).splitlines()
    for part in ("optimal-backplay-0", "2,500,000", "10,000", "25%", "[4, 8) steps back", "12 min"):
        assert part in first
    assert second.split()[0] == "optimal-standard-0"
    assert second.split()[-5:] == ["0", "–", "–", "–", "–"]
    assert "3 done, 2 running, 4 waiting, 1 failed" in last
    assert last.rstrip().endswith("2 h 0 min")


def test_what_is_said_stays_above_as_it_is() -> None:
    def draw(shown: Display) -> None:
        shown.say("a: killed [bold] by SIGKILL")
        shown.show_all(OVERVIEW)

    text = on_a_terminal(draw)
    assert "a: killed [bold] by SIGKILL" in text
    assert "[4, 8) steps back" in text


def test_many_runs_in_plain_lines_come_now_and_then(
    capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    plain = Display()
    for seconds in range(1, 25):
        clock[0] = float(seconds)
        plain.show_all(OVERVIEW)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert (out, len(lines)) == ("", 2 * 3)
    assert lines[0] == (
        "  optimal-backplay-0: 2,500,000 of 10,000,000 frames, 10,000/s, true start 25%, "
        "starts [4, 8) steps back, 12 min left"
    )
    assert lines[2] == "40%: 3 done, 2 running, 4 waiting, 1 failed; 2 h 0 min left"


def test_counts_come_now_and_then(capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
    with counting(2_000, "games") as count:
        count(1_000, "half")
        clock[0] = 11.0
        count(1_500, "[more]")
    assert capsys.readouterr() == ("", "1,500 of 2,000 games  [more]\n")
    assert "7 mazes  [ok]" in on_a_terminal(lambda shown: shown.count(7, None, "7 mazes  [ok]"))


def test_only_a_terminal_on_standard_error_is_live(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with open_display() as shown:
        shown.say("plain")
    assert (sys.stdout.getvalue(), sys.stderr.getvalue()) == ("", "plain\n")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with open_display() as shown:
        shown.show_all(OVERVIEW)
    assert "\x1b[" in sys.stderr.getvalue()
    assert sys.stdout.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "–"), (0, "0 s"), (99.4, "99 s"), (100, "2 min"), (5_940, "99 min"),
        (6_000, "1 h 40 min"), (35_999, "10 h"), (36_000, "10 h"), (259_000, "3 days"),
        (1e6, "12 days"),
    ],
)  # fmt: skip
def test_times_in_words(seconds: float | None, words: str) -> None:
    assert duration(seconds) == words


def test_a_name_is_no_markup() -> None:
    overview = Overview(
        done=0, waiting=0, failed=0, share=0.0, seconds_left=None,
        running=[
            Standing(
                name="mk[/bold]x", frames=1, total=2, seconds=1.0, speed=None, success=None,
                starts="[/]", finished=False,
            )
        ],
    )  # fmt: skip
    console = Console(file=io.StringIO(), width=120)
    console.print(overview_table(overview))
    with Live(console=console) as live:
        Display(live).say("mk[/bold]x :smile:")
    printed = console.file.getvalue()
    assert "mk[/bold]x :smile:" in printed
