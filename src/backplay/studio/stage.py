"""A recording in a thread of its own: time passes, one window plays, the others watch.

Comes in: messages of windows. Goes out: updates to every window. Drawing libraries keep their state
by thread, so an environment is made, stepped and drawn in one.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from backplay.studio.pictures import Picture
from backplay.studio.recording import Recording

_MOST_WAITING = 512  # messages of windows
_LATE = 0.5  # seconds after which lost time is not made up for


@dataclass(frozen=True)
class Update:
    """What a window is told."""

    facts: dict[str, Any]
    picture: Picture | None = None
    thumbs: dict[int, Picture] = field(default_factory=dict)


Listener = Callable[[Update], None]
"""Called from the recording's thread."""


class Stage:
    """A recording and its windows."""

    def __init__(self, make: Callable[[], Recording]) -> None:
        """Begins the recording that `make` makes, in the new thread; raises what it raises."""
        self._inbox: queue.Queue[tuple[int, Any] | None] = queue.Queue(_MOST_WAITING)
        self._windows: dict[int, Listener] = {}
        self._lock = threading.Lock()
        self._player: int | None = None
        self._count = 0
        self._told: dict[int, Picture] = {}
        self._told_version = -1
        begun: queue.Queue[Recording | BaseException] = queue.Queue(1)
        self._thread = threading.Thread(target=self._run, args=(make, begun), daemon=True)
        self._thread.start()
        found = begun.get()
        if isinstance(found, BaseException):
            raise found
        self.recording = found

    def join(self, listener: Listener) -> int:
        """A new window: it plays if nobody does, else it watches. Its number."""
        with self._lock:
            self._count += 1
            window = self._count
            self._windows[window] = listener
            if self._player is None:
                self._player = window
        self.send(window, {"do": "hello"})
        return window

    def leave(self, window: int) -> None:
        """A window is closed; if it played, it pauses and nobody plays."""
        with self._lock:
            self._windows.pop(window, None)
            played = self._player == window
            if played:
                self._player = None
        if played:
            self.send(0, {"do": "pause"})

    def send(self, window: int, message: Any) -> None:
        """Passes a message on; what comes too fast is dropped."""
        try:
            self._inbox.put_nowait((window, message))
        except queue.Full:
            return

    def close(self) -> None:
        """Ends the recording and waits for it."""
        self._inbox.put(None)
        self._thread.join()

    def _run(
        self, make: Callable[[], Recording], begun: queue.Queue[Recording | BaseException]
    ) -> None:
        try:
            recording = make()
        except BaseException as error:
            begun.put(error)
            return
        self.recording = recording
        begun.put(recording)
        due = 0.0
        try:
            while True:
                pace = recording.pace
                wait = None if pace is None else max(0.0, due - time.monotonic())
                try:
                    item = self._inbox.get(timeout=wait)
                    if item is None:
                        return
                    if self._handle(*item) and pace is None and recording.pace is not None:
                        due = time.monotonic()
                except queue.Empty:
                    recording.tick()
                    self._tell()
                    due = max(due + 1 / (pace or 1.0), time.monotonic() - _LATE)
        finally:
            recording.close()

    def _handle(self, window: int, message: Any) -> bool:
        """Does what a window asks, if it may; whether it did."""
        deed = message.get("do") if isinstance(message, dict) else None
        if deed == "hello":
            self._greet(window)
            return False
        if deed == "take over":
            with self._lock:
                self._player = window if window in self._windows else self._player
            self.recording.do({"do": "pause"})
        elif window not in (0, self._player):
            self._say(window, "Another window plays. Press “Take over” to play here.")
            return False
        elif deed == "hold":
            self.recording.do(message)
            return not self.recording.message or self._tell()
        else:
            self.recording.do(message)
        self._tell()
        return True

    def _greet(self, window: int) -> None:
        """Everything, for a window that has just been opened; the others hear that it came."""
        recording = self.recording
        facts = {
            "task": {**asdict(recording.task), "restorer": recording.take.restorer.name},
            "controls": recording.controls,
        }
        self._tell(window, facts)
        self._tell()

    def _tell(self, only: int | None = None, more: dict[str, Any] | None = None) -> bool:
        """Sends what is new to every window, or everything to one. False, for `_handle`."""
        recording = self.recording
        facts = {**recording.scene(), **(more or {})}
        thumbs = dict(recording.thumbs.pictures)
        if only is None:
            thumbs = {t: p for t, p in thumbs.items() if self._told.get(t) is not p}
            self._told = dict(recording.thumbs.pictures)
        if only is not None or recording.version != self._told_version:
            facts["timeline"] = recording.timeline()
        if only is None:
            self._told_version = recording.version
        picture = recording.picture()
        with self._lock:
            windows, player = dict(self._windows), self._player
        for window, listener in windows.items():
            if only in (None, window):
                role = "plays" if window == player else "watches"
                seats = {"role": role, "windows": len(windows), "free": player is None}
                listener(Update({**facts, **seats}, picture, thumbs))
        return False

    def _say(self, window: int, words: str) -> None:
        with self._lock:
            listener = self._windows.get(window)
        if listener:
            listener(Update({"message": words}))
