"""Around every request: its id, its line in the log, and an answer whatever happens."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import Busy, InternalError
from ..logs import request_id
from .errors import send_error

__all__ = ["Edge"]

logger = logging.getLogger("vivavoce.access")

_SANE_ID = re.compile(r"[A-Za-z0-9._:\-]{1,128}")
_LOGGED_PATH_CHARACTERS = 120


class Edge:
    """Middleware: names the request (the client's `X-Request-Id` where it is sane), logs it, answers what broke.

    A client that has left is a line at DEBUG. Nothing of the request's body or query reaches the log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        named = Headers(scope=scope).get("x-request-id", "")
        identity = named if _SANE_ID.fullmatch(named) else f"req_{uuid.uuid4().hex}"
        token = request_id.set(identity)
        started_s = time.perf_counter()
        status = 0
        complete = False

        async def tell(message: Message) -> None:
            nonlocal status, complete
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = identity
            elif not message.get("more_body", False):
                complete = True
            await send(message)

        try:
            await self.app(scope, receive, tell)
        except asyncio.CancelledError:
            if not _draining(scope):
                raise
            # The time to finish is over. A reply under way breaks off; one that has not begun is refused like the rest.
            if not status:
                await send_error(tell, Busy("The server is shutting down."), scope["path"])
        except ClientDisconnect:
            logger.debug("client left before its request was whole")
        except Exception:
            logger.exception("request failed")
            if not status:
                await send_error(
                    tell, InternalError("Something went wrong here; the log has the details."), scope["path"]
                )
        finally:
            took_ms = round((time.perf_counter() - started_s) * 1000, 1)
            fields = {"method": scope["method"], "path": _path(scope), "status": status, "ms": took_ms}
            logger.log(_level(scope), "request" if complete else "request cut short", extra=fields)
            request_id.reset(token)


def _draining(scope: Scope) -> bool:
    return bool(scope["app"].state.services.admission.draining)


def _level(scope: Scope) -> int:
    path = scope["path"]
    is_probe = path in ("/health", "/ready", "/metrics") or path.startswith("/v2/health/")
    return logging.DEBUG if is_probe else logging.INFO


def _path(scope: Scope) -> str:
    """The route's own path, or what was asked for, still percent-encoded so that it cannot forge a line."""
    route = getattr(scope.get("route"), "path", None)
    if isinstance(route, str):
        return route
    raw: bytes = scope.get("raw_path") or b""
    return raw.decode("ascii", "replace")[:_LOGGED_PATH_CHARACTERS]
