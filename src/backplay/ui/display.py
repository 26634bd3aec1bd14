"""Progress of a training run: a live line on a terminal, plain lines elsewhere.

Comes in: `Progress` after every update. Does not know: what is trained.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from backplay.runs import Run
from backplay.runs.execute import Show
from backplay.train import Progress

PLAIN_SECONDS = 10.0  # between two plain lines, if nothing happens


class Display(Protocol):
    """Where the progress of a run is shown."""

    def show(self, progress: Progress) -> None:
        """After every update."""

    def say(self, line: str) -> None:
        """A line that stays."""


@contextmanager
def open_display() -> Iterator[Display]:
    """A live display if the output is a terminal, else plain lines."""
    if sys.stdout.isatty():
        console = Console(highlight=False)
        with Live(console=console, refresh_per_second=4, transient=True) as live:
            yield LiveDisplay(live)
    else:
        yield PlainDisplay()


@contextmanager
def showing(run: Run, display: Display, *, tensorboard: bool) -> Iterator[Show]:
    """What to call after every update of a run: the display, and if asked for TensorBoard's log."""
    if not tensorboard:
        yield display.show
        return
    from backplay.integrations.tensorboard import open_logs

    loaded = run.load()
    at = int(loaded.state["frames"]) if loaded else 0
    with open_logs(run.path / "tensorboard", resumed_at=at) as log:

        def both(progress: Progress) -> None:
            log(progress)
            display.show(progress)

        yield both


class PlainDisplay:
    """A line at every evaluation, and now and then between."""

    def __init__(self) -> None:
        self._next = time.monotonic() + PLAIN_SECONDS

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.evaluation is not None or now >= self._next:
            self._next = now + PLAIN_SECONDS
            self.say(str(progress))

    def say(self, line: str) -> None:
        print(line, flush=True)


class LiveDisplay:
    """Two lines that change in place: how far, and how well. Evaluations stay above them."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, progress: Progress) -> None:
        if progress.evaluation is not None:
            self.say(f"{progress.frames:>11,} frames: {progress.evaluation}")
        self._live.update(_panel(progress))

    def say(self, line: str) -> None:
        self._live.console.print(line)


def _panel(progress: Progress) -> Group:
    total = progress.total_frames
    first = Table.grid(padding=(0, 2))
    first.add_row(
        ProgressBar(total=total, completed=min(progress.frames, total), width=24),
        f"{progress.frames:,} of {total:,} frames",
        f"{progress.frames_per_second:,.0f}/s",
        f"{timedelta(seconds=round(progress.seconds_left))} left",
    )
    second = Text.assemble(
        "success ", (_percent(progress.true_success), "bold green"), " from the true start, ",
        (_percent(progress.train_success), "bold"), " from ", (progress.starts, "cyan"),
    )  # fmt: skip
    return Group(first, second)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
