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
    """Waits for what runs to finish, then tells whoever is left where to go on.

    `running` counts what has not finished, `farewell` tells those that are left and closes their connections, `hurry`
    says that nobody wants to wait any longer.
    """

    def __init__(
        self, running: Callable[[], int], farewell: Callable[[], Awaitable[None]], hurry: Callable[[], bool]
    ) -> None:
        self._running = running
        self._farewell = farewell
        self._hurry = hurry

    async def run(self, grace_s: float) -> float:
        """Bring the server to rest within `grace_s` and a short farewell; returns how many seconds were left over."""
        now_s = asyncio.get_running_loop().time
        end_s = now_s() + grace_s
        if self._running():
            logger.info("draining", extra={"running": self._running(), "grace_s": grace_s})
        while self._running() and now_s() < end_s and not self._hurry():  # noqa: ASYNC110 - counts have no event
            await asyncio.sleep(min(_LOOK_S, max(0.0, end_s - now_s())))
        left_s = max(0.0, end_s - now_s())
        if not self._hurry():
            await self._say_goodbye()
        logger.info("drained", extra={"cut_off": self._running()})
        return left_s

    async def _say_goodbye(self) -> None:
        try:
            async with asyncio.timeout(_FAREWELL_S):
                await self._farewell()
        except TimeoutError:
            logger.warning("not every client took its farewell in time")
        except Exception:
            logger.exception("the farewell failed")
