"""Memory does not follow the number of requests, the length of a text, or the patience of a client."""

import asyncio
import itertools

import numpy as np
import pytest

from server import Server
from speech_client import Connection
from texts import TEN_MINUTE_WORDS, long_text, twelve_words

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

RATE_HZ = 24_000
PCM = {"model": "tts-1", "voice": "alloy", "response_format": "pcm"}
# Ten minutes of PCM are 28 MB as s16le and 56 MB as float32; whoever collects them is seen.
GROWTH_KIB = 12_000


@pytest.fixture
def rss_kib(server: Server):
    """The reading of a warm server's memory, where the system gives one."""
    if not server.rss_kib():
        pytest.skip("this system does not tell a process's memory")
    return server.rss_kib


async def warm(server: Server, requests: int, seed: int) -> None:
    """Let pools, arenas and the cache reach their size."""
    async with await Connection.open(server.port) as connection:
        for text in itertools.islice(twelve_words(seed), requests):
            assert (await connection.speak(input=text, **PCM)).status == 200


async def test_two_hundred_requests_leave_memory_where_it_was(server: Server, rss_kib) -> None:
    """Public case 66: index-tts#630, fish-speech#1025, Auralis#20, mlx-audio#585, Kokoro-FastAPI#453."""
    await warm(server, 100, seed=10)
    readings = []
    async with await Connection.open(server.port) as connection:
        for text in itertools.islice(twelve_words(seed=11), 200):
            assert (await connection.speak(input=text, **PCM)).status == 200
            readings.append(rss_kib())
    slope_kib = float(np.polyfit(np.arange(len(readings)), readings, 1)[0])
    assert slope_kib * 200 < 4_000, f"{slope_kib:.1f} KiB a request"


async def test_ten_minutes_stream_without_underrun_or_growth(server: Server, rss_kib) -> None:
    await warm(server, 20, seed=12)
    await read_all(server, long_text(120, seed=13), rss_kib)
    before_kib = rss_kib()
    answer, peak_kib = await read_all(server, long_text(TEN_MINUTE_WORDS, seed=14), rss_kib)
    assert answer.status == 200
    assert answer.audio_ms(RATE_HZ) > 10 * 60_000
    assert answer.underruns(RATE_HZ) == 0
    assert peak_kib - before_kib < GROWTH_KIB


async def read_all(server: Server, text: str, rss_kib):
    """The answer to a text, and the server's greatest memory while it was made."""
    readings = [rss_kib()]

    async def watch() -> None:
        while True:
            readings.append(rss_kib())
            await asyncio.sleep(0.02)

    async with await Connection.open(server.port) as connection:
        watcher = asyncio.create_task(watch())
        try:
            return await connection.speak(input=text, **PCM), max(readings)
        finally:
            watcher.cancel()


async def test_a_client_that_stops_reading_does_not_fill_the_server(server: Server, rss_kib) -> None:
    """Ten minutes for somebody who reads one byte: what is made ahead is bounded."""
    await warm(server, 20, seed=15)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1_024)
    before_kib = rss_kib()
    writer.write(Connection(reader, writer, "localhost").request(input=long_text(TEN_MINUTE_WORDS, seed=16), **PCM))
    assert await reader.readexactly(1)
    peak_kib = 0
    for _ in range(40):
        await asyncio.sleep(0.05)
        peak_kib = max(peak_kib, rss_kib())
    writer.transport.abort()
    assert peak_kib - before_kib < GROWTH_KIB
    await asyncio.to_thread(server.settle)
