"""The race on the screen, a row for each regime: live on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import NamedTuple

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from backplay.cli.race import Update

PLAIN_SECONDS = 15.0  # between two reports
EARLY = 0.02  # before this share of the frames an estimate of the time left means nothing


class Row(NamedTuple):
    """Where a regime stands, over all its seeds."""

    frames: int
    speed: float
    """Frames per second of its runs that are under way."""
    success: str
    """From the true start in the last evaluation of each seed."""
    starts: str
    """Where the episodes of its latest run start now."""


class Standings:
    """Where all runs stand, by regime."""

    def __init__(self, regimes: Sequence[str], frames_each: int, seeds: int) -> None:
        """Nothing has run yet; each regime trains `seeds` times for `frames_each`."""
        self.regimes = regimes
        self.total = frames_each * seeds
        self._frames_each = frames_each
        self._latest: dict[tuple[str, int], Update] = {}
        self._starts = dict.fromkeys(regimes, "waiting")
        self._began = 0.0  # at the first update: starting processes is no training

    def take(self, update: Update) -> None:
        """Notes an update."""
        if not self._latest:
            self._began = time.monotonic()
        self._latest[update.regime, update.seed] = update
        self._starts[update.regime] = update.starts

    def row(self, regime: str) -> Row:
        """Where a regime stands."""
        latest = sorted(self._latest.items())
        updates = [update for (name, _), update in latest if name == regime]
        # A run's last rollout may go a little beyond its frames.
        frames = sum(min(update.frames, self._frames_each) for update in updates)
        speed = sum(update.speed for update in updates if update.frames < self._frames_each)
        success = [f"{u.true_success:.0%}" for u in updates if u.true_success is not None]
        return Row(frames, speed, " ".join(success) or "–", self._starts[regime])

    def time_left(self) -> str:
        """Until the end of all runs, at the speed so far."""
        done = sum(self.row(regime).frames for regime in self.regimes)
        total = self.total * len(self.regimes)
        if done < total * EARLY:
            return "–"
        seconds = (time.monotonic() - self._began) * (total - done) / done
        return str(timedelta(seconds=round(seconds)))

    def table(self) -> Table:
        """All rows and the sum, for a terminal."""
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for name in ("regime", "", "frames", "frames/s", "true start", "starts now"):
            table.add_column(name, justify="right" if name.startswith("frames") else "left")
        done = 0
        for regime in self.regimes:
            frames, speed, success, starts = self.row(regime)
            done += frames
            bar = ProgressBar(total=self.total, completed=frames, width=12)
            cells = (f"{frames:,}", f"{speed:,.0f}", f"[bold]{success}[/]")
            table.add_row(f"[bold]{regime}[/]", bar, *cells, starts)
        bar = ProgressBar(total=self.total * len(self.regimes), completed=done, width=12)
        table.add_row("all", bar, f"{done:,}", "", "", f"{self.time_left()} left", style="dim")
        return table

    def lines(self) -> Iterator[str]:
        """All rows and the sum, as text."""
        done = 0
        for regime in self.regimes:
            row = self.row(regime)
            done += row.frames
            yield (
                f"{regime:<9} {row.frames:>9,} of {self.total:,} frames  {row.speed:6,.0f}/s"
                f"  true start {row.success}  starts: {row.starts}"
            )
        total = self.total * len(self.regimes)
        yield f"{'all':<9} {done:>9,} of {total:,} frames, {self.time_left()} left"


@contextmanager
def show_standings(standings: Standings) -> Iterator[Screen]:
    """A screen to be told of every update."""
    if sys.stdout.isatty():
        with Live(
            console=Console(highlight=False),
            refresh_per_second=4,
            get_renderable=standings.table,
        ):
            yield Screen(standings, plain=False)
    else:
        yield Screen(standings, plain=True)


class Screen:
    """Takes updates in; as plain lines it prints now and then, a live table redraws itself."""

    def __init__(self, standings: Standings, *, plain: bool) -> None:
        """Shows `standings`."""
        self._standings, self._plain = standings, plain
        self._next = time.monotonic() + PLAIN_SECONDS

    def show(self, update: Update) -> None:
        """Notes an update and shows it when it is time."""
        self._standings.take(update)
        if self._plain and time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_SECONDS
            print(*self._standings.lines(), "", sep="\n", flush=True)
