"""A sweep on the screen: the table, the plain lines, times in words."""

import io
from typing import Any

import pytest
from rich.console import Console
from rich.live import Live

from backplay.runs.sweep import Overview, Standing
from backplay.ui import sweep_display
from backplay.ui.sweep_display import LiveSweep, PlainSweep, duration, overview_table

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


def rendered(what: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=140, color_system=None).print(what)
    return out.getvalue()


def test_the_table_has_a_row_for_each_running_run_and_all() -> None:
    _, first, second, last = rendered(overview_table(OVERVIEW)).splitlines()
    for part in ("optimal-backplay-0", "2,500,000", "10,000", "25%", "[4, 8) steps back", "12 min"):
        assert part in first
    assert second.split()[0] == "optimal-standard-0"
    assert second.split()[-5:] == ["0", "–", "–", "–", "–"]
    assert "3 done, 2 running, 4 waiting, 1 failed" in last
    assert last.rstrip().endswith("2 h 0 min")


def test_events_stay_above_the_table_as_they_are() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=140, height=20, color_system=None)
    with Live(console=console, auto_refresh=False) as live:
        shown = LiveSweep(live)
        shown.say("a: killed [bold] by SIGKILL")
        shown.show(OVERVIEW)
        live.refresh()
    assert "a: killed [bold] by SIGKILL" in out.getvalue()
    assert "[4, 8) steps back" in out.getvalue()


def test_plain_lines_come_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(sweep_display.time, "monotonic", lambda: now[0])
    plain = PlainSweep()
    for seconds in range(1, 25):
        now[0] = float(seconds)
        plain.show(OVERVIEW)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 * 3
    assert lines[0] == (
        "  optimal-backplay-0: 2,500,000 of 10,000,000 frames, 10,000/s, true start 25%, "
        "starts [4, 8) steps back, 12 min left"
    )
    assert lines[2] == "40%: 3 done, 2 running, 4 waiting, 1 failed; 2 h 0 min left"


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
