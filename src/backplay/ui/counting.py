"""Progress of work that can be counted: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

PLAIN_SECONDS = 10.0  # between two plain lines

Count = Callable[[int, str], None]
"""Takes how much is done and a few words on it."""


@contextmanager
def counting(total: int | None, unit: str) -> Iterator[Count]:
    """A function that shows how much is done, of `total` if that is known."""
    if sys.stdout.isatty():
        columns = (BarColumn(32), TextColumn("{task.description}"), TimeRemainingColumn())
        console = Console(highlight=False)
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(unit, total=total)
            yield lambda done, words: bar.update(
                task, completed=done, description=_line(done, total, unit, words)
            )
    else:
        yield _plain(total, unit)


def _line(done: int, total: int | None, unit: str, words: str) -> str:
    return f"{done:,}{'' if total is None else f' of {total:,}'} {unit}  {words}"


def _plain(total: int | None, unit: str) -> Count:
    due = time.monotonic() + PLAIN_SECONDS

    def count(done: int, words: str) -> None:
        nonlocal due
        if time.monotonic() >= due and done != total:
            due = time.monotonic() + PLAIN_SECONDS
            print(_line(done, total, unit, words), flush=True)

    return count
