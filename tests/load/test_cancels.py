"""A thousand clients that leave at random moments leave nothing behind."""

import asyncio
import contextlib
import random
import socket
import struct

import pytest

from server import Server
from speech_client import Connection
from texts import long_text

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

REQUESTS, AT_ONCE = 1_000, 16
BODIES = (
    {"response_format": "pcm"},
    {"response_format": "wav", "stream": True},
    {"response_format": "mp3"},
    {"response_format": "opus"},
    {"response_format": "flac"},
    {"response_format": "aac"},
    {"response_format": "pcm", "stream_format": "sse", "word_timestamps": True},
    {"response_format": "wav", "stream": False},
)


async def leave(port: int, chance: random.Random, voice: str = "alloy") -> str:
    """Ask for speech and be gone at a random moment; says at which."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    connection = Connection(reader, writer, "localhost")
    body = chance.choice(BODIES)
    request = connection.request(
        model="tts-1", voice=voice, input=long_text(chance.randint(12, 400), chance.randrange(10**6)), **body
    )
    request = request.replace(b"Host:", b"Connection: close\r\nHost:", 1)
    moment = chance.choices(("in the head", "in the body", "before audio", "in mid-stream", "unread"), (1, 1, 4, 8, 2))[
        0
    ]
    if moment == "in the head":
        writer.write(request[: chance.randint(1, 40)])
    elif moment == "in the body":
        writer.write(request[: -chance.randint(1, 30)])
    else:
        writer.write(request)
        await asyncio.sleep(chance.uniform(0, 0.03) if moment == "before audio" else chance.uniform(0.005, 0.15))
    if moment == "in mid-stream":
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                for _ in range(chance.randint(1, 6)):
                    await reader.read(chance.randint(1, 40_000))
    if chance.random() < 0.5:
        # A phone that loses its network: a reset instead of a goodbye.
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    else:
        writer.close()
    return moment


async def storm(port: int, requests: int, seed: int, voice: str = "alloy") -> list[str]:
    """Many clients that leave, a bounded number at once."""
    chance = random.Random(seed)
    places = asyncio.Semaphore(AT_ONCE)

    async def one(own_chance: random.Random) -> str:
        async with places:
            return await leave(port, own_chance, voice)

    return await asyncio.gather(*(one(random.Random(chance.random())) for _ in range(requests)))


async def whole(server: Server, text: str, voice: str = "alloy") -> bytes:
    """An answer that somebody waits for."""
    async with await Connection.open(server.port) as connection:
        answer = await connection.speak(model="tts-1", voice=voice, input=text, response_format="pcm")
    assert answer.status == 200, answer.body
    return answer.body


async def test_a_thousand_cancels_leave_no_thread_slot_file_or_descriptor(server: Server) -> None:
    """Public cases 51, 52 and 54: pocket-tts#238, faster-qwen3-tts#130, sglang-omni#665."""
    await storm(server.port, 100, seed=1)
    await whole(server, "Good morning to everyone.")
    before = await asyncio.to_thread(server.settle)
    outcomes_before = server.metric("tts_utterances_total")
    async with asyncio.TaskGroup() as group:
        storming = group.create_task(storm(server.port, REQUESTS, seed=2))
        seen_busy = await asyncio.to_thread(lambda: max(server.busy() for _ in range(50)))
    moments = storming.result()
    await asyncio.to_thread(server.settle)
    assert seen_busy > 0, "nothing was ever taken, so nothing was given back"
    assert len(moments) == REQUESTS
    assert {"in the head", "in the body", "before audio", "in mid-stream", "unread"} == set(moments)
    assert server.metric("tts_utterances_total") - outcomes_before > REQUESTS / 2, "most of them never began"
    assert await whole(server, "Good morning to everyone.") == await whole(server, "Good morning to everyone.")
    after = await asyncio.to_thread(server.settle, before)
    assert after.files == before.files
    assert after.threads <= before.threads
    assert after.descriptors <= before.descriptors
    if not before.threads:
        pytest.skip("this system does not tell a process's threads and descriptors; files and slots were checked")


@pytest.mark.models
async def test_runs_of_a_slow_model_that_are_stopped_half_way_leave_nothing(server: Server) -> None:
    """The same with Kokoro, whose single step lasts longer than most of these clients stay."""
    await whole(server, "Good morning.", "af_heart")
    await storm(server.port, 20, seed=3, voice="af_heart")
    before = await asyncio.to_thread(server.settle)
    await storm(server.port, 60, seed=4, voice="af_heart")
    after = await asyncio.to_thread(server.settle, before)
    assert after.files == before.files
    assert after.threads <= before.threads
    assert after.descriptors <= before.descriptors
    assert await whole(server, "Good morning.", "af_heart")
