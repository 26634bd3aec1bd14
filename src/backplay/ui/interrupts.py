"""Signals as a wish to stop at the next good moment; the second one stops at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Of a person, of a queue, and of a terminal that was closed."""
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
            seen.append(number)
            raise KeyboardInterrupt
        seen.append(number)
        if number == signal.SIGHUP:
            _leave_terminal()
        if words and len(seen) == 1:
            with suppress(OSError):
                print(f"\n{words}", file=sys.stderr, flush=True)

    # Whoever started us with `nohup` wants no signal heard that it made us ignore.
    heard = [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, note) for number in heard}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_code(seen: Sequence[int]) -> int:
    """What a shell says of a process that such signals ended; of Ctrl-C where there are none."""
    return 128 + (seen[0] if seen else signal.SIGINT)


def _leave_terminal() -> None:
    """Words for a terminal that is gone go nowhere, instead of failing."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        with suppress(OSError):
            if os.isatty(stream):
                os.dup2(nowhere, stream)
    os.close(nowhere)
