"""The outbox measures what lies between the maker and the taker, in milliseconds of sound."""

from __future__ import annotations

import asyncio

import numpy as np

from vivavoce.speech.events import Audio, SegmentEnd
from vivavoce.speech.outbox import Outbox


def sound(duration_ms: int) -> Audio:
    return Audio(np.zeros(duration_ms * 8, np.float32))


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_there_is_no_room_once_the_limit_lies_in_it_until_something_is_taken() -> None:
    outbox, put = Outbox(8_000, 300), 0

    async def write() -> None:
        nonlocal put
        for _ in range(10):
            await outbox.room()
            outbox.put(sound(100))
            put += 1
        outbox.close()

    async with asyncio.TaskGroup() as group:
        group.create_task(write())
        await settled()
        assert put == 3
        assert outbox.held_ms == 300
        await outbox.get()
        await settled()
        assert put == 4
        taken = 1
        while await outbox.get() is not None:
            taken += 1
    assert taken == 10


async def test_what_is_begun_goes_in_whole_whatever_its_reader_does() -> None:
    outbox = Outbox(8_000, 300)
    for _ in range(20):
        outbox.put(sound(100))
    assert outbox.held_ms == 2_000
    waiting = asyncio.ensure_future(outbox.room())
    for taken in range(1, 18):
        await outbox.get()
        await settled()
        assert waiting.done() == (taken >= 18)
    await outbox.get()
    await waiting


async def test_what_was_put_is_still_given_after_closing() -> None:
    outbox = Outbox(8_000, 1_000)
    outbox.put(sound(10))
    outbox.put(SegmentEnd(0, 10.0, 1.0))
    outbox.close()
    assert isinstance(await outbox.get(), Audio)
    assert isinstance(await outbox.get(), SegmentEnd)
    assert await outbox.get() is None
    assert await outbox.get() is None
