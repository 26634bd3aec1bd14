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
from collections.abc import Awaitable, Callable
from contextlib import suppress
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
from backplay.errors import BackplayError, show
from backplay.studio.agents import RunAgent
from backplay.studio.desk import Desk
from backplay.studio.guard import MOST_BYTES, Guard
from backplay.studio.mailbox import Mailbox
from backplay.studio.pictures import Picture

PAGES = Path(str(resources.files("backplay.studio") / "pages"))
_FILMS = {"gif": "image/gif", "mp4": "video/mp4"}

Answer = Callable[[Request], Awaitable[Response]]


def new_token() -> str:
    """A secret that nobody guesses."""
    return secrets.token_urlsafe(24)


def application(
    desk: Desk, *, token: str, hosts: frozenset[str], cookie: str, most_bytes: int = MOST_BYTES
) -> ASGIApp:
    """The studio as an ASGI application behind its guard, whose arguments see."""
    routes = _Routes(desk)
    app = Starlette(
        routes=[
            Route("/", _page),
            Mount("/pages", StaticFiles(directory=PAGES)),
            WebSocketRoute("/recording", routes.socket),
            *(Route(f"/api/{name}", _told(answer), methods=[method])
              for name, (method, answer) in routes.table().items()),
        ],
    )  # fmt: skip
    return Guard(app, token=token, hosts=hosts, cookie=cookie, most_bytes=most_bytes)


async def _page(_: Request) -> Response:
    return FileResponse(PAGES / "index.html")


def _told(answer: Answer) -> Answer:
    """The same, with errors as words for the page."""

    async def told(request: Request) -> Response:
        try:
            return await answer(request)
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


class _Routes:
    """What can be asked for."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def table(self) -> dict[str, tuple[str, Answer]]:
        """By name: the method and what answers."""
        gets = {
            "home": self._home, "demo": self._demo, "demo/picture": self._picture,
            "demo/thumbs": self._thumbs, "demo/film": self._film, "demo/file": self._file,
            "demo/values": self._values, "run": self._run, "run/scenes": self._run_scenes,
            "run/thumbs": self._run_thumbs, "run/picture": self._run_picture,
            "run/film": self._run_film,
        }  # fmt: skip
        posts = {
            "record": self._record, "record/end": self._end, "left/remove": self._forget,
            "demo/mend": self._mend, "demo/minari": self._minari, "upload": self._upload,
            "train": self._train, "train/stop": self._stop, "train/resume": self._resume,
        }  # fmt: skip
        return {
            **{name: ("GET", answer) for name, answer in gets.items()},
            **{name: ("POST", answer) for name, answer in posts.items()},
        }

    async def _home(self, _: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self._desk.home))

    async def _record(self, request: Request) -> Response:
        asked = await _asked(request)
        await run_in_threadpool(self._desk.record, asked)
        return JSONResponse({})

    async def _end(self, _: Request) -> Response:
        await run_in_threadpool(self._desk.end_recording)
        return JSONResponse({})

    async def _forget(self, request: Request) -> Response:
        asked = await _asked(request)
        await run_in_threadpool(self._desk.forget, asked.get("left"))
        return JSONResponse({})

    async def _demo(self, request: Request) -> Response:
        opened = await run_in_threadpool(self._desk.open, request.query_params.get("name"))
        return JSONResponse(await run_in_threadpool(opened.facts))

    async def _picture(self, request: Request) -> Response:
        opened = await run_in_threadpool(self._desk.open, request.query_params.get("name"))
        return _shown(await run_in_threadpool(opened.picture, _number(request, "step")))

    async def _thumbs(self, request: Request) -> Response:
        opened = await run_in_threadpool(self._desk.open, request.query_params.get("name"))
        found = await run_in_threadpool(opened.thumbs)
        return _packed({}, found)

    async def _film(self, request: Request) -> Response:
        kind = request.query_params.get("kind", "gif")
        opened = await run_in_threadpool(self._desk.open, request.query_params.get("name"))
        data = await run_in_threadpool(opened.film, kind)
        return _download(data, _FILMS[kind], f"{opened.path.stem}.{kind}")

    async def _file(self, request: Request) -> Response:
        path = self._desk.folder.existing(request.query_params.get("name"))
        if path.suffix != ".npz" or not path.is_file():
            raise BackplayError("name", expected="a demonstration", got=show(path.name))
        return FileResponse(path, filename=path.name)

    async def _mend(self, request: Request) -> Response:
        asked = await _asked(request)
        return JSONResponse(await run_in_threadpool(self._desk.mend, asked))

    async def _minari(self, request: Request) -> Response:
        asked = await _asked(request)
        where = await run_in_threadpool(self._desk.to_minari, asked)
        return JSONResponse({"where": where})

    async def _upload(self, request: Request) -> Response:
        path = self._desk.folder.new_file(request.query_params.get("name"))
        data = await request.body()

        def work() -> None:
            load(io.BytesIO(data))  # refuses what is no demonstration
            write_atomically(path, data)

        await run_in_threadpool(work)
        return JSONResponse({"name": self._desk.folder.name_of(path)})

    async def _values(self, request: Request) -> Response:
        query = request.query_params
        agent = await self._agent(request)
        opened = await run_in_threadpool(self._desk.open, query.get("name"))
        return JSONResponse({"values": await run_in_threadpool(agent.values, opened)})

    async def _run(self, request: Request) -> Response:
        name = request.query_params.get("name")
        return JSONResponse(await run_in_threadpool(self._desk.run, name))

    async def _run_film(self, request: Request) -> Response:
        demo, step = _number(request, "demo"), _number(request, "step")
        greedy = request.query_params.get("greedy") == "true"
        agent = await self._agent(request)
        facts, reel = await run_in_threadpool(lambda: agent.film(demo, step, greedy=greedy))
        return _packed(facts, reel.pictures)

    async def _run_scenes(self, request: Request) -> Response:
        return JSONResponse({"lengths": (await self._agent(request)).lengths()})

    async def _run_thumbs(self, request: Request) -> Response:
        agent = await self._agent(request)
        return _packed({}, await run_in_threadpool(agent.thumbs, _number(request, "demo")))

    async def _run_picture(self, request: Request) -> Response:
        demo, step = _number(request, "demo"), _number(request, "step")
        agent = await self._agent(request)
        return _shown(await run_in_threadpool(agent.picture, demo, step))

    async def _agent(self, request: Request) -> RunAgent:
        return await run_in_threadpool(self._desk.agent, request.query_params.get("run"))

    async def _train(self, request: Request) -> Response:
        asked = await _asked(request)
        return JSONResponse({"run": await run_in_threadpool(self._desk.trainings.start, asked)})

    async def _stop(self, request: Request) -> Response:
        asked = await _asked(request)
        await run_in_threadpool(self._desk.trainings.stop, asked.get("run"))
        return JSONResponse({})

    async def _resume(self, request: Request) -> Response:
        asked = await _asked(request)
        await run_in_threadpool(self._desk.trainings.resume, asked.get("run"))
        return JSONResponse({})

    async def socket(self, socket: WebSocket) -> None:
        """One window on the recording."""
        await socket.accept()
        stage = self._desk.stage
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


async def _asked(request: Request) -> dict[str, Any]:
    try:
        asked = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise BackplayError("request", expected="a JSON object", got=error) from error
    if not isinstance(asked, dict):
        raise BackplayError("request", expected="a JSON object", got=show(asked))
    return asked


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "")
    if not text.isdecimal() or len(text) > 9:
        raise BackplayError(name, expected="a whole number from 0", got=show(text))
    return int(text)


def _shown(picture: Picture) -> Response:
    return Response(picture.data, media_type=picture.kind)


def _download(data: bytes, kind: str, name: str) -> Response:
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
    return Response(
        data, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{safe}"'}
    )
