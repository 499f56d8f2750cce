"""Notices that a client has left."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

from starlette.types import Receive

__all__ = ["ClientGone", "Presence"]


class ClientGone(Exception):
    """The client left before its reply was whole; `held_s` is how long the work went on after that, where it is known."""

    def __init__(self, held_s: float | None = None) -> None:
        super().__init__()
        self.held_s = held_s


class Presence:
    """`async with Presence(receive)`: cancels its block as soon as the client leaves, and raises ClientGone then.

    The request's body must have been read. Once the reply is whole, call `done`: the end of a reply looks like a
    departure.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._limit = asyncio.timeout(None)
        self._watcher: asyncio.Task[None] | None = None
        self._done = False
        self._left_s = 0.0

    def done(self) -> None:
        """Stop watching."""
        self._done = True

    async def __aenter__(self) -> Self:
        await self._limit.__aenter__()
        self._watcher = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done = True
        if self._watcher is not None:
            self._watcher.cancel()
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            raise ClientGone(asyncio.get_running_loop().time() - self._left_s) from None
        finally:
            if self._watcher is not None:
                with suppress(asyncio.CancelledError):
                    await self._watcher

    async def _watch(self) -> None:
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                break
        if not self._done:
            self._left_s = asyncio.get_running_loop().time()
            self._limit.reschedule(self._left_s)
