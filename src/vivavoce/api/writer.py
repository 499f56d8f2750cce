"""Sends a reply piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.types import Send

from .presence import ClientGone

__all__ = ["Writer"]

_WRITE_BYTES = 262_144


class Writer:
    """The sending half of one reply. A client that reads nothing for `stall_timeout_s` counts as gone (ClientGone)."""

    def __init__(self, send: Send, stall_timeout_s: float) -> None:
        self._send = send
        self._stall_timeout_s = stall_timeout_s
        self.started = False

    async def start(self, headers: Mapping[str, str], *, length_bytes: int | None = None) -> None:
        """Send the headers of a 200; without a length the body is chunked."""
        raw = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
        if length_bytes is not None:
            raw.append((b"content-length", str(length_bytes).encode("ascii")))
        self.started = True
        await self._send({"type": "http.response.start", "status": 200, "headers": raw})

    async def write(self, data: bytes | memoryview) -> None:
        """Send a piece; nothing is sent for an empty one."""
        if not data:
            return
        try:
            async with asyncio.timeout(self._stall_timeout_s):
                await self._send({"type": "http.response.body", "body": data, "more_body": True})
        except TimeoutError:
            raise ClientGone from None

    async def write_all(self, data: bytes) -> None:
        """Send a long piece in shorter ones, each once the one before has left."""
        view = memoryview(data)
        for start in range(0, len(view), _WRITE_BYTES):
            await self.write(bytes(view[start : start + _WRITE_BYTES]))

    async def end(self) -> None:
        """Send the end of the body."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
