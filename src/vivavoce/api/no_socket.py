"""A WebSocket where there is none."""

from __future__ import annotations

from starlette.routing import Match, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from .errors import status_reply

__all__ = ["NoSocket"]


class NoSocket:
    """What no route of the router answers: a WebSocket is refused with 404, the rest is for `otherwise`.

    `there_is` one, says the refusal, where that is known.
    """

    def __init__(self, router: Router, otherwise: ASGIApp, *, there_is: str = "") -> None:
        self._router = router
        self._otherwise = otherwise
        self._there_is = there_is

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or one handshake."""
        if scope["type"] != "websocket":
            await self._otherwise(scope, receive, send)
            return
        reply = status_reply(404, self._explained(scope), scope["path"])
        await reply(scope, receive, send)

    def _explained(self, scope: Scope) -> str:
        asked = {**scope, "type": "http", "method": "GET"}
        is_plain = any(route.matches(asked)[0] is not Match.NONE for route in self._router.routes)
        told = f"There is no WebSocket at {scope['path']}" + (", which answers plain HTTP." if is_plain else ".")
        return f"{told} There is one at {self._there_is}." if self._there_is else told
