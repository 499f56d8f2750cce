"""Many callers at once, on the voice that comes with the package."""

from __future__ import annotations

import asyncio
import threading

import httpx
import pytest

from vivavoce.api import create_app
from vivavoce.config import Settings

TEXTS = [
    "The red kite circles over the old mill.",
    "Please bring seven lemons and a loaf of bread.",
    "Our train was late, but nobody minded much.",
    "A quiet harbour is worth a long detour.",
    "Turn left at the chapel. Then follow the wall.",
    "She counted twelve bells before midnight.",
    "Nothing on the shelf was older than the clock.",
    "Could you repeat the last part, please?",
]


@pytest.fixture
async def uncached():
    app = create_app(Settings(cache_mb=0, slots=2))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://door") as client,
    ):
        yield client


async def say(client, text):
    body = {"model": "tts-1", "voice": "alloy", "input": text, "response_format": "pcm"}
    response = await client.post("/v1/audio/speech", json=body)
    assert response.status_code == 200
    return response.content


async def test_alltalk_63_parallel_texts_do_not_mix(uncached):
    alone = [await say(uncached, text) for text in TEXTS]
    together = await asyncio.gather(*(say(uncached, text) for text in TEXTS))
    assert together == alone
    assert len(set(alone)) == len(TEXTS)


def engine_threads():
    return {thread.ident for thread in threading.enumerate() if thread.name.startswith("vivavoce-")}


async def test_a_server_that_stops_takes_its_threads_with_it():
    before = engine_threads()
    app = create_app(Settings(cache_mb=0, slots=2))
    async with app.router.lifespan_context(app):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://door") as client:
            await say(client, TEXTS[0])
        assert engine_threads() - before
    assert engine_threads() == before
