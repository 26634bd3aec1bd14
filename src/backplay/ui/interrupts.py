"""Signals as a wish to stop at the next good moment; the second one stops at once."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)  # of a person, and of a queue
STOPPING = "stopping after this update; once more to stop at once"


@contextmanager
def interrupts(
    words: str, *, signals: Sequence[signal.Signals] = (signal.SIGINT,), raises: bool = True
) -> Iterator[list[int]]:
    """The signals that have come so far, of these; the first prints `words`, if there are any.

    The second is a KeyboardInterrupt, if it `raises`; else it is in the list like the first.
    """
    seen: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        if seen and raises:
            raise KeyboardInterrupt
        seen.append(number)
        if words and len(seen) == 1:
            print(f"\n{words}", file=sys.stderr, flush=True)

    before = {number: signal.signal(number, note) for number in signals}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
