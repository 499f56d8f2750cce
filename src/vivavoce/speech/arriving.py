"""Text that is still arriving becomes segments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Iterator
from contextlib import aclosing
from enum import Enum

from ..text import Segment, Splitter
from .events import Utterance

__all__ = ["Text", "segments_of"]

Text = str | AsyncIterable[str | None]
"""A text, whole or in pieces; a piece that is None asks that all of it up to there be spoken now."""

_PIECE_CHARACTERS = 2_000
# Longer than a language model takes for a word, shorter than a listener notices.
_WRITER_PAUSE_MS = 200.0


class _Writer(Enum):
    PAUSED = "paused"


async def segments_of(text: Text, utterance: Utterance) -> AsyncGenerator[Segment]:
    """Segments as soon as each is certain, or as soon as the writer pauses behind what looks like an end.

    Their places count from `utterance.offset`.
    """
    splitter = Splitter(utterance.language, utterance.join_short)
    async with aclosing(_handy(text)) as pieces:
        async for piece in pieces:
            for segment in _certain(splitter, piece):
                yield _moved(segment, utterance.offset)
    for segment in splitter.flush():
        yield _moved(segment, utterance.offset)


def _certain(splitter: Splitter, piece: str | _Writer | None) -> list[Segment]:
    if piece is None:
        return splitter.flush()
    return splitter.pause() if isinstance(piece, _Writer) else splitter.feed(piece)


async def _handy(text: Text) -> AsyncGenerator[str | _Writer | None]:
    """The text in pieces that are split in a moment, however long the writer's are."""
    if isinstance(text, str):
        for part in _parts(text):
            yield part
        return
    async with aclosing(_pieces(text)) as pieces:
        async for piece in pieces:
            if isinstance(piece, str):
                for part in _parts(piece):
                    yield part
            else:
                yield piece


def _parts(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE_CHARACTERS] for start in range(0, len(text), _PIECE_CHARACTERS))


def _moved(segment: Segment, offset: int) -> Segment:
    return Segment(segment.text, segment.start + offset, segment.end + offset) if offset else segment


async def _pieces(text: AsyncIterable[str | None]) -> AsyncGenerator[str | _Writer | None]:
    """The pieces of a text that is still arriving, and PAUSED once in every pause of its writer."""
    source = aiter(text)
    try:
        while True:
            coming = asyncio.ensure_future(anext(source))
            try:
                done, _ = await asyncio.wait({coming}, timeout=_WRITER_PAUSE_MS / 1000)
                if not done:
                    yield _Writer.PAUSED
                yield await coming
            except StopAsyncIteration:
                return
            finally:
                coming.cancel()
                await asyncio.wait({coming})
                if not coming.cancelled():
                    coming.exception()  # however it ended, nobody else will ask
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()
