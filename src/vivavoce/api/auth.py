"""Keys: who may call what lies under /v1 and /v2."""

from __future__ import annotations

import hmac
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import Unauthorized
from .errors import send_error

__all__ = ["KeyCheck"]


class KeyCheck:
    """Middleware: asks every request under /v1 and /v2 for a key, before anything of its body is read.

    The key comes as `Authorization: Bearer …` or as `X-API-Key`. It is compared in constant time and never logged.
    Without keys every door is open.
    """

    def __init__(self, app: ASGIApp, keys: Iterable[bytes]) -> None:
        self.app = app
        self.keys = tuple(keys)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] == "http" and self.keys and _guarded(scope["path"]):
            offered = _offered(Headers(scope=scope))
            if offered is None:
                message = "You did not provide an API key; send it as Authorization: Bearer <key>."
                await send_error(send, Unauthorized(message), scope["path"])
                return
            # Every key is compared, so that the time taken tells nothing.
            if not sum([hmac.compare_digest(offered, key) for key in self.keys]):
                await send_error(send, Unauthorized("The API key is not one of this server's."), scope["path"])
                return
        await self.app(scope, receive, send)


def _guarded(path: str) -> bool:
    """Everything of the speech APIs but the V2 probes, which a cluster asks without a key."""
    return path in ("/v1", "/v2") or (path.startswith(("/v1/", "/v2/")) and not path.startswith("/v2/health/"))


def _offered(headers: Headers) -> bytes | None:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip().encode("latin-1")
    key = headers.get("x-api-key", "").strip()
    return key.encode("latin-1") if key else None
