"""Ctrl-C as a wish to stop at the next good moment; the second one stops at once."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = "stopping after this update; once more to stop at once"


@contextmanager
def interrupts(words: str) -> Iterator[list[int]]:
    """A list that is no longer empty after Ctrl-C, which prints `words`.

    The second Ctrl-C is a KeyboardInterrupt.
    """
    seen: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)
        print(f"\n{words}", file=sys.stderr, flush=True)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
