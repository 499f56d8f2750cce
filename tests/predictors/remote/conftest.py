"""Predictors elsewhere, played by servers that do what a test tells them, on real sockets."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from vivavoce.config import Settings
from vivavoce.engines.base import Chunk, Phrase
from vivavoce.predictors.base import Job
from vivavoce.predictors.http_speech import HttpSpeechPredictor
from vivavoce.predictors.pool_setup import pool_from_settings
from vivavoce.predictors.remote import Times
from vivavoce.predictors.v2_wire import InferResponse, Tensor

from .pools import ready_count
from .speech_events import SPEECH

RATE_HZ = 24_000


@dataclass
class Asked:
    """A request, and the means to answer it in any way whatever."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    writer: asyncio.StreamWriter
    reader: asyncio.StreamReader
    left: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self, status: int = 200, **headers: str) -> None:
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        await self.raw(f"HTTP/1.1 {status} Told\r\n{lines}\r\n".encode())

    async def whole(self, body: bytes | dict | list, status: int = 200, **headers: str) -> None:
        if not isinstance(body, bytes):
            body, headers = json.dumps(body).encode(), {"Content_Type": "application/json"} | headers
        await self.head(status, Content_Length=str(len(body)), **headers)
        await self.raw(body)

    async def chunked(self, *pieces: bytes, status: int = 200, end: bool = True, **headers: str) -> None:
        await self.head(status, Transfer_Encoding="chunked", **headers)
        for piece in pieces:
            await self.chunk(piece)
        if end:
            await self.raw(b"0\r\n\r\n")

    async def chunk(self, piece: bytes) -> None:
        await self.raw(b"%x\r\n%b\r\n" % (len(piece), piece))

    def reset(self) -> None:
        self.writer.transport.abort()


Answer = Callable[[Asked], Awaitable[None]]


class Server:
    """Answers every request by the routes; what is asked of it is kept, and so is who left before the end."""

    def __init__(self, routes: dict[str, Answer]) -> None:
        self.routes = routes
        self.asked: list[Asked] = []
        self.connections = 0
        self.open = 0
        self.port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def of(self, path: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.path.partition("?")[0].endswith(path)]

    async def start(self) -> Server:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        self.connections += 1
        self.open += 1
        try:
            while await self._request(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        start = await reader.readuntil(b"\r\n\r\n")
        line, *rest = start.decode().split("\r\n")
        method, path, _ = line.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (h.partition(":") for h in rest if h)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        asked = Asked(method, path, headers, body, writer, reader)
        self.asked.append(asked)
        bare = path.partition("?")[0]
        route = self.routes.get(bare) or next((r for end, r in self.routes.items() if bare.endswith(end)), _missing)
        answering = asyncio.ensure_future(route(asked))
        leaving = asyncio.ensure_future(_gone(reader))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                asked.left.set()
                return False
            answering.result()
            if writer.is_closing() or leaving.done():
                return False
        finally:
            for task in (answering, leaving):
                task.cancel()
            await asyncio.wait({answering, leaving})
            with suppress(BaseException):
                answering.exception()
        return "close" not in headers.get("connection", "").lower()


async def _gone(reader: asyncio.StreamReader) -> None:
    while not reader.at_eof() and reader.exception() is None:  # noqa: ASYNC110
        await asyncio.sleep(0.001)


async def _missing(asked: Asked) -> None:
    await asked.whole({"error": "no such path"}, 404)


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., Awaitable[Server]]]:
    """Starts servers; they are gone after the test."""
    started: list[Server] = []

    async def start(routes: dict[str, Answer], port: int = 0) -> Server:
        server = Server(routes)
        server.port = port
        started.append(server)
        return await server.start()

    yield start
    for server in started:
        await server.stop()


def v2_routes(
    infer: Answer | None = None, *, extensions: tuple[str, ...] = ("binary_tensor_data",), **meta: Any
) -> Any:
    """The routes of a V2 server with the model `tts`; `slots` and other headers travel on its health page."""
    headers = {
        f"X_{name.title()}": str(meta.pop(name)) for name in ("slots", "streams", "tier", "node") if name in meta
    }
    vivavoce = {"vivavoce": meta} if meta else {}
    return {
        "/v2/health/ready": lambda asked: asked.whole({"ready": True, "live": True}, **headers),
        "/v2": lambda asked: asked.whole({"name": "fake", "version": "1", "extensions": list(extensions)}),
        "/v2/models/tts": lambda asked: asked.whole({"name": "tts", "platform": "fake", "inputs": []} | vivavoce),
        "/infer": infer or (lambda asked: answer_speech(asked, Kit.tone())),
    }


async def answer_speech(asked: Asked, samples: np.ndarray, *, rate_hz: int = RATE_HZ, **headers: str) -> None:
    """Speech as binary INT16, with its rate."""
    audio, rate = Tensor.of_numbers("audio", np.frombuffer(Kit.pcm(samples), "<i2")), np.array([rate_hz], np.int32)
    body = InferResponse("tts", (audio, Tensor.of_numbers("sample_rate", rate))).encode(lambda name: name == "audio")
    told = {name.replace("-", "_"): value for name, value in body.headers.items()}
    await asked.whole(body.content, **told, **headers)


@pytest.fixture
def kit() -> type[Kit]:
    """What tests say and hear."""
    return Kit


class Kit:
    """Sounds, jobs, and waiting for what comes true."""

    v2_routes = staticmethod(v2_routes)
    answer_speech = staticmethod(answer_speech)

    @staticmethod
    def tone(seconds: float = 0.5, hz: float = 220.0, rate_hz: int = RATE_HZ) -> np.ndarray:
        return (0.3 * np.sin(2 * np.pi * hz * np.arange(int(seconds * rate_hz)) / rate_hz)).astype(np.float32)

    @staticmethod
    def pcm(samples: np.ndarray) -> bytes:
        return np.rint(samples * 32768).clip(-32768, 32767).astype("<i2").tobytes()

    @staticmethod
    def wav(samples: np.ndarray, rate_hz: int = RATE_HZ, *, length: int | None = None, channels: int = 1) -> bytes:
        data = Kit.pcm(samples)
        told = len(data) if length is None else length
        riff = told + 36 if told < 0xFFFFFFFF - 36 else 0xFFFFFFFF
        fmt = struct.pack("<HHIIHH", 1, channels, rate_hz, rate_hz * 2 * channels, 2 * channels, 16)
        return (
            b"RIFF"
            + struct.pack("<I", riff)
            + b"WAVEfmt "
            + struct.pack("<I", 16)
            + fmt
            + (b"data" + struct.pack("<I", told) + data)
        )

    @staticmethod
    def job(text: str = "The kettle sings.", voice: str = "anna", **kw: Any) -> Job:
        language = kw.pop("language", "en")
        ipa = kw.pop("ipa", ())
        return Job(Phrase(text, language, ipa), voice, **kw)

    @staticmethod
    async def heard(chunks: AsyncIterator[Chunk]) -> list[Chunk]:
        return [chunk async for chunk in chunks]

    @staticmethod
    def sound(chunks: list[Chunk]) -> np.ndarray:
        return np.concatenate([chunk.samples for chunk in chunks]) if chunks else np.zeros(0, np.float32)

    @staticmethod
    async def until(true: Callable[[], Any], turns: int = 2500) -> None:
        for _ in range(turns):
            if true():
                return
            await asyncio.sleep(0.002)
        raise AssertionError("it never came true")


@pytest.fixture
async def pool_of():
    """A pool over some servers, all of which are ready."""
    pools = []

    async def make(*floor, burst=(), ready=None, **settings):
        settings = {"request_timeout_s": 3.0, "probe_interval_s": 0.05, "connect_timeout_s": 0.5} | settings
        urls, more = (tuple(one if isinstance(one, str) else one.url for one in tier) for tier in (floor, burst))
        pool = pool_from_settings(Settings.load(predictor_url=urls, burst_url=more, **settings))
        pools.append(pool)
        await pool.start()
        await ready_count(pool, len(urls) + len(burst) if ready is None else ready)
        return pool

    yield make
    for pool in pools:
        await pool.aclose()


@pytest.fixture
async def predict(serve):
    """A predictor in front of a server that answers speech as told."""
    made = []

    async def make(answer, **kw) -> tuple[HttpSpeechPredictor, object]:
        server = await serve({SPEECH: answer, **kw.pop("routes", {})})
        predictor = HttpSpeechPredictor(server.url + "/v1", times=Times(kw.pop("request_s", 5.0), 1.0), **kw)
        made.append(predictor)
        return predictor, server

    yield make
    for predictor in made:
        await predictor.aclose()
