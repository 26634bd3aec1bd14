"""What cannot be done now but may be later: a full disk, a folder in use. Wait, and say so.

Comes in: something to do. Goes out: its result, as soon as it works. Does not know: what it does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from backplay.errors import BusyError

__all__ = ["SECONDS", "until_it_works"]

SECONDS = 5.0
Result = TypeVar("Result")


def until_it_works(
    do: Callable[[], Result],
    say: Callable[[str], None],
    stop: Callable[[], bool] | None = None,
    seconds: float | None = None,
) -> Result:
    """What `do` returns; while it is a BusyError, it is tried again.

    Args:
        do: what changes nothing where it fails.
        say: told why it waits, once for each reason.
        stop: asked before each wait; once it says yes, the error goes on.
        seconds: between two attempts.
    """
    said = ""
    while True:
        try:
            return do()
        except BusyError as error:
            if stop is not None and stop():
                raise
            if str(error) != said:
                said = str(error)
                say(f"waiting: {said} It is tried again every few seconds.")
        time.sleep(SECONDS if seconds is None else seconds)
