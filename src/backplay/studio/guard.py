"""Who may ask: the token, the host, the origin, and the size of what is sent.

    app = Guard(app, token=token, hosts=frozenset({"127.0.0.1:8100"}), cookie="backplay-8100")

Stands before every request and every socket. Comes in: what a browser, or anybody, sends. Goes out:
a refusal, or the request passed on. Does not know: the routes.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 2**28  # of one request
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:;"
    " style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none';"
    " form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """An application that is reached only by who may."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str,
        hosts: frozenset[str],
        cookie: str,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """In front of `app`.

        Args:
            app: what is guarded.
            token: the secret that the page's address was printed with.
            hosts: host and port as a browser writes them; any other name is refused, or a name of
                somebody else's that points here would read what is here.
            cookie: the name of the cookie that keeps the token, with the port: cookies have none.
            most_bytes: of one request.
        """
        self._app, self._token, self._hosts = app, token, hosts
        self._cookie, self._most = cookie, most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses, or passes on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, self._counted(receive), self._with_headers(scope, send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refusal[1][:100]})
        else:
            status, words = refusal
            answer = PlainTextResponse(words + "\n", status, headers=_HEADERS)
            await answer(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if headers.get("host", "") not in self._hosts:
            return 403, "This address is not the studio's: use the one it printed."
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return 403, "Another page may not ask the studio."
        if not secrets.compare_digest(self._given(scope, headers).encode(), self._token.encode()):
            return 403, "The token is missing: open the whole address that the studio printed."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most:
            return 413, f"At most {self._most:,} bytes."
        return None

    def _given(self, scope: Scope, headers: Headers) -> str:
        """The token of a request: in a header, in the cookie, or in the address of the page."""
        bearer = headers.get("authorization", "")
        if bearer.startswith("Bearer "):
            return bearer.removeprefix("Bearer ")
        try:
            kept = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            kept = None
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if scope["path"] == "/" and asked:
            return str(asked[0])
        return str(kept.value) if kept else ""

    def _counted(self, receive: Receive) -> Receive:
        """Stops a body that is longer than it said, or did not say how long it is."""
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if message["type"] == "http.request" and seen > self._most:
                return {"type": "http.disconnect"}
            return message

        return counted

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"] == "/":
                    kept = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
                    headers.append("Set-Cookie", kept)
            await send(message)

        return told
