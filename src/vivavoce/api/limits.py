"""How much of a request is ever read."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import InputTooLarge

__all__ = ["BodyLimit"]


class BodyLimit:
    """Middleware: whoever reads a body over `limit_bytes` gets InputTooLarge.

    A body that declares its length is refused before any of it is read, another as it comes.
    """

    def __init__(self, app: ASGIApp, limit_bytes: int) -> None:
        self.app = app
        self.limit_bytes = limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        over = declared.isascii() and declared.isdigit() and int(declared[:20]) > self.limit_bytes
        seen_bytes = 0

        async def counted() -> Message:
            nonlocal seen_bytes
            if over:
                raise self._too_large()
            message = await receive()
            if message["type"] == "http.request":
                seen_bytes += len(message.get("body", b""))
                if seen_bytes > self.limit_bytes:
                    raise self._too_large()
            return message

        await self.app(scope, counted, send)

    def _too_large(self) -> InputTooLarge:
        return InputTooLarge(f"The request's body is over the limit of {self.limit_bytes} bytes.")
