"""Whose turn it is to be spoken: a bounded number at once, a bounded number waiting for a bounded time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from ..errors import Busy

__all__ = ["Turns"]


class Turns:
    """Lets `limit` utterances run at the same time; the others wait in order of arrival.

    More than `queue_limit` waiting, a wait over `queue_timeout_s`, or a server that is draining raise Busy.
    """

    def __init__(self, limit: int, queue_limit: int, queue_timeout_s: float) -> None:
        self.limit = limit
        self.queue_limit = queue_limit
        self.queue_timeout_s = queue_timeout_s
        self.running = 0
        self.draining = False
        self._waiters: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiters)

    @property
    def full(self) -> bool:
        """Whether the next to come would be refused."""
        return self.draining or (self.running >= self.limit and self.waiting >= self.queue_limit)

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Hold a turn for the length of the block."""
        await self._acquire()
        try:
            yield
        finally:
            self._release()

    async def _acquire(self) -> None:
        if self.draining:
            raise Busy("The server is shutting down.")
        if self.running < self.limit and not self._waiters:
            self.running += 1
            return
        if self.full:
            raise Busy("Too many requests are waiting; try again later.", retry_after_s=self.queue_timeout_s)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(turn)
        try:
            async with asyncio.timeout(self.queue_timeout_s):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._release()  # the turn came while the one who waited was leaving
            else:
                with suppress(ValueError):
                    self._waiters.remove(turn)
            if isinstance(error, TimeoutError):
                message = f"No turn came up within {self.queue_timeout_s:g} s; try again later."
                raise Busy(message, retry_after_s=self.queue_timeout_s) from None
            raise

    def _release(self) -> None:
        """Pass the turn on, or give it back."""
        while self._waiters:
            turn = self._waiters.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.running -= 1
