"""A studio in this process for tests: its server in a thread, a browser outside."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

from backplay.studio.desk import Desk
from backplay.studio.server import application, new_token

if TYPE_CHECKING:
    from playwright.sync_api import Page


@dataclass(frozen=True)
class Served:
    """A studio that answers."""

    desk: Desk
    port: int
    token: str

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def address(self, page: str = "home") -> str:
        return f"{self.origin}/?token={self.token}#{page}"


@contextmanager
def serve(folder: Path, **options: Any) -> Iterator[Served]:
    """A studio of this folder on a free port."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    token, desk = new_token(), Desk(folder)
    hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
    app = application(desk, token=token, hosts=hosts, cookie=f"backplay-{port}", **options)
    settings = uvicorn.Config(
        app, log_level="error", ws="websockets-sansio", lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield Served(desk, port, token)
    finally:
        server.should_exit = True
        thread.join(10)
        desk.close()
        listening.close()


def watch_requests(page: "Page", origin: str) -> list[str]:
    """The addresses of other hosts that a page asks for, and what goes wrong in it."""
    wrong: list[str] = []

    def note(request: Any) -> None:
        local = (origin, "blob:", "data:")
        if not request.url.startswith(local):
            wrong.append(request.url)

    page.on("request", note)
    page.on("websocket", lambda ws: wrong.append(ws.url) if "127.0.0.1" not in ws.url else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    return wrong
