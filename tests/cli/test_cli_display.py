"""Progress: plain lines and the live display."""

import io
import sys

import numpy as np
import pytest
from rich.console import Console
from rich.live import Live

from backplay.train import Progress
from backplay.train.evaluate import Evaluation
from backplay.ui import display
from backplay.ui.display import LiveDisplay, PlainDisplay, open_display


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


def test_plain_lines_come_with_evaluations_and_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    plain = PlainDisplay()
    for seconds, evaluated in ((1, False), (2, True), (3, False), (11, False), (13, False)):
        now[0] = float(seconds)
        plain.show(progress(1000 * seconds, evaluated))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["2,000", "13,000"]
    for part in ("1,234/s", "true start  50%", "[4, 8) steps back", "1 day, 1:01:01 left"):
        assert part in lines[0]


def test_the_live_display_shows_how_far_and_how_well() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, height=20, color_system=None)
    with Live(console=console, auto_refresh=False) as live:
        shown = LiveDisplay(live)
        shown.show(progress(50_000, True))
        live.refresh()
    text = out.getvalue()
    assert "50,000 frames: success 50% [9%, 91%] over 2 episodes" in text
    assert "50,000 of 100,000 frames" in text
    assert "success 50% from the true start, 25% from [4, 8) steps back" in text


def test_what_is_no_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with open_display() as shown:
        assert isinstance(shown, PlainDisplay)
