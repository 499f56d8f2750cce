"""A server with scripted voices, in this event loop, behind a real socket where a test needs one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn
from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as dial
from websockets.typing import Subprotocol

from vivavoce.api import create_app
from vivavoce.api.connection import Connection
from vivavoce.api.services import WARM_UP_TEXT
from vivavoce.api.ws_wire import WebSocketWire
from vivavoce.config import Settings
from vivavoce.engines.base import Chunk, Phrase, Voice, WordTime
from vivavoce.engines.catalog import Catalog
from vivavoce.predictors.base import Deadline, Job

RATE_HZ = 24_000


def tone(duration_ms: float, rate_hz: int = RATE_HZ) -> np.ndarray:
    frames = int(duration_ms * rate_hz / 1000)
    return (0.3 * np.sin(np.arange(frames) * 2 * np.pi * 220 / rate_hz)).astype(np.float32)


def words_within(text: str, index: int, chunks: int, chunk_ms: float) -> tuple[WordTime, ...]:
    """The words of the phrase, evenly spread over its chunks, that end within the chunk of that index."""
    spans, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        spans.append((start, at))
    each = chunks * chunk_ms / max(1, len(spans))
    times = (WordTime(s, e, i * each, (i + 1) * each) for i, (s, e) in enumerate(spans))
    last = index == chunks - 1
    return tuple(t for t in times if index * chunk_ms < t.end_ms and (last or t.end_ms <= (index + 1) * chunk_ms))


@dataclass
class ScriptedPredictor:
    """Says every phrase as `chunks` tones of `chunk_ms`; can wait at a gate, or fail, before a chunk."""

    chunks: int = 3
    chunk_ms: float = 200.0
    slots: int = 2
    hold_at: int | None = None
    fail_at: int | None = None
    fail_with: Exception = field(default_factory=lambda: RuntimeError("the scripted engine broke"))
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    seats: int = 64
    seats_of: dict[str, int] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    active: int = 0
    most_active: int = 0
    closed: int = 0

    def streams(self, voice: str) -> int:
        return self.seats_of.get(voice, self.seats)

    def rate_hz(self, voice: str) -> int:
        return RATE_HZ

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        if job.phrase.text.rstrip(".") in WARM_UP_TEXT:
            yield Chunk(tone(100))
            return
        self.jobs.append(job)
        self.active += 1
        self.most_active = max(self.most_active, self.active)
        try:
            for index in range(self.chunks):
                if index == self.hold_at:
                    await self.gate.wait()
                if index == self.fail_at:
                    raise self.fail_with
                yield Chunk(tone(self.chunk_ms), words_within(job.phrase.text, index, self.chunks, self.chunk_ms))
                await asyncio.sleep(0)
        finally:
            self.active -= 1
            self.closed += 1


class ScriptedEngine:
    """An engine whose steps block until they are let go; counts what runs in threads."""

    name = "scripted"
    rate_hz = RATE_HZ
    native_speed = True
    word_times = "exact"

    def __init__(self, steps: int = 20, step_s: float = 0.0) -> None:
        self.steps = steps
        self.step_s = step_s
        self.running = 0
        self.begun = 0
        self.steps_done = 0
        self._lock = threading.Lock()

    def voices(self) -> tuple[Voice, ...]:
        return (Voice("mira", "en-US", "female", "Calm"), Voice("otto", "de-DE", "male"), Voice("ghost", "en-GB"))

    def ready_voices(self) -> tuple[Voice, ...]:
        return self.voices()[:2]

    def hint(self, voice: str) -> str:
        return f"Run: vivavoce models pull {voice}"

    def speaks(self, voice: str, language: str) -> bool:
        return {"mira": "en", "otto": "de", "ghost": "en"}[voice] == language.split("-")[0].lower()

    def load(self, voice: str) -> None:
        pass

    def synthesize(self, phrase: Phrase, voice: str, speed: float, cancelled: Callable[[], bool]) -> Iterator[Chunk]:
        with self._lock:
            self.begun += 1
            self.running += 1
        try:
            for index in range(self.steps):
                if cancelled():
                    return
                threading.Event().wait(self.step_s)
                self.steps_done += 1
                yield Chunk(tone(100), words_within(phrase.text, index, self.steps, 100))
        finally:
            with self._lock:
                self.running -= 1


@pytest.fixture(autouse=True)
def brief_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, so that a server that has spoken has nothing left to say."""
    monkeypatch.setattr("vivavoce.api.services.WARM_UP_TEXT", "Ready when you are.")


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine()


@pytest.fixture
def predictor() -> ScriptedPredictor:
    return ScriptedPredictor()


@pytest.fixture
def build(engine: ScriptedEngine, predictor: ScriptedPredictor) -> Callable[..., FastAPI]:
    """An app on the scripted voices; keyword arguments are settings."""

    def make(*, embedded: bool = False, **settings: Any) -> FastAPI:
        chosen = {"default_voice": "mira", "cache_mb": 0, **settings}
        return create_app(Settings(**chosen), catalog=Catalog([engine]), predictor=None if embedded else predictor)

    return make


@pytest.fixture
def app(build: Callable[..., FastAPI]) -> FastAPI:
    return build()


@pytest.fixture
def connect() -> Callable[[FastAPI], httpx.AsyncClient]:
    """A client without a socket; the app's lifespan does not run."""

    def make(app: FastAPI, **options: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://door", **options)

    return make


@pytest.fixture
async def client(app: FastAPI, connect: Callable[..., httpx.AsyncClient]) -> AsyncIterator[httpx.AsyncClient]:
    async with connect(app) as client:
        yield client


class _QuietServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def _running(app: FastAPI, grace_s: int = 2) -> AsyncIterator[int]:
    config = uvicorn.Config(
        app,
        http=Connection,
        ws=WebSocketWire,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=grace_s,
    )
    server = _QuietServer(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        task = asyncio.create_task(server.serve(sockets=[listener]))
        services = app.state.services
        await _until(lambda: server.started and (services.spoken or services.fault is not None))
        try:
            yield port
        finally:
            server.should_exit = True
            await task


async def _until(condition: Callable[[], bool], timeout_s: float = 10.0) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - conditions of threads and sockets have no event
            await asyncio.sleep(0.002)


@pytest.fixture
def running() -> Callable[..., contextlib.AbstractAsyncContextManager[int]]:
    """`async with running(app) as port`: the app behind a real socket; utterances get `grace_s` to finish at its end."""
    return _running


@pytest.fixture
def until() -> Callable[..., Any]:
    """`await until(condition)`: returns once it holds, fails if it never does."""
    return _until


@dataclass
class Wire:
    """One raw connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def post(self, body: Any, path: str = "/v1/audio/speech", **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        fields = {"Host": "door", "Content-Type": "application/json", "Content-Length": str(len(content)), **headers}
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        self.writer.write(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + content)
        await self.writer.drain()

    async def head(self) -> tuple[int, dict[str, str]]:
        status, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
        pairs = (line.split(": ", 1) for line in lines)
        return int(status.split()[1]), {name.lower(): value for name, value in pairs}

    def leave(self) -> None:
        self.writer.transport.abort()


@pytest.fixture
def wire() -> Callable[[int], contextlib.AbstractAsyncContextManager[Wire]]:
    """`async with wire(port) as raw`: a raw connection to a running server."""

    @contextlib.asynccontextmanager
    async def dial(port: int) -> AsyncIterator[Wire]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**26)
        try:
            yield Wire(reader, writer)
        finally:
            writer.transport.abort()

    return dial


@pytest.fixture
def sample() -> Callable[..., float]:
    """`sample(app, name, **labels)`: the value of a metric, 0.0 before its first count."""

    def read(app: FastAPI, name: str, **labels: str) -> float:
        value = app.state.services.metrics.registry.get_sample_value(name, labels)
        return value or 0.0

    return read


class Talk:
    """A client of /ws/synthesize."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def tell(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def ask(self, text: str = "Count me among the others.", **fields: Any) -> None:
        await self.tell("synthesize", text=text, **fields)

    async def until(self, kind: str) -> dict[str, Any]:
        """The first message of that kind; `audio` is the first sound."""
        async with asyncio.timeout(10):
            async for frame in self.socket:
                told = {"type": "audio"} if isinstance(frame, bytes) else json.loads(frame)
                if told["type"] == kind:
                    return told
        raise AssertionError(f"closed before {kind}")

    async def closed(self) -> int | None:
        """The close code, once the server has closed."""
        async with asyncio.timeout(10):
            await self.socket.wait_closed()
        return self.socket.close_code

    def vanish(self) -> None:
        self.socket.transport.abort()


@pytest.fixture
def talk() -> Callable[[int], contextlib.AbstractAsyncContextManager[Talk]]:
    """`async with talk(port) as client`: a client of /ws/synthesize of a running server."""

    @contextlib.asynccontextmanager
    async def make(port: int) -> AsyncIterator[Talk]:
        url = f"ws://127.0.0.1:{port}/ws/synthesize"
        async with dial(url, subprotocols=[Subprotocol("vivavoce.v1")], compression=None, close_timeout=1) as socket:
            yield Talk(socket)

    return make


@pytest.fixture
async def door(app: FastAPI, connect: Callable[..., httpx.AsyncClient]) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the app once that has spoken."""
    app.state.services.has_spoken()
    async with connect(app) as client:
        yield client
