"""A real Chromium, and a scripted server that serves the page and speaks as a test wants it to."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
import math
import os
import shutil
import socket
import struct
import threading
import wave
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import playwright.sync_api
import pytest
import uvicorn
from playwright.sync_api import Browser, expect, sync_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from vivavoce.api.page import Page

RATE_HZ = 24_000
CHROMIUM_ARGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP phone.test 127.0.0.1",
)


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
    """How the server speaks: each word is one delta of `word_ms`."""

    word_ms: float = 150
    gap_s: Callable[[int], float] = lambda index: 0.0
    first_delay_s: float = 0.0
    break_after: int | None = None
    error_after: int | None = None
    refusal: tuple[int, dict[str, Any], dict[str, str]] | None = None
    key: str | None = None
    missing: str | None = None
    repeat: int = 1
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

    def app(self) -> ASGIApp:
        routes = [
            Route("/v1/audio/voices", self.voices),
            Route("/v1/audio/speech", self.speech, methods=["POST"]),
            Route("/v1/text/explain", self.explain, methods=["POST"]),
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


@contextlib.contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """Serve an app on a free port of loopback from a thread; gives its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="warning", lifespan="on", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join(timeout=10)


def chromium_path() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium_path()
    if path is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("no Chromium here: install it, or set CHROMIUM to its path")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*CHROMIUM_ARGS])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serving() -> Callable[[ASGIApp], contextlib.AbstractContextManager[str]]:
    """Serves an app of the test's own."""
    return served


@pytest.fixture(scope="session")
def studio_server() -> Iterator[Studio]:
    studio = Studio()
    with served(studio.app()) as url:
        studio.url = url
        yield studio


@pytest.fixture
def studio(studio_server: Studio) -> Studio:
    """The scripted server, with nothing left of the test before."""
    studio_server.script = Script()
    studio_server.requests, studio_server.headers = [], []
    studio_server.deltas_sent = studio_server.left = 0
    return studio_server


LOUDNESS = (Path(__file__).parent / "loudness.js").read_text().strip()
RECORD_LIT = (Path(__file__).parent / "record-lit.js").read_text().strip()


@dataclass
class Stage:
    """An open page, and what a user does with it."""

    page: playwright.sync_api.Page

    def say(self, text: str) -> None:
        self.page.get_by_label("Text to speak").fill(text)
        self.page.get_by_role("button", name="Speak").click()

    def expect_status(self, words: str, timeout_ms: float = 10_000) -> None:
        expect(self.page.get_by_role("status")).to_have_text(words, timeout=timeout_ms)

    def js(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def until(self, expression: str, timeout_ms: int = 10_000) -> None:
        """Playwright's own wait needs eval, which the page's policy forbids."""
        for _ in range(timeout_ms // 20):
            if self.js(expression):
                return
            self.page.wait_for_timeout(20)
        pytest.fail(f"never came true: {expression}")

    def loudness(self) -> float:
        return float(self.js(LOUDNESS))

    def until_loud(self) -> None:
        self.until(f"({LOUDNESS})() > 0.3")

    def until_silent(self) -> None:
        """The player fades out within a few ms, and the analyser hears the last of it a little longer."""
        self.until(f"({LOUDNESS})() === 0", timeout_ms=1_000)

    def record_lit(self) -> None:
        self.js(RECORD_LIT)


@pytest.fixture
def open_stage(browser: Browser) -> Iterator[Callable[..., Stage]]:
    """Opens a page in a profile of its own; fails the test on any error in the page's console."""
    with contextlib.ExitStack() as stack:
        complaints: list[str] = []

        def opened(url: str, expect_errors: bool = False, before: str = "", **options: Any) -> Stage:
            context = browser.new_context(**options)
            stack.callback(context.close)
            context.add_init_script(before)
            page = context.new_page()
            page.set_default_timeout(15_000)
            if not expect_errors:
                page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(url)
            return Stage(page)

        yield opened
        assert complaints == []


@pytest.fixture
def stage(open_stage: Callable[..., Stage], studio: Studio) -> Stage:
    """The page on the scripted server, with its voices there."""
    stage = open_stage(studio.url)
    stage.page.wait_for_selector("#health[data-health=well]")
    return stage
