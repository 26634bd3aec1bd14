"""What waits for one window: the newest facts and picture, and every small picture since.

Comes in: updates from the recording's thread. Goes out: one update at a time, as fast as the window
takes them; a slow window misses pictures, never facts.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from backplay.studio.stage import Update


class Mailbox:
    """Between a thread that tells and a socket that sends."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: Update | None = None
        self._filled = asyncio.Event()

    def put(self, update: Update) -> None:
        """Called from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, update)

    async def next(self) -> Update:
        """The next one, as soon as there is one."""
        await self._filled.wait()
        self._filled.clear()
        update, self._waiting = self._waiting, None
        assert update is not None
        return update

    def _put(self, update: Update) -> None:
        before = self._waiting
        if before is not None:
            update = replace(
                update,
                facts={**before.facts, **update.facts},
                picture=update.picture or before.picture,
                thumbs={**before.thumbs, **update.thumbs},
            )
        self._waiting = update
        self._filled.set()
