"""Around every request and connection: its id, its line in the log, and an answer whatever happens."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from contextlib import suppress
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from ..errors import Busy, InternalError
from ..logs import request_id
from .errors import send_error

__all__ = ["Edge"]

logger = logging.getLogger("vivavoce.access")

_SANE_ID = re.compile(r"[A-Za-z0-9._:\-]{1,128}")
_LOGGED_PATH_CHARACTERS = 120
_RESTARTING, _FAULT, _REFUSED = 1012, 1011, 403
# On every reply that has none of its own; the page has.
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Edge:
    """Middleware: names what comes in (by its own `X-Request-Id` where that is sane), logs it, answers what broke.

    A client that has left is a line at DEBUG. Nothing of a request's body or query, and nothing of a WebSocket's
    messages, reaches the log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or one connection to its end."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        named = Headers(scope=scope).get("x-request-id", "")
        identity = named if _SANE_ID.fullmatch(named) else f"req_{uuid.uuid4().hex}"
        token = request_id.set(identity)
        started_s = time.perf_counter()
        seen: _Request | _Socket
        seen = _Request(scope, identity, send) if scope["type"] == "http" else _Socket(identity, receive, send)
        try:
            await self.app(scope, seen.hear if isinstance(seen, _Socket) else receive, seen.tell)
        except asyncio.CancelledError:
            if not scope["app"].state.services.admission.draining:
                raise
            # The time to finish is over. A reply under way breaks off; one that has not begun is refused like the rest.
            await seen.stop(scope)
        except (ClientDisconnect, WebSocketDisconnect):
            logger.debug("client left before its request was whole")
        except Exception:
            logger.exception("%s failed", seen.noun)
            await seen.fail(scope)
        finally:
            took_ms = round((time.perf_counter() - started_s) * 1000, 1)
            logger.log(_level(scope), seen.summary, extra={"path": _path(scope), "ms": took_ms, **seen.fields(scope)})
            request_id.reset(token)


def _dressed(message: Message, identity: str) -> MutableHeaders:
    """The headers of a reply, with those that every one has."""
    headers = MutableHeaders(scope=message)
    headers["X-Request-Id"] = identity
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    return headers


class _Request:
    """What has been answered to one request."""

    noun = "request"

    def __init__(self, scope: Scope, identity: str, send: Send) -> None:
        self._scope = scope
        self._identity = identity
        self._send = send
        self._status = 0
        self._complete = False

    async def tell(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = _dressed(message, self._identity)
            if self._scope["app"].state.services.admission.draining:
                headers["Connection"] = "close"  # whoever keeps connections finds another server for the next request
        elif not message.get("more_body", False):
            self._complete = True
        await self._send(message)

    async def stop(self, scope: Scope) -> None:
        if not self._status:
            await send_error(self.tell, Busy("The server is shutting down.", reason="draining"), scope["path"])

    async def fail(self, scope: Scope) -> None:
        if not self._status:
            error = InternalError("Something went wrong here; the log has the details.")
            await send_error(self.tell, error, scope["path"])

    @property
    def summary(self) -> str:
        return "request" if self._complete else "request cut short"

    def fields(self, scope: Scope) -> dict[str, Any]:
        return {"method": scope["method"], "status": self._status}


class _Socket:
    """How far one WebSocket has come."""

    noun = "connection"

    def __init__(self, identity: str, receive: Receive, send: Send) -> None:
        self._identity = identity
        self._receive = receive
        self._send = send
        self._accepted = False
        self._code: int | None = None
        self._refused_with = _REFUSED

    async def hear(self) -> Message:
        message = await self._receive()
        if message["type"] == "websocket.disconnect" and self._code is None:
            self._code = message.get("code", 1005)
        return message

    async def tell(self, message: Message) -> None:
        if message["type"] == "websocket.accept":
            self._accepted = True
            headers = [*message.get("headers", ()), (b"x-request-id", self._identity.encode("ascii"))]
            message = {**message, "headers": headers}
        elif message["type"] == "websocket.http.response.start":
            self._refused_with = message["status"]
            _dressed(message, self._identity)
        elif message["type"] == "websocket.close" and self._code is None:
            self._code = message.get("code", 1000)
        await self._send(message)

    async def stop(self, scope: Scope) -> None:
        await self._close(_RESTARTING, "the server is restarting")

    async def fail(self, scope: Scope) -> None:
        await self._close(_FAULT, "something went wrong here")

    async def _close(self, code: int, reason: str) -> None:
        if self._code is None:
            with suppress(OSError, RuntimeError):  # the client was faster
                await self.tell({"type": "websocket.close", "code": code, "reason": reason})

    @property
    def summary(self) -> str:
        return self.noun if self._accepted else "connection refused"

    def fields(self, scope: Scope) -> dict[str, Any]:
        return {"code": self._code} if self._accepted else {"status": self._refused_with}


def _level(scope: Scope) -> int:
    path = scope["path"]
    is_probe = path in ("/health", "/ready", "/metrics") or path.startswith(("/stats", "/v2/health/"))
    return logging.DEBUG if is_probe else logging.INFO


def _path(scope: Scope) -> str:
    """The route's own path, or what was asked for, still percent-encoded so that it cannot forge a line."""
    route = getattr(scope.get("route"), "path", None)
    if isinstance(route, str):
        return route
    raw: bytes = scope.get("raw_path") or b""
    return raw.decode("ascii", "replace")[:_LOGGED_PATH_CHARACTERS]
