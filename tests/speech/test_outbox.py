"""The outbox bounds what lies between the maker and the taker, in milliseconds of sound."""

from __future__ import annotations

import asyncio

import numpy as np

from vivavoce.speech.events import Audio, SegmentEnd
from vivavoce.speech.outbox import Outbox


def sound(duration_ms: int) -> Audio:
    return Audio(np.zeros(duration_ms * 8, np.float32))


async def test_the_writer_waits_once_the_limit_lies_in_it() -> None:
    outbox, put = Outbox(8_000, 300), 0

    async def write() -> None:
        nonlocal put
        for _ in range(10):
            await outbox.put(sound(100))
            put += 1
        outbox.close()

    async with asyncio.TaskGroup() as group:
        group.create_task(write())
        for _ in range(20):
            await asyncio.sleep(0)
        assert put == 3
        await outbox.get()
        for _ in range(20):
            await asyncio.sleep(0)
        assert put == 4
        taken = 1
        while await outbox.get() is not None:
            taken += 1
    assert taken == 10


async def test_what_was_put_is_still_given_after_closing() -> None:
    outbox = Outbox(8_000, 1_000)
    await outbox.put(sound(10))
    await outbox.put(SegmentEnd(0, 10.0, 1.0))
    outbox.close()
    assert isinstance(await outbox.get(), Audio)
    assert isinstance(await outbox.get(), SegmentEnd)
    assert await outbox.get() is None
    assert await outbox.get() is None


async def test_one_chunk_larger_than_the_limit_still_passes() -> None:
    outbox = Outbox(8_000, 50)
    await outbox.put(sound(500))
    assert isinstance(await outbox.get(), Audio)
