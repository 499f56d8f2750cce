"""Every WebSocket that is open, so that a server can take its leave of all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["Connections", "Leaving"]

RETRY_AFTER_MS = 500.0


class Leaving(Protocol):
    """What can be told that the server leaves."""

    @property
    def busy(self) -> bool:
        """Whether it is still speaking."""
        ...

    def leave(self, retry_after_ms: float) -> None:
        """Say `going_away`, with the tokens of what is unfinished, and close."""
        ...


class Connections:
    """The open WebSockets, at most `limit` of them."""

    def __init__(self, limit: int = 4_096) -> None:
        self.limit = limit
        self.leaving = False
        self._open: set[Leaving] = set()
        self._changed = asyncio.Event()

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._open)

    @property
    def full(self) -> bool:
        """Whether there is no room for another."""
        return self.count >= self.limit

    @contextmanager
    def entered(self, connection: Leaving) -> Iterator[None]:
        """Count a connection for the length of the block."""
        self._open.add(connection)
        try:
            yield
        finally:
            self._open.discard(connection)
            self._changed.set()

    def rested(self, connection: Leaving) -> None:
        """Note that a connection has nothing more to say: once the server leaves, it may go."""
        if self.leaving and not connection.busy:
            connection.leave(RETRY_AFTER_MS)

    async def going_away(self, grace_s: float = 0.0) -> None:
        """Close every connection with 1012 after a `going_away`: at once where nothing is spoken, else after that.

        What is still being spoken when `grace_s` is over goes on elsewhere: the message has its resume tokens. Returns
        once all are closed. Connections that come meanwhile are told the same.
        """
        self.leaving = True
        for connection in tuple(self._open):
            self.rested(connection)
        try:
            async with asyncio.timeout(grace_s):
                await self._all_closed()
        except TimeoutError:
            self.part()
            await self._all_closed()

    def part(self) -> None:
        """Say `going_away` to everybody and begin to close, whatever is being spoken."""
        self.leaving = True
        for connection in tuple(self._open):
            connection.leave(RETRY_AFTER_MS)

    async def _all_closed(self) -> None:
        while self._open:
            self._changed.clear()
            await self._changed.wait()
