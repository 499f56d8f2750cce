"""Clients that do not read, do not answer, or are not there any more."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import socket
import struct
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from vivavoce.api.ws_wire import WebSocketWire
from vivavoce.engines.base import Chunk, Phrase
from vivavoce.predictors.embedded import EmbeddedPredictor

BOOK = "Nobody will ever listen to this sentence, or to any that follows it. " * 1_000


class RawClient:
    """A WebSocket client that reads only when told to, and answers nothing by itself."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self._rest = b""

    async def send(self, payload: bytes, opcode: int = 1) -> None:
        size = len(payload)
        if size < 126:
            length = bytes([0x80 | size])
        else:
            length = struct.pack(">BH", 0xFE, size) if size < 65_536 else struct.pack(">BQ", 0xFF, size)
        frame = bytes([0x80 | opcode]) + length + b"\x00\x00\x00\x00" + payload
        await asyncio.get_running_loop().sock_sendall(self.link, frame)

    async def say(self, kind: str, **fields: Any) -> None:
        await self.send(json.dumps({"type": kind, **fields}).encode())

    async def frames(self) -> AsyncIterator[tuple[int, bytes]]:
        """Opcode and payload of every frame, until the server closes the connection."""
        while True:
            head = await self._exactly(2)
            if not head:
                return
            size = head[1] & 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", await self._exactly(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", await self._exactly(8))
            yield head[0] & 0x0F, await self._exactly(size)

    async def close_code(self) -> int:
        async with asyncio.timeout(20):
            async for opcode, payload in self.frames():
                if opcode == 8:
                    return struct.unpack(">H", payload[:2])[0]
        raise AssertionError("the connection ended without a close code")

    async def _exactly(self, size: int) -> bytes:
        while len(self._rest) < size:
            try:
                piece = await asyncio.get_running_loop().sock_recv(self.link, 65_536)
            except ConnectionResetError:
                piece = b""
            if not piece:
                return b""
            self._rest += piece
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken


@pytest.fixture
def dial() -> Callable[..., Any]:
    @contextlib.asynccontextmanager
    async def dialled(door: Any) -> AsyncIterator[RawClient]:
        loop = asyncio.get_running_loop()
        with socket.socket() as link:
            link.setblocking(False)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
            await loop.sock_connect(link, ("127.0.0.1", door.port))
            key = base64.b64encode(os.urandom(16)).decode()
            head = "GET /ws/synthesize HTTP/1.1\r\nHost: d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            head += (
                f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: vivavoce.v1\r\nSec-WebSocket-Key: {key}\r\n\r\n"
            )
            await loop.sock_sendall(link, head.encode())
            answer = b""
            while not answer.endswith(b"\r\n\r\n"):
                answer += await loop.sock_recv(link, 1)
            assert answer.startswith(b"HTTP/1.1 101 ")
            yield RawClient(link)

    return dialled


@pytest.fixture
def wires(monkeypatch: pytest.MonkeyPatch) -> list[WebSocketWire]:
    """Every server side of a connection, as it is made."""
    made: list[WebSocketWire] = []
    connect = WebSocketWire.connection_made

    def noted(self: WebSocketWire, transport: asyncio.BaseTransport) -> None:
        made.append(self)
        connect(self, transport)

    monkeypatch.setattr(WebSocketWire, "connection_made", noted)
    monkeypatch.setattr(WebSocketWire, "linger_s", 0.2)
    return made


async def test_a_client_that_never_reads_is_bounded_and_closed_with_4408(build, predictor, serve, until, dial, wires):
    predictor.chunks, predictor.chunk_ms = 4, 1_000.0
    app = build(stall_timeout_s=0.3)
    async with serve(app) as door, dial(door) as client:
        await client.say("synthesize", text=BOOK, lead_ms=15_000, sample_rate=48_000)
        await until(lambda: predictor.made > 3)
        most_unsent = 0

        def gone() -> bool:
            nonlocal most_unsent
            if wires[0].transport is not None and not wires[0].transport.is_closing():
                most_unsent = max(most_unsent, wires[0].transport.get_write_buffer_size())
            return door.services.admission.running == 0

        await until(gone)
        # Its lead of 15 s, and what the buffers of both systems hold.
        assert predictor.made < 15 + 20
        assert 0 < most_unsent < 262_144
        assert await client.close_code() == 4408
        await until(lambda: door.idle and predictor.active == 0)
        assert door.ended("client_gone") == 1


async def test_a_client_that_never_reads_and_never_goes_is_cut_off(build, predictor, serve, until, dial, wires):
    predictor.chunks, predictor.chunk_ms = 4, 1_000.0
    app = build(stall_timeout_s=0.1)
    async with serve(app) as door, dial(door) as client:
        await client.say("synthesize", text=BOOK, lead_ms=15_000, sample_rate=48_000)
        await until(lambda: bool(wires) and wires[0].disconnected)
        await until(lambda: door.idle)


async def test_answers_that_nobody_reads_do_not_pile_up(build, serve, until, dial, wires):
    app = build(stall_timeout_s=30)
    async with serve(app) as door, dial(door) as client:
        ping = json.dumps({"type": "ping", "id": "x" * 120}).encode()
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(20):
                while not wires[0].close_sent:
                    await client.send(ping)
        assert await client.close_code() == 4408
        await until(lambda: door.idle)


async def test_pongs_that_nobody_reads_do_not_pile_up(build, predictor, serve, until, dial, wires):
    predictor.chunks, predictor.chunk_ms = 4, 1_000.0
    app = build(stall_timeout_s=30)
    async with serve(app) as door, dial(door) as client:
        await client.say("synthesize", text=BOOK, lead_ms=15_000, sample_rate=48_000)
        await until(lambda: not wires[0].writable.is_set())
        full = wires[0].transport.get_write_buffer_size()
        for _ in range(3_000):
            await client.send(b"p" * 120, opcode=9)
        await client.say("cancel")
        await until(lambda: predictor.active == 0 and door.services.admission.running == 0)
        assert wires[0].transport.get_write_buffer_size() <= full + 4_096


async def test_a_client_that_does_not_read_can_still_cancel(build, predictor, serve, until, dial, wires):
    predictor.chunks, predictor.chunk_ms = 4, 1_000.0
    app = build(stall_timeout_s=30)
    async with serve(app) as door, dial(door) as client:
        await client.say("synthesize", request_id="r1", text=BOOK, lead_ms=15_000, sample_rate=48_000)
        await until(lambda: not wires[0].writable.is_set())
        await client.say("cancel")
        await until(lambda: predictor.active == 0 and door.services.admission.running == 0)
        last: Any = None
        async with asyncio.timeout(20):
            async for opcode, payload in client.frames():
                last = json.loads(payload) if opcode == 1 else payload
                if opcode == 1 and last["type"] == "done":
                    break
        assert last["outcome"] == "cancelled"
        await client.say("ping")
        async for opcode, payload in client.frames():
            assert (opcode, json.loads(payload)) == (1, {"type": "pong"})
            break


@pytest.mark.parametrize("speaking", [False, True])
async def test_istio_16572_a_connection_whose_other_end_is_gone_is_noticed(
    app, predictor, serve, until, dial, wires, speaking
):
    predictor.hold_at = 1
    async with serve(app, ws_ping_interval=0.05, ws_ping_timeout=0.1) as door, dial(door) as client:
        if speaking:
            await client.say("synthesize", text="Is anybody there? Anybody?")
            await until(lambda: predictor.active == 1)
        assert await client.close_code() == 4408
        await until(lambda: door.idle and predictor.active == 0)
        assert door.ended("client_gone") == (1 if speaking else 0)


async def test_istio_16572_a_quiet_client_that_answers_pings_stays(app, serve, wires):
    async with (
        serve(app, ws_ping_interval=0.02, ws_ping_timeout=5.0) as door,
        door.connect(ping_interval=None) as client,
    ):
        await asyncio.sleep(0.3)
        assert wires[0].last_ping_rtt > 0
        assert (await client.speak("Still here."))[-1]["outcome"] == "ok"


class StuckEngine:
    """An engine whose step blocks its thread until it is let go."""

    name = "tones"
    rate_hz = 24_000
    native_speed = True
    word_times = "exact"

    def __init__(self, voices: Any) -> None:
        self.voices = self.ready_voices = voices.voices
        self.speaks = voices.speaks
        self.stuck = threading.Event()
        self.free = threading.Event()

    def load(self, voice: str) -> None:
        pass

    def synthesize(self, phrase: Phrase, voice: str, speed: float, cancelled: Callable[[], bool]) -> Iterator[Chunk]:
        import numpy as np

        if "Ready" not in phrase.text:
            self.stuck.set()
            self.free.wait(30)
        yield Chunk(np.full(2_400, 0.2, np.float32))


async def test_funasr_3533_pings_are_answered_while_the_engine_is_busy(build, app, serve, until):
    engine = StuckEngine(app.state.services.catalog.engines[0])
    speaker = EmbeddedPredictor([engine], threads=2)
    try:
        async with serve(build(speaker=speaker)) as door, door.connect() as client:
            for name in ("a", "b", "c"):
                await client.say("synthesize", request_id=name, text="A long thought.", framing="header")
            await until(engine.stuck.is_set)
            for _ in range(20):
                async with asyncio.timeout(5):
                    await (await client.socket.ping())
                await client.say("ping", id=1)
                await client.until("pong")
            engine.free.set()
            outcomes = [(await client.until("done"))[-1]["outcome"] for _ in range(3)]
            assert outcomes == ["ok", "ok", "ok"]
    finally:
        engine.free.set()
        speaker.close()
