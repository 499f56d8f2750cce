"""A scripted server that serves the page and speaks as a test wants it to."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import math
import struct
import wave
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from vivavoce.api.page import Page
from vivavoce.engines.design import CATEGORIES, parse_design
from vivavoce.errors import BadRequest
from vivavoce.languages import find_language, languages

from .talk import Talk, token_of

RATE_HZ = 24_000


@cache
def tone(duration_ms: float, hz: float = 440.0) -> bytes:
    """A sine at half of full scale, as PCM."""
    count = round(duration_ms * RATE_HZ / 1000)
    return struct.pack(f"<{count}h", *(round(16384 * math.sin(2 * math.pi * hz * n / RATE_HZ)) for n in range(count)))


def wav(pcm: bytes) -> bytes:
    """PCM in a file with exact lengths."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        writer.writeframes(pcm)
    return file.getvalue()


def words_of(text: str, word_ms: float) -> list[dict[str, Any]]:
    """Every word of a text, one after the other, each as long as the next."""
    words, at = [], 0
    for index, word in enumerate(text.split()):
        start = text.index(word, at)
        at = start + len(word)
        times = {"start_ms": index * word_ms, "end_ms": (index + 1) * word_ms}
        words.append({"word": word, "start": start, "end": at, "exact": True, **times})
    return words


def voice(name: str, language: str, engine: str, *, ready: bool = True, **more: str) -> dict[str, Any]:
    """A voice as the server tells of it."""
    return {"name": name, "language": language, "engine": engine, "ready": ready, **more}


@dataclass
class Script:
    """How the server speaks: each word is one delta of `word_ms`.

    `drops` are the words after which connections are cut, one a connection; `goes_after` the word after which the server
    leaves politely. `numbers` are told one after the other, once each.
    """

    word_ms: float = 150
    gap_s: Callable[[int], float] = lambda index: 0.0
    first_delay_s: float = 0.0
    break_after: int | None = None
    error_after: int | None = None
    refusal: tuple[int, dict[str, Any], dict[str, str]] | None = None
    key: str | None = None
    missing: str | None = None
    repeat: int = 1
    sockets: bool = True
    tokens: bool = True
    lead_ms: float = 5_000
    places: tuple[int, ...] = ()
    busy: dict[str, Any] | None = None
    drops: list[int] = field(default_factory=list)
    drops_in_queue: int = 0
    goes_after: int | None = None
    stale_frames: int = 0
    forgets_tokens: bool = False
    origin: dict[str, str] = field(default_factory=dict)
    numbers: list[dict[str, Any]] | None = field(default_factory=list)
    native_design: bool = False
    voices: list[Any] = field(
        default_factory=lambda: [
            voice("hibari", "en-US", "hibari"),
            voice("af_heart", "en-US", "kokoro", gender="female"),
            voice("bf_emma", "en-GB", "kokoro", gender="female"),
            voice("de", "de", "espeak"),
            voice("am_adam", "en-US", "kokoro", ready=False, hint="Get it with `vivavoce models pull kokoro`."),
        ]
    )


@dataclass
class Studio:
    """The scripted server, and what it has seen."""

    url: str = ""
    script: Script = field(default_factory=Script)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    deltas_sent: int = 0
    left: int = 0
    said: list[dict[str, Any]] = field(default_factory=list)
    connections: int = 0
    numbers_asked: int = 0
    listening: set[int] = field(default_factory=set)

    def app(self) -> ASGIApp:
        routes = [
            Route("/v1/audio/voices", self.voices),
            Route("/v1/audio/speech", self.speech, methods=["POST"]),
            Route("/v1/text/explain", self.explain, methods=["POST"]),
            Route("/v1/languages", self.languages),
            Route("/v1/voices/design", self.design, methods=["POST"]),
            Route("/v1/tokens", self.token, methods=["POST"]),
            Route("/stats/stream", self.numbers),
            WebSocketRoute("/ws/synthesize", self.talk),
            Mount("/", self.files),
        ]
        return Starlette(routes=routes)

    async def files(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == self.script.missing:
            await Response(status_code=503)(scope, receive, send)
        else:
            await Page()(scope, receive, send)

    def refused(self, request: Request) -> Response | None:
        self.headers.append(dict(request.headers))
        if self.script.key and request.headers.get("authorization") != f"Bearer {self.script.key}":
            return refusal(401, "You did not provide an API key.", "invalid_api_key")
        return None

    async def voices(self, request: Request) -> Response:
        return self.refused(request) or JSONResponse({"voices": self.script.voices, "uploaded_voices": []})

    async def languages(self, request: Request) -> Response:
        spoken = {find_language(voice["language"]) for voice in self.script.voices if voice["ready"]}
        listed = [
            {"id": one.id, "name": one.name, "iso639_3": one.iso639_3, "tag": one.id, "speakable": one in spoken}
            | {"voices": int(one in spoken), "needs": "" if one in spoken else "a predictor that serves OmniVoice"}
            for one in languages()
        ]
        categories = [{"name": name, "options": list(options)} for name, options in CATEGORIES.items()]
        design = {"native": self.script.native_design, "categories": categories}
        return self.refused(request) or JSONResponse({"languages": listed, "design": design})

    async def design(self, request: Request) -> Response:
        body = await request.json()
        try:
            instruct = parse_design(body["instruct"], body["language"]).instruct
        except BadRequest as error:
            return refusal(400, error.message, error.code)
        if self.script.native_design:
            return JSONResponse({"instruct": instruct, "native": True, "voice": None, "why": "Designed."})
        nearest = {"id": "bf_emma", "language": "en-GB", "gender": "female"}
        return JSONResponse({"instruct": instruct, "native": False, "voice": nearest, "why": "bf_emma comes nearest."})

    async def token(self, request: Request) -> Response:
        if not self.script.tokens:
            return JSONResponse({"detail": "Not Found"}, 404)
        return self.refused(request) or JSONResponse({"token": token_of(self.script.key), "expires_in": 60})

    async def numbers(self, request: Request) -> Response:
        self.numbers_asked += 1
        if self.script.numbers is None:
            return JSONResponse({"detail": "Not Found"}, 404)
        return StreamingResponse(self.numbers_told(self.script.numbers, id(request)), media_type="text/event-stream")

    async def numbers_told(self, numbers: list[dict[str, Any]], listener: int) -> AsyncIterator[bytes]:
        self.listening.add(listener)
        try:
            while True:
                if numbers:
                    yield f"event: stats\ndata: {json.dumps(numbers.pop(0))}\n\n".encode()
                await asyncio.sleep(0.05)
        finally:
            self.listening.discard(listener)

    async def talk(self, socket: WebSocket) -> None:
        await Talk(self, socket).run()

    async def explain(self, request: Request) -> Response:
        text = (await request.json())["input"]
        at = text.find("$5")
        parts = [{"start": 0, "end": at, "source": text[:at], "words": text[:at], "rule": "plain"}] if at else []
        parts.append({"start": at, "end": at + 2, "source": "$5", "words": "five dollars", "rule": "currency"})
        return self.refused(request) or JSONResponse(
            {"segments": [{"text": text, "start": 0, "end": len(text), "parts": parts}]}
        )

    async def speech(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(body)
        script = self.script
        if script.refusal:
            status, content, headers = script.refusal
            return JSONResponse(content, status, headers)
        if refused := self.refused(request):
            return refused
        if body.get("stream_format") != "sse":
            return Response(wav(tone(500)), media_type="audio/wav")
        return StreamingResponse(self.deltas(body["input"]), media_type="text/event-stream")

    async def deltas(self, text: str) -> AsyncIterator[bytes]:
        script = self.script
        finished = False
        try:
            await asyncio.sleep(script.first_delay_s)
            for index, word in enumerate(words_of(text, script.word_ms) * script.repeat):
                if index == script.error_after:
                    error = {
                        "message": "The engine lost its voice.",
                        "type": "server_error",
                        "code": "predictor_failed",
                    }
                    yield event({"type": "speech.audio.error", "error": error})
                    return
                if index == script.break_after:
                    return
                audio = base64.b64encode(tone(script.word_ms)).decode()
                yield event({"type": "speech.audio.delta", "audio": audio, "words": [word]})
                self.deltas_sent += 1
                await asyncio.sleep(script.gap_s(index))
            yield event({"type": "speech.audio.done", "usage": {"total_tokens": 1}})
            finished = True
        finally:
            self.left += not finished


def refusal(status: int, message: str, code: str) -> JSONResponse:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return JSONResponse({"error": error}, status)


def event(data: dict[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()
