"""Progress of one run, of many, or of anything that is counted: always on standard error.

Comes in: `Progress` after every update, an `Overview` of a sweep, counts. A terminal sees lines
that change in place; elsewhere plain lines come now and then. Does not know: what is trained.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from backplay.runs import Run
    from backplay.runs.execute import Show
    from backplay.runs.standing import Standing
    from backplay.runs.sweep import Overview
    from backplay.train import Progress

PLAIN_SECONDS = 10.0  # between two plain reports, if nothing happens
_COLUMNS = ("run", "", "frames", "frames/s", "true start", "starts now", "left")
_RIGHT = {"frames", "frames/s", "true start", "left"}

Count = Callable[[int, str], None]
"""Takes how much is done and a few words on it."""


class Display:
    """Where progress is shown."""

    def __init__(self, live: Live | None = None) -> None:
        """On a terminal if there is a `live` one, else as plain lines."""
        self._live = live
        self._next = time.monotonic() + PLAIN_SECONDS

    def say(self, line: str) -> None:
        """A line that stays."""
        if self._live is None:
            with suppress(OSError):  # a log on a full disk
                print(line, file=sys.stderr, flush=True)
        else:
            self._live.console.print(Text(line))

    def show(self, progress: Progress) -> None:
        """Where one run stands, after every update; its evaluations stay."""
        evaluated = progress.evaluation is not None
        if evaluated and self._live is not None:
            self.say(f"{progress.frames:>11,} frames: {progress.evaluation}")
        self._draw(lambda: run_panel(progress), lambda: [str(progress)], now=evaluated)

    def show_all(self, overview: Overview) -> None:
        """Where many runs stand, about once a second."""
        self._draw(lambda: overview_table(overview), lambda: overview_lines(overview))

    def count(self, done: int, total: int | None, words: str) -> None:
        """How much of something is done."""
        self._draw(lambda: _counted(done, total, words), lambda: [words])

    def _draw(
        self,
        live: Callable[[], RenderableType],
        plain: Callable[[], Iterable[str]],
        *,
        now: bool = False,
    ) -> None:
        if self._live is not None:
            self._live.update(live())
        elif now or time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_SECONDS
            for line in plain():
                self.say(line)


@contextmanager
def open_display() -> Iterator[Display]:
    """A live display if standard error is a terminal, else plain lines."""
    if sys.stderr.isatty():
        console = Console(stderr=True, highlight=False)
        with Live(console=console, refresh_per_second=4, transient=True) as live:
            yield Display(live)
    else:
        yield Display()


@contextmanager
def counting(total: int | None, unit: str) -> Iterator[Count]:
    """A function that shows how much is done, of `total` if that is known."""
    whole = "" if total is None else f" of {total:,}"
    with open_display() as display:
        yield lambda done, words: display.count(done, total, f"{done:,}{whole} {unit}  {words}")


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


def run_panel(progress: Progress) -> Group:
    """Where one run stands, for a terminal: how far, and how well."""
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


def overview_table(overview: Overview) -> Table:
    """Where many runs stand, for a terminal: a row for each that runs, and one for all."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in _COLUMNS:
        table.add_column(name, justify="right" if name in _RIGHT else "left", no_wrap=True)
    for run in overview.running:
        frames, speed, success, starts, left = _cells(run)
        bar = ProgressBar(total=1.0, completed=run.share, width=12)
        title, reached = Text(run.name, "bold"), Text(success, "bold")
        table.add_row(title, bar, frames, speed, reached, Text(starts), left)
    bar = ProgressBar(total=1.0, completed=overview.share, width=12)
    left = duration(overview.seconds_left)
    table.add_row("all", bar, "", "", "", _counts(overview), left, style="dim")
    return table


def overview_lines(overview: Overview) -> Iterator[str]:
    """Where many runs stand, as text."""
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


def _counted(done: int, total: int | None, words: str) -> Table:
    table = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=total, completed=done, width=24, pulse=total is None)
    table.add_row(bar, Text(words))
    return table


def _cells(run: Standing) -> tuple[str, str, str, str, str]:
    return (
        f"{run.frames:,}",
        "–" if run.speed is None else f"{run.speed:,.0f}",
        _percent(run.success),
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


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
