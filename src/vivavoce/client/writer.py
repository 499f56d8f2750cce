"""The caller's text on its way to whichever server speaks it now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import suppress

from .faults import ConnectionLost
from .leg import Leg
from .link import Link
from .progress import Progress

__all__ = ["Text", "Writer"]

Text = str | AsyncIterable[str | None]
"""A text, whole or in pieces; a piece that is None asks that all of it up to there be spoken now."""

UNHEARD_CHARACTERS = 100_000


class Writer:
    """Takes the text's pieces as they come, and sends them over the connection there is.

    A source that runs far ahead of what is heard has to wait. What the source raises, `check` raises.
    """

    def __init__(self, text: Text, progress: Progress) -> None:
        self._progress = progress
        self._route: tuple[Link, Leg] | None = None
        self._turn = asyncio.Lock()
        self._room = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._flushed_at: int | None = None
        self._flush_due = False
        if isinstance(text, str):
            progress.write(_whole(text))
            progress.end()
        else:
            self._task = asyncio.create_task(self._copy(text))

    async def start(self, link: Link, leg: Leg) -> None:
        """Ask for what is left of the text over that connection, and send there what comes. Raises ConnectionLost."""
        async with self._turn:
            await link.send(leg.opening())
            self._route = link, leg
            self._flush_due = self._flushed_at == self._progress.written
        await self._push()

    def stop(self) -> None:
        """Send nothing more over the connection there was."""
        self._route = None

    def check(self) -> None:
        """Raise what the text's source raised."""
        if self._failure is not None:
            raise self._failure

    def heard(self) -> None:
        """Something was heard: there may be room for more."""
        self._room.set()

    async def close(self) -> None:
        """Take no more text."""
        self._route = None
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _copy(self, pieces: AsyncIterable[str | None]) -> None:
        source = aiter(pieces)
        try:
            async for piece in source:
                if piece is None:
                    self._flushed_at, self._flush_due = self._progress.written, True
                else:
                    self._progress.write(_whole(piece))
                await self._push()
                while self._progress.unheard > UNHEARD_CHARACTERS:
                    self._room.clear()
                    await self._room.wait()
            self._progress.end()
            await self._push()
        except Exception as error:
            self._failure = error
            if self._route is not None:
                self._route[0].interrupt()
        finally:
            if isinstance(source, AsyncGenerator):
                await source.aclose()

    async def _push(self) -> None:
        """Send what is unsent. A broken connection is noticed by whoever reads from it."""
        async with self._turn:
            if self._route is None:
                return
            link, leg = self._route
            with suppress(ConnectionLost):
                while (more := leg.more()) is not None:
                    await link.send(more)
                if self._flush_due and not self._progress.ended:
                    await link.send(leg.flush())
                self._flush_due = False


def _whole(piece: str) -> str:
    """The piece with whole characters only, so that both sides count alike."""
    return piece if piece.isascii() else piece.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
