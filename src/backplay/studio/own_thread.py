"""Work in one thread of its own, one piece after the other, and the last few who have one.

Drawing libraries keep their state by thread, so an environment is made, stepped, drawn and closed
in one. Comes in: functions. Goes out: what they return or raise. Does not know: environments.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

from backplay.errors import BackplayError

T = TypeVar("T")


class OwnThread:
    """A thread that does what it is given."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)

    def run(self, work: Callable[[], T]) -> T:
        """Does `work` there, and waits for it."""
        try:
            given: Future[T] = self._pool.submit(work)
        except RuntimeError as error:
            raise BackplayError("This was closed meanwhile", do="Open it again.") from error
        return given.result()

    def end(self, last: Callable[[], None] | None = None) -> None:
        """Does a last piece after those that wait, and ends."""
        if last is not None:
            self._pool.submit(last)
        self._pool.shutdown()


class Closable(Protocol):
    """What a shelf holds."""

    def close(self) -> None:
        """Ends it."""


C = TypeVar("C", bound=Closable)


class Shelf(Generic[C]):
    """The last few things that were opened; one more, and the one that waited longest is closed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[Hashable, C] = {}
        self._lock = threading.RLock()

    def get(self, key: Hashable, make: Callable[[], C]) -> C:
        """What `key` names, made if it is not there."""
        with self._lock:
            found = self._held.pop(key, None)
            self._held[key] = found = make() if found is None else found
            if len(self._held) > self._most:
                self._held.pop(next(iter(self._held))).close()
            return found

    def close(self) -> None:
        """Closes all."""
        with self._lock:
            for held in self._held.values():
                held.close()
            self._held.clear()
