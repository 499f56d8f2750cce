"""A foreign engine: an imitation of what vLLM-Omni 0.30 serves for OmniVoice, which knows nothing of this project."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import wave
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from aiohttp import web

RATE_HZ = 24_000
MODEL = "k2-fsa/OmniVoice"


def spoken(text: str) -> bytes:
    """50 ms of tone a character, as s16le."""
    frames = len(text) * RATE_HZ // 20
    return (9_000 * np.sin(np.arange(frames) * 2 * np.pi * 180 / RATE_HZ)).astype("<i2").tobytes()


def wav(pcm: bytes) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        writer.writeframes(pcm)
    return file.getvalue()


@dataclass
class ForeignEngine:
    """One whole clip a request; nothing is streamed, whatever is asked. `gate` holds requests back while it is clear."""

    port: int
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[dict[str, Any]] = field(default_factory=list)
    active: int = 0
    aborted: int = 0
    healthy: bool = True
    speaks: bool = True
    full: bool = False
    cut: bool = False
    _runner: web.AppRunner | None = None
    _open: set[asyncio.Transport] = field(default_factory=set)

    async def start(self) -> None:
        app = web.Application()
        app.router.add_get("/health", self._health)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/v1/audio/voices", self._voices)
        app.router.add_post("/v1/audio/speech", self._speech)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()

    async def die(self) -> None:
        """As a killed process does: every connection is lost at once."""
        for transport in list(self._open):
            transport.abort()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def texts(self) -> list[str]:
        """What it was asked to say since it was warm."""
        return [body["input"] for body in self.asked if "eady" not in body["input"]]

    async def _health(self, _request: web.Request) -> web.Response:
        return web.Response(status=200 if self.healthy else 503)

    async def _models(self, _request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "vllm"}]})

    async def _voices(self, _request: web.Request) -> web.Response:
        return web.json_response({"voices": ["hanna"], "uploaded_voices": [{"name": "hanna", "consent": "yes"}]})

    async def _speech(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body)
        if body.get("model", MODEL) != MODEL:
            return _error(404, "NotFoundError", f"The model `{body['model']}` does not exist.")
        if not body.get("input", "").strip():
            return _error(400, "BadRequestError", "Input text cannot be empty")
        if body.get("voice", "default") not in ("default", "hanna"):
            return _error(400, "BadRequestError", f"Invalid voice '{body['voice']}'. Supported: hanna")
        if self.full:
            return _error(503, "ServiceUnavailableError", "too many requests")
        if not self.speaks:
            return _error(500, "InternalServerError", "CUDA error: out of memory")
        self.active += 1
        self._open.add(request.transport)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.aborted += 1
            raise
        finally:
            self.active -= 1
            self._open.discard(request.transport)
        pcm = spoken(body["input"])
        is_pcm = body.get("response_format", "wav") == "pcm"
        content, kind = (pcm, "audio/pcm") if is_pcm else (wav(pcm), "audio/wav")
        if not self.cut:
            return web.Response(body=content, content_type=kind)
        reply = web.StreamResponse(headers={"Content-Type": kind, "Content-Length": str(len(content))})
        await reply.prepare(request)
        await reply.write(content[: len(content) // 2])
        request.transport.abort()
        return reply


def _error(status: int, kind: str, message: str) -> web.Response:
    error = {"message": message, "type": kind, "param": None, "code": status}
    return web.Response(status=status, text=json.dumps({"error": error}), content_type="application/json")


@pytest.fixture
async def engine() -> AsyncIterator[ForeignEngine]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    engine = ForeignEngine(port)
    engine.gate.set()
    await engine.start()
    yield engine
    await engine.die()


@pytest.fixture
def until() -> Callable[..., Any]:
    """`await until(condition)`: returns once it holds, fails if it never does."""

    async def wait(condition: Callable[[], bool], timeout_s: float = 10.0) -> None:
        async with asyncio.timeout(timeout_s):
            while not condition():  # noqa: ASYNC110 - conditions of sockets have no event
                await asyncio.sleep(0.002)

    return wait
