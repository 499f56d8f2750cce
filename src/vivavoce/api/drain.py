"""How a server comes to rest without cutting anybody off."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

__all__ = ["Drain"]

logger = logging.getLogger("vivavoce.api")

_LOOK_S = 0.05
_FAREWELL_S = 2.0


class Drain:
    """Waits for what runs to finish, while clients that nobody speaks to any more are told where to go on.

    `running` counts what has not finished. `farewell(grace_s)` tells every client, closes its connection once it is not
    spoken to any more or the grace is over, and returns when all are gone. `hurry` says that nobody wants to wait.
    """

    def __init__(
        self, running: Callable[[], int], farewell: Callable[[float], Awaitable[None]], hurry: Callable[[], bool]
    ) -> None:
        self._running = running
        self._farewell = farewell
        self._hurry = hurry

    async def run(self, grace_s: float) -> float:
        """Bring the server to rest within `grace_s` and a short farewell; returns how many seconds were left over."""
        now_s = asyncio.get_running_loop().time
        end_s = now_s() + grace_s
        logger.info("draining", extra={"running": self._running(), "grace_s": grace_s})
        leaving = asyncio.create_task(self._say_goodbye(grace_s))
        unfinished = self._running()
        try:
            while not self._hurry():
                if now_s() < end_s:
                    unfinished = self._running()
                over = not self._running() or now_s() >= end_s
                if over and (leaving.done() or now_s() >= end_s + _FAREWELL_S):
                    break
                await asyncio.sleep(_LOOK_S)
        finally:
            leaving.cancel()
            await asyncio.wait([leaving])
        logger.info("drained", extra={"cut_off": unfinished})
        return max(0.0, end_s - now_s())

    async def _say_goodbye(self, grace_s: float) -> None:
        try:
            await self._farewell(grace_s)
        except Exception:
            logger.exception("the farewell failed")
