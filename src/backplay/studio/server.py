"""The routes: requests become calls, errors become words.

Comes in: requests that the guard let through. Goes out: plain data, pictures, files. Whatever takes
time is done in threads. Does not know: how anything is done.
"""

from __future__ import annotations

import asyncio
import io
import json
import secrets
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from backplay.data.files import write_atomically
from backplay.demos import load
from backplay.errors import BackplayError, ensure, show
from backplay.studio.agents import RunAgent
from backplay.studio.desk import Desk
from backplay.studio.gallery import Opened
from backplay.studio.guard import MOST_BYTES, Guard
from backplay.studio.pictures import Picture
from backplay.studio.stage import Update

PAGES = Path(str(resources.files("backplay.studio") / "pages"))
_FILMS = {"gif": "image/gif", "mp4": "video/mp4"}

Deed = Callable[[Desk, Mapping[str, Any]], Any]
"""From the desk and what is asked for to the answer: plain data, a picture, a `Response`."""


def new_token() -> str:
    """A secret that nobody guesses."""
    return secrets.token_urlsafe(24)


def application(
    desk: Desk, *, token: str, hosts: frozenset[str], cookie: str, most_bytes: int = MOST_BYTES
) -> ASGIApp:
    """The studio as an ASGI application behind its guard, whose arguments see."""
    app = Starlette(
        routes=[
            Route("/", _page),
            Mount("/pages", StaticFiles(directory=PAGES)),
            WebSocketRoute("/recording", partial(_recording, desk)),
            *(Route(f"/api/{name}", _told(desk, deed, _query)) for name, deed in GETS.items()),
            *(Route(f"/api/{name}", _told(desk, deed, _asked), methods=["POST"])
              for name, deed in POSTS.items()),
            Route("/api/upload", _told(desk, _upload, _sent), methods=["POST"]),
        ],
    )  # fmt: skip
    return Guard(app, token=token, hosts=hosts, cookie=cookie, most_bytes=most_bytes)


async def _page(_: Request) -> Response:
    return FileResponse(PAGES / "index.html")


def _told(
    desk: Desk, deed: Deed, read: Callable[[Request], Awaitable[Mapping[str, Any]]]
) -> Callable[[Request], Awaitable[Response]]:
    """The answer to a request, made in a thread, with errors as words for the page."""

    async def told(request: Request) -> Response:
        try:
            asked = await read(request)
            return await run_in_threadpool(lambda: _response(deed(desk, asked)))
        except BackplayError as error:
            return JSONResponse({"error": str(error)}, 400)
        except ClientDisconnect:
            return JSONResponse({"error": "That is more than the studio takes."}, 413)
        except OSError as error:
            return JSONResponse({"error": error.strerror or str(error)}, 400)
        except Exception as error:  # an environment is anybody's code
            traceback.print_exc()
            return JSONResponse({"error": f"{type(error).__name__}: {error}"[:500]}, 500)

    return told


def _response(found: Any) -> Response:
    if isinstance(found, Response):
        return found
    if isinstance(found, Picture):
        return Response(found.data, media_type=found.kind)
    return JSONResponse({} if found is None else found)


def _demo(desk: Desk, asked: Mapping[str, Any]) -> Opened:
    return desk.open(asked.get("name"))


def _agent(desk: Desk, asked: Mapping[str, Any]) -> RunAgent:
    return desk.agent(asked.get("run"))


def _film(desk: Desk, asked: Mapping[str, Any]) -> Response:
    opened, kind = _demo(desk, asked), asked.get("kind", "gif")
    data = opened.film(kind)
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in f"{opened.path.stem}.{kind}")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=_FILMS[kind], headers=headers)


def _file(desk: Desk, asked: Mapping[str, Any]) -> Response:
    path = desk.folder.existing(asked.get("name"))
    ensure(path.suffix == ".npz" and path.is_file(), "name", "a demonstration", path.name)
    return FileResponse(path, filename=path.name)


def _run_film(desk: Desk, asked: Mapping[str, Any]) -> Response:
    demo, step = _number(asked, "demo"), _number(asked, "step")
    facts, reel = _agent(desk, asked).film(demo, step, greedy=asked.get("greedy") == "true")
    return _packed(facts, reel.pictures)


def _upload(desk: Desk, asked: Mapping[str, Any]) -> dict[str, Any]:
    path = desk.folder.new_file(asked["name"])
    load(io.BytesIO(asked["data"]))  # refuses what is no demonstration
    write_atomically(path, asked["data"])
    return {"name": desk.folder.name_of(path)}


GETS: dict[str, Deed] = {
    "home": lambda desk, _: desk.home(),
    "demo": lambda desk, asked: _demo(desk, asked).facts(),
    "demo/picture": lambda desk, asked: _demo(desk, asked).picture(_number(asked, "step")),
    "demo/thumbs": lambda desk, asked: _packed({}, _demo(desk, asked).thumbs()),
    "demo/film": _film,
    "demo/file": _file,
    "demo/values": lambda desk, asked: {"values": _agent(desk, asked).values(_demo(desk, asked))},
    "run": lambda desk, asked: desk.run(asked.get("name")),
    "run/scenes": lambda desk, asked: {"lengths": _agent(desk, asked).lengths()},
    "run/thumbs": lambda desk, asked: _packed(
        {}, _agent(desk, asked).thumbs(_number(asked, "demo"))
    ),
    "run/picture": lambda desk, asked: _agent(desk, asked).picture(
        _number(asked, "demo"), _number(asked, "step")
    ),
    "run/film": _run_film,
}
POSTS: dict[str, Deed] = {
    "record": lambda desk, asked: desk.record(dict(asked)),
    "record/end": lambda desk, _: desk.end_recording(),
    "left/remove": lambda desk, asked: desk.forget(asked.get("left")),
    "demo/mend": lambda desk, asked: desk.mend(dict(asked)),
    "demo/minari": lambda desk, asked: {"where": desk.to_minari(dict(asked))},
    "train": lambda desk, asked: {"run": desk.trainings.start(dict(asked))},
    "train/stop": lambda desk, asked: desk.trainings.stop(asked.get("run")),
    "train/resume": lambda desk, asked: desk.trainings.resume(asked.get("run")),
}


async def _recording(desk: Desk, socket: WebSocket) -> None:
    """One window on the recording."""
    await socket.accept()
    stage = desk.stage
    if stage is None:
        await socket.close(4404, "Nothing is being recorded.")
        return
    mailbox = Mailbox(asyncio.get_running_loop())
    window = stage.join(mailbox.put)
    sender = asyncio.create_task(_send_all(socket, mailbox))
    try:
        while True:
            stage.send(window, json.loads(await socket.receive_text()))
    except (WebSocketDisconnect, ValueError, RuntimeError):
        pass
    finally:
        stage.leave(window)
        sender.cancel()
        with suppress(RuntimeError):
            await socket.close()


async def _send_all(socket: WebSocket, mailbox: Mailbox) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            update = await mailbox.next()
            await socket.send_bytes(packed(update.facts, update.picture, update.thumbs))


def packed(facts: dict[str, Any], picture: Picture | None, thumbs: dict[int, Picture]) -> bytes:
    """Facts and pictures as one message: the length of a JSON head, the head, the pictures."""
    head = {
        "facts": facts,
        "picture": None if picture is None else [picture.kind, len(picture.data)],
        "thumbs": [[step, small.kind, len(small.data)] for step, small in thumbs.items()],
    }
    text = json.dumps(head).encode()
    parts = [len(text).to_bytes(4, "big"), text]
    parts += [picture.data] if picture else []
    parts += [small.data for small in thumbs.values()]
    return b"".join(parts)


def _packed(facts: dict[str, Any], drawn: dict[int, Picture]) -> Response:
    return Response(packed(facts, None, drawn), media_type="application/octet-stream")


async def _query(request: Request) -> Mapping[str, Any]:
    return request.query_params


async def _sent(request: Request) -> Mapping[str, Any]:
    return {"name": request.query_params.get("name"), "data": await request.body()}


async def _asked(request: Request) -> Mapping[str, Any]:
    try:
        asked = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError) as error:
        raise BackplayError("request", expected="a JSON object", got=error) from error
    if not isinstance(asked, dict):
        raise BackplayError("request", expected="a JSON object", got=show(asked))
    return asked


def _number(asked: Mapping[str, Any], name: str) -> int:
    text = asked.get(name, "")
    ensure(text.isdecimal() and len(text) <= 9, name, "a whole number from 0", text)
    return int(text)


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
