"""The text of one utterance while it arrives."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

__all__ = ["TextFeed"]


class TextFeed:
    """Pieces of text in, the same text out in as few pieces as there is time for; None asks to speak what is held back.

    One reader. Memory is that of the text not yet taken.
    """

    def __init__(self, text: str = "") -> None:
        self._pieces: deque[str | None] = deque([text] if text else [])
        self._ended = False
        self._changed = asyncio.Event()

    def add(self, text: str) -> None:
        """More text."""
        self._pieces.append(text)
        self._changed.set()

    def flush(self) -> None:
        """What came up to now is to be spoken, though it may not look complete."""
        if not self._pieces or self._pieces[-1] is not None:
            self._pieces.append(None)
            self._changed.set()

    def end(self) -> None:
        """Nothing follows."""
        self._ended = True
        self._changed.set()

    async def begun(self) -> None:
        """Return once there is something to read, or nothing will come."""
        while not self._pieces and not self._ended:
            self._changed.clear()
            await self._changed.wait()

    def __aiter__(self) -> AsyncIterator[str | None]:
        return self

    async def __anext__(self) -> str | None:
        await self.begun()
        if not self._pieces:
            raise StopAsyncIteration
        if self._pieces[0] is None:
            return self._pieces.popleft()
        together = []
        while self._pieces and (piece := self._pieces[0]) is not None:
            together.append(piece)
            self._pieces.popleft()
        return "".join(together)
