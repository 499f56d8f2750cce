"""The numbers: for Prometheus, for a person, and as a stream for a page."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from ..errors import Busy
from .health import readiness
from .presence import ClientGone, Presence
from .services import Services, services_of
from .writer import Writer

__all__ = ["router"]

router = APIRouter()

_FRESH = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Everything that is counted, in Prometheus' text format."""
    counters = services_of(request).metrics
    return Response(counters.render(), headers={"Content-Type": counters.content_type})


@router.get("/stats")
async def stats(request: Request) -> Response:
    """How the server is doing."""
    return JSONResponse(_told(services_of(request)), headers=_FRESH)


@router.get("/stats/stream")
async def stream(request: Request) -> Response:
    """The same once a second, as server-sent events `stats`, until the server drains. Raises Busy.

    Of the history the first event has all there is, every later one what was added since.
    """
    services = services_of(request)
    if services.stats.listeners >= services.stats.listener_limit:
        raise Busy("Enough are following the numbers; ask /stats now and then instead.", retry_after_s=30)
    return _Follower(services)


class _Follower(Response):
    """Sends the numbers once a second to one client, and never more than it reads."""

    def __init__(self, services: Services) -> None:
        self.background = None
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the client leaves, stops reading, or the server drains."""
        stats, writer = self._services.stats, Writer(send, self._services.settings.stall_timeout_s)
        stats.listeners += 1
        try:
            with suppress(ClientGone):
                async with Presence(receive) as presence:
                    await writer.start({"Content-Type": "text/event-stream; charset=utf-8", **_FRESH})
                    async for event in self._events():
                        await writer.write(event)
                    await writer.end()
                    presence.done()
        finally:
            stats.listeners -= 1

    async def _events(self) -> AsyncIterator[bytes]:
        stats, is_last, seen = self._services.stats, False, 0
        while not is_last:
            is_last = self._services.admission.draining
            told, seen = _told(self._services, seen), stats.noted
            yield f"event: stats\ndata: {json.dumps(told, separators=(',', ':'))}\n\n".encode()
            is_last = is_last or await stats.over_within(stats.every_s)


def _told(services: Services, since: int = 0) -> dict[str, Any]:
    return {"status": readiness(services), **services.stats.now(since)}
