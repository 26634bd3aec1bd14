"""A sweep on the screen: a live table on a terminal, plain lines elsewhere.

Comes in: where the sweep stands, again and again, and events in words.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table

from backplay.runs.sweep import Overview, Standing

PLAIN_SECONDS = 10.0  # between two reports, if nothing happens
_COLUMNS = ("run", "", "frames", "frames/s", "true start", "starts now", "left")
_RIGHT = {"frames", "frames/s", "true start", "left"}


class SweepDisplay(Protocol):
    """Where a sweep is shown."""

    def show(self, overview: Overview) -> None:
        """About once a second."""

    def say(self, line: str) -> None:
        """A line that stays."""


@contextmanager
def open_sweep_display() -> Iterator[SweepDisplay]:
    """A live table if the output is a terminal, else plain lines."""
    if sys.stdout.isatty():
        console = Console(highlight=False)
        with Live(console=console, refresh_per_second=2, transient=True) as live:
            yield LiveSweep(live)
    else:
        yield PlainSweep()


class PlainSweep:
    """Events as they come, and all running runs now and then."""

    def __init__(self) -> None:
        self._next = time.monotonic() + PLAIN_SECONDS

    def show(self, overview: Overview) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_SECONDS
            print(*overview_lines(overview), sep="\n", flush=True)

    def say(self, line: str) -> None:
        print(line, flush=True)


class LiveSweep:
    """A row for each running run, and one for all; events stay above."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, overview: Overview) -> None:
        self._live.update(overview_table(overview))

    def say(self, line: str) -> None:
        self._live.console.print(escape(line))


def overview_table(overview: Overview) -> Table:
    """Where the sweep stands, for a terminal."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in _COLUMNS:
        table.add_column(name, justify="right" if name in _RIGHT else "left", no_wrap=True)
    for run in overview.running:
        frames, speed, success, starts, left = _cells(run)
        bar = ProgressBar(total=1.0, completed=run.share, width=12)
        name = f"[bold]{escape(run.name)}[/]"
        table.add_row(name, bar, frames, speed, f"[bold]{success}[/]", escape(starts), left)
    bar = ProgressBar(total=1.0, completed=overview.share, width=12)
    left = duration(overview.seconds_left)
    table.add_row("all", bar, "", "", "", _counts(overview), left, style="dim")
    return table


def overview_lines(overview: Overview) -> Iterator[str]:
    """Where the sweep stands, as text."""
    for run in overview.running:
        frames, speed, success, starts, left = _cells(run)
        yield (
            f"  {run.name}: {frames} of {run.total:,} frames, {speed}/s, true start {success}, "
            f"starts {starts}, {left} left"
        )
    left = duration(overview.seconds_left)
    yield f"{overview.share:.0%}: {_counts(overview)}; {left} left"


def duration(seconds: float | None) -> str:
    """A time that somebody waits, in words: "40 s", "12 min", "3 h 20 min", "4 days"."""
    if seconds is None:
        return "–"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 10:
        return f"{hours} h {minutes} min"
    hours = round(seconds / 3600)
    return f"{hours} h" if hours < 72 else f"{round(hours / 24)} days"


def _cells(run: Standing) -> tuple[str, str, str, str, str]:
    return (
        f"{run.frames:,}",
        "–" if run.speed is None else f"{run.speed:,.0f}",
        "–" if run.success is None else f"{run.success:.0%}",
        run.starts or "–",
        duration(run.seconds_left),
    )


def _counts(overview: Overview) -> str:
    counts = {
        "done": overview.done,
        "running": len(overview.running),
        "waiting": overview.waiting,
        "failed": overview.failed,
    }
    words = [f"{count} {what}" for what, count in counts.items() if count or what == "done"]
    return ", ".join(words)
