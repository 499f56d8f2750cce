"""Clients that come and go leave no memory behind. Public case 139: livekit/agents#2166, #979."""

from __future__ import annotations

import asyncio
import itertools
import json
import random

import numpy as np
import pytest
from websockets.asyncio.client import connect

from server import Server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SESSIONS, WARM_UP = 500, 200
GROWTH_KIB = 3_000
# Few words, so that no cache of words grows, and more phrases than the cache of sound has room for.
TEXTS = [
    f"{who} {what}."
    for who in ("We", "They", "You", "I", "Seven")
    for what in ("saw it", "ran", "know", "left", "sing", "agree")
]


async def come_and_go(port: int, text: str, manner: str) -> None:
    """One session: says nothing, listens to the end, cancels, or leaves in the middle, politely or not."""
    url = f"ws://127.0.0.1:{port}/ws/synthesize"
    async with connect(url, subprotocols=["vivavoce.v1"], compression=None, close_timeout=1) as socket:
        if manner == "silent":
            return
        await socket.send(json.dumps({"type": "synthesize", "text": text}))
        async for frame in socket:
            if isinstance(frame, bytes):
                if manner == "leaves":
                    return
                if manner == "vanishes":
                    socket.transport.abort()
                    return
                if manner == "cancels":
                    await socket.send(json.dumps({"type": "cancel"}))
            elif json.loads(frame)["type"] == "done":
                return


async def come_and_go_often(server: Server, sessions: int, seed: int) -> list[int]:
    """The server's memory after each of them, in KiB."""
    chance = random.Random(seed)
    readings = []
    for text in itertools.islice(itertools.cycle(TEXTS), sessions):
        manner = chance.choice(("silent", "listens", "leaves", "vanishes", "cancels"))
        await come_and_go(server.port, text, manner)
        readings.append(server.rss_kib())
    return readings


async def test_livekit_agents_2166_five_hundred_sessions_leave_memory_where_it_was(server: Server) -> None:
    if not server.rss_kib():
        pytest.skip("this system does not tell a process's memory")
    await come_and_go_often(server, WARM_UP, seed=30)
    before = await asyncio.to_thread(server.settle)
    counted = server.metric("tts_utterances_total")
    readings = await come_and_go_often(server, SESSIONS, seed=31)
    slope_kib = float(np.polyfit(np.arange(len(readings)), readings, 1)[0])
    assert slope_kib * SESSIONS < GROWTH_KIB, f"{slope_kib:.2f} KiB a session"
    after = await asyncio.to_thread(server.settle, before)
    assert after.descriptors <= before.descriptors
    assert server.metric("tts_connections") == 0
    assert server.metric("tts_utterances_total") - counted > SESSIONS / 2, "most of them never said anything"
