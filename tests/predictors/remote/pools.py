"""Pools over the servers of a test, and what those say in pieces."""

import asyncio

import numpy as np

from vivavoce.predictors.v2_stream import StreamEvent, encode_event

STREAMS = ("vivavoce_stream",)


async def ready_count(pool, count) -> None:
    for _ in range(2500):
        if sum(state.state in ("ready", "slow_start") for state in pool.endpoints) == count:
            return
        await asyncio.sleep(0.002)
    raise AssertionError([state.state for state in pool.endpoints])


def stream_route(kit, samples, *, pieces=4, on_piece=None, **headers):
    async def answer(asked) -> None:
        await asked.head(Transfer_Encoding="chunked", Content_Type="text/event-stream", **headers)
        for number, piece in enumerate(np.array_split(samples, pieces)):
            if on_piece is not None:
                await on_piece(asked, number)
            await asked.chunk(encode_event(StreamEvent(kit.pcm(piece), 24_000, (), number == pieces - 1)))
        await asked.raw(b"0\r\n\r\n")

    return {"/generate_stream": answer}
