"""A real server with scripted voices and a real WebSocket client; and the same door without sockets, in virtual time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import selectors
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import uvicorn
from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from vivavoce.api import create_app
from vivavoce.api.server import uvicorn_config
from vivavoce.api.services import WARM_UP_TEXT
from vivavoce.config import Settings
from vivavoce.engines.base import Chunk, Voice, WordTime
from vivavoce.engines.catalog import Catalog
from vivavoce.predictors.base import Deadline, Job

RATE_HZ = 24_000


def tone(duration_ms: float, hz: float = 220.0) -> np.ndarray:
    frames = int(duration_ms * RATE_HZ / 1000)
    return (0.3 * np.sin(np.arange(frames) * 2 * np.pi * hz / RATE_HZ)).astype(np.float32)


@dataclass
class TonePredictor:
    """Says a phrase as `chunks` tones of `chunk_ms`, at a pitch that `pitches` gives for its first word.

    A chunk takes `step_s`. It waits for `gate` before chunk `hold_at`, and fails before chunk `fail_at` of a phrase in
    which `fail_on` stands.
    """

    chunks: int = 3
    chunk_ms: float = 200.0
    step_s: float = 0.0
    slots: int = 4
    hold_at: int | None = None
    fail_at: int | None = None
    fail_on: str = ""
    fail_with: Exception = field(default_factory=lambda: RuntimeError("the scripted engine broke"))
    pitches: dict[str, float] = field(default_factory=dict)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    jobs: list[Job] = field(default_factory=list)
    made: int = 0
    active: int = 0
    closed: int = 0

    def streams(self, voice: str) -> int:
        return self.slots

    def rate_hz(self, voice: str) -> int:
        return RATE_HZ

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        text = job.phrase.text
        if text.rstrip(".") in WARM_UP_TEXT:
            yield Chunk(tone(100))
            return
        self.jobs.append(job)
        self.active += 1
        hz = self.pitches.get(text.split()[0], 220.0)
        try:
            for index in range(self.chunks):
                if index == self.hold_at:
                    await self.gate.wait()
                if index == self.fail_at and self.fail_on in text:
                    raise self.fail_with
                await asyncio.sleep(self.step_s)
                self.made += 1
                last = index == self.chunks - 1
                yield Chunk(tone(self.chunk_ms, hz), self._words(text, index), is_last=last)
        finally:
            self.active -= 1
            self.closed += 1

    def _words(self, text: str, index: int) -> tuple[WordTime, ...]:
        """The words, evenly spread over the chunks, that end in the chunk of that index."""
        spans = [match.span() for match in re.finditer(r"\S+", text)]
        each = self.chunks * self.chunk_ms / len(spans)
        times = [WordTime(start, end, i * each, (i + 1) * each) for i, (start, end) in enumerate(spans)]
        return tuple(t for t in times if index <= (t.end_ms - 0.001) // self.chunk_ms < index + 1)

    @property
    def texts(self) -> list[str]:
        return [job.phrase.text for job in self.jobs]


class Voices:
    """Two voices for the catalog; the predictor speaks for them."""

    name = "tones"
    rate_hz = RATE_HZ
    native_speed = True
    word_times = "exact"

    def voices(self) -> tuple[Voice, ...]:
        return (Voice("mira", "en-US", "female"), Voice("otto", "de-DE", "male"))

    ready_voices = voices

    def speaks(self, voice: str, language: str) -> bool:
        return {"mira": "en", "otto": "de"}[voice] == language.split("-")[0].lower()

    def load(self, voice: str) -> None:
        pass


@pytest.fixture
def predictor() -> TonePredictor:
    return TonePredictor()


@pytest.fixture
def build(predictor: TonePredictor) -> Callable[..., FastAPI]:
    """An app on the scripted voices; keyword arguments are settings."""

    def make(*, speaker: Any = None, clock: Any = None, **settings: Any) -> FastAPI:
        chosen = {"default_voice": "mira", "cache_mb": 0, **settings}
        return create_app(Settings(**chosen), catalog=Catalog([Voices()]), predictor=speaker or predictor, clock=clock)

    return make


@pytest.fixture
def app(build: Callable[..., FastAPI]) -> FastAPI:
    return build()


class Client:
    """One WebSocket, with messages as objects."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def say(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def hear(self, timeout_s: float = 20.0) -> Any:
        """The next message as a dict, or the next frame of sound as bytes."""
        async with asyncio.timeout(timeout_s):
            frame = await self.socket.recv()
        return json.loads(frame) if isinstance(frame, str) else frame

    async def until(self, kind: str, request_id: str | None = None) -> list[Any]:
        """Everything up to the first message of that type (and of that utterance)."""
        heard = []
        while True:
            heard.append(await self.hear())
            said = heard[-1]
            if isinstance(said, dict) and said["type"] == kind and request_id in (None, said.get("request_id")):
                return heard

    async def speak(self, text: str, **fields: Any) -> list[Any]:
        """Have a text spoken; everything up to its `done`."""
        await self.say("synthesize", text=text, **fields)
        return await self.until("done")

    async def closed(self) -> tuple[int, list[Any]]:
        """The code with which the server closes, and what it says before."""
        heard: list[Any] = []
        try:
            while True:
                heard.append(await self.hear())
        except ConnectionClosed as error:
            assert error.rcvd is not None, error
            return error.rcvd.code, heard

    def leave(self) -> None:
        """Go without a word."""
        self.socket.transport.abort()


@dataclass
class Door:
    """A running server."""

    app: FastAPI
    port: int

    @contextlib.asynccontextmanager
    async def connect(self, path: str = "/ws/synthesize", **options: Any) -> AsyncIterator[Client]:
        options = {"subprotocols": ["vivavoce.v1"], "max_size": None, "max_queue": None, "compression": None, **options}
        async with connect(f"ws://127.0.0.1:{self.port}{path}", **options) as socket:
            yield Client(socket)

    @property
    def services(self) -> Any:
        return self.app.state.services

    @property
    def idle(self) -> bool:
        """Whether nothing is held any more."""
        services = self.services
        return services.admission.running == 0 and services.admission.waiting == 0 and services.connections.count == 0

    def count(self, name: str, **labels: str) -> float:
        return self.services.metrics.registry.get_sample_value(name, labels) or 0.0

    def ended(self, outcome: str) -> float:
        return self.count("tts_utterances_total", door="websocket", outcome=outcome)

    def config(self) -> uvicorn.Config:
        return uvicorn_config(self.app, self.services.settings)


class _QuietServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


@contextlib.asynccontextmanager
async def _serve(app: FastAPI, **options: Any) -> AsyncIterator[Door]:
    config = uvicorn_config(app, app.state.services.settings)
    for name, value in {"timeout_graceful_shutdown": 2, "loop": "none", **options}.items():
        setattr(config, name, value)
    server = _QuietServer(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        services = app.state.services
        await _until(lambda: server.started and (services.spoken or services.fault is not None))
        try:
            yield Door(app, listener.getsockname()[1])
        finally:
            server.should_exit = True
            await task


async def _until(condition: Callable[[], bool], timeout_s: float = 20.0) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - conditions of threads and sockets have no event
            await asyncio.sleep(0.002)


@pytest.fixture
def serve() -> Callable[..., contextlib.AbstractAsyncContextManager[Door]]:
    """`async with serve(app) as door`: the app behind a real socket; keyword arguments go into uvicorn's config."""
    return _serve


@pytest.fixture
def until() -> Callable[..., Coroutine[Any, Any, None]]:
    """`await until(condition)`: returns once it holds, fails if it never does."""
    return _until


@pytest.fixture(autouse=True)
def no_tracebacks(caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest) -> Any:
    """Nothing that a client does is an error in the log, unless the test asks for `errors_in_log`."""
    yield
    if "errors_in_log" not in request.fixturenames:
        errors = [record for record in caplog.records if record.levelno >= logging.ERROR or record.exc_info]
        assert not errors, [record.getMessage() for record in errors]


@pytest.fixture
def errors_in_log() -> None:
    """For tests in which something of ours breaks."""


# The door without a socket, in virtual time.


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that jumps to its next timer instead of waiting for it."""

    def __init__(self) -> None:
        self._now_s = 1_000.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self._now_s


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everybody waits, and nothing is left that could happen")
        if not ready and timeout:
            self._loop._now_s += timeout
        return ready


class VirtualClock:
    def now_ms(self) -> float:
        return asyncio.get_running_loop().time() * 1000


class Line:
    """Stands for a socket: what the client sends goes in, what the server sends is kept, with its time."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self.scope = {"subprotocols": ["vivavoce.v1"], "state": {}}
        self.incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.heard: list[Any] = []
        self.times_s: list[float] = []
        self.close_code: int | None = None
        self.unread = asyncio.Event()
        self.unread.set()

    async def accept(self, subprotocol: str | None) -> None:
        assert subprotocol == "vivavoce.v1"

    async def receive(self) -> dict[str, Any]:
        return await self.incoming.get()

    async def send(self, message: dict[str, Any]) -> None:
        await self.unread.wait()
        frame = message.get("bytes") or json.loads(message["text"])
        self.heard.append(frame)
        self.times_s.append(asyncio.get_running_loop().time())

    async def send_text(self, frame: str) -> None:
        await self.send({"text": frame})

    async def close(self, code: int, reason: str) -> None:
        self.close_code = code

    def say(self, kind: str, **fields: Any) -> None:
        self.incoming.put_nowait({"type": "websocket.receive", "text": json.dumps({"type": kind, **fields})})

    def leave(self) -> None:
        self.incoming.put_nowait({"type": "websocket.disconnect", "code": 1005})

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [frame for frame in self.heard if isinstance(frame, dict)]

    @property
    def sound(self) -> bytes:
        return b"".join(frame for frame in self.heard if isinstance(frame, bytes))

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["type"] == kind]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Look every virtual ms, later ten times a second; give up after a virtual hour."""
        looks = 0
        async with asyncio.timeout(3_600):
            while not condition():
                looks += 1
                await asyncio.sleep(0.001 if looks < 1_000 else 0.1)


@pytest.fixture
def virtual(build: Callable[..., FastAPI]) -> Callable[..., None]:
    """`virtual(story, **settings)`: runs `await story(line)` against the door in virtual time."""
    from vivavoce.api.synthesize_ws import synthesize

    async def tell(story: Any, settings: dict[str, Any]) -> None:
        line = Line(build(clock=VirtualClock(), **settings))
        served = asyncio.create_task(synthesize(line))  # type: ignore[arg-type]
        await story(line)
        if line.close_code is None:
            line.leave()
        await served
        services = line.app.state.services
        assert services.admission.running == services.connections.count == 0

    def run(story: Any, **settings: Any) -> None:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(tell(story, settings))

    return run
