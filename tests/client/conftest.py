"""A server of scripted legs behind a real WebSocket, and speech that tells by its samples which word it says."""

from __future__ import annotations

import contextlib
import json
import re
import struct
from array import array
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from vivavoce.client import Patience

RATE_HZ = 8_000
WORD_MS, GAP_MS = 40, 10
QUICK = Patience(connect_s=2, quiet_s=0.3, silent_s=0.3, first_wait_s=0.01, longest_wait_s=0.05, tries=6, give_up_s=10)


def spans(text: str) -> list[tuple[int, int]]:
    """Where the words of a text lie."""
    return [match.span() for match in re.finditer(r"\w[\w'-]*", text)]


def pcm_of(word: str) -> bytes:
    """The sound of a word: its own sample, over and over."""
    sample = 1 + sum(ord(letter) * (7 + at) for at, letter in enumerate(word)) % 30_000
    return struct.pack("<h", sample) * (WORD_MS * RATE_HZ // 1000)


SILENCE = bytes(2 * GAP_MS * RATE_HZ // 1000)


def whole_sound(text: str) -> bytes:
    """What a text sounds like when nothing goes wrong."""
    return b"".join(pcm_of(text[start:end]) + SILENCE for start, end in spans(text))


def voiced(pcm: bytes) -> bytes:
    """The sound without its pauses."""
    return array("h", (sample for sample in array("h", pcm) if sample)).tobytes()


def leg_of(text: str, offset: int, *, frame_bytes: int = 700, late_words: bool = False) -> list[Any]:
    """What a server says for a text that begins at `offset`: messages as dicts, sound as bytes."""
    said: list[Any] = []
    at_bytes = 0
    pieces = list(re.finditer(r"[^.!?]+[.!?]*\s*", text))
    for index, piece in enumerate(pieces):
        start, end = piece.span()
        said.append(
            {
                "type": "segment",
                "index": index,
                "start": start + offset,
                "end": end + offset,
                "text": piece[0],
                "spoken": "",
            }
        )
        begun = at_bytes
        words, sound = [], b""
        for word_start, word_end in spans(piece[0]):
            start_ms = (at_bytes + len(sound)) / 2 / RATE_HZ * 1000
            words.append(
                {
                    "word": piece[0][word_start:word_end],
                    "start": start + word_start + offset,
                    "end": start + word_end + offset,
                    "start_ms": start_ms,
                    "end_ms": start_ms + WORD_MS,
                    "exact": True,
                }
            )
            sound += pcm_of(piece[0][word_start:word_end]) + SILENCE
        for frame_at in range(0, len(sound), frame_bytes):
            until_ms = (at_bytes + frame_at + frame_bytes) / 2 / RATE_HZ * 1000
            key = "end_ms" if late_words else "start_ms"
            ready = [word for word in words if word[key] < until_ms]
            words = words[len(ready) :]
            if ready:
                said.append({"type": "words", "words": ready})
            said.append(sound[frame_at : frame_at + frame_bytes])
        if words:
            said.append({"type": "words", "words": words})
        at_bytes = begun + len(sound)
        audio_ms = len(sound) / 2 / RATE_HZ * 1000
        said.append({"type": "segment_end", "index": index, "audio_ms": audio_ms, "synthesis_ms": 1.0, "rtf": 0.01})
    return said


@dataclass
class Cut:
    """How a leg breaks: before the frame of that index, in that way."""

    at: int
    how: str = "abort"


@dataclass
class ScriptedServer:
    """Speaks as `leg_of`, and breaks each leg as `cuts` says, one after the other; then no more."""

    cuts: list[Cut] = field(default_factory=list)
    opened: list[dict[str, Any]] = field(default_factory=list)
    heard: list[dict[str, Any]] = field(default_factory=list)
    connections: int = 0
    frame_bytes: int = 700
    url: str = ""
    on_connect: Callable[[ServerConnection], Any] | None = None
    tokens: bool = True
    texts: dict[str, str] = field(default_factory=dict)

    async def serve(self, socket: ServerConnection) -> None:
        self.connections += 1
        if self.on_connect is not None and await self.on_connect(socket):
            return
        with contextlib.suppress(Exception):
            async for raw in socket:
                message = json.loads(raw)
                self.heard.append(message)
                if message["type"] == "ping":
                    await socket.send(json.dumps({"type": "pong"}))
                if message["type"] in ("synthesize", "resume"):
                    self.opened.append(message)
                    await self.speak(socket, message)

    async def speak(self, socket: ServerConnection, opening: dict[str, Any]) -> None:
        name = opening["request_id"]
        cut = self.cuts.pop(0) if self.cuts else None
        generation = len(self.opened)

        async def tell(kind: str, **fields: Any) -> None:
            await socket.send(json.dumps({"type": kind, "request_id": name, **fields}))

        async def broken(frame: int) -> bool:
            return cut is not None and cut.at == frame and await self.cut(socket, cut, tell, name)

        if await broken(-2):
            return
        await tell("accepted")
        if await broken(-1):
            return
        await tell(
            "start",
            generation=generation,
            sample_rate=opening.get("sample_rate", RATE_HZ),
            resume_token=f"t{generation}",
        )
        text = opening["text"]
        while opening["stream"]:
            more = json.loads(await socket.recv())
            self.heard.append(more)
            if more["type"] == "end":
                break
            text += more.get("text", "")
        sent = 0
        for index, said in enumerate(leg_of(text, opening.get("offset", 0), frame_bytes=self.frame_bytes)):
            if await broken(index):
                return
            if isinstance(said, bytes):
                await socket.send(struct.pack("<IIQ", generation, 0, sent // 2) + said)
                sent += len(said)
            else:
                await tell(said["type"], **{key: value for key, value in said.items() if key != "type"})
        if await broken(10_000):
            return
        await tell("done", outcome="ok", bytes=sent, ttfa_ms=5.0, underruns=0, retries=0, timeline={"received": 0.0})

    async def cut(self, socket: ServerConnection, cut: Cut, tell: Any, name: str) -> bool:
        if cut.how == "abort":
            socket.transport.abort()
        elif cut.how == "close 1000":
            await socket.close(1000)
        elif cut.how == "close 1011":
            await socket.close(1011)
        elif cut.how == "going_away":
            resume = [{"request_id": name, "token": "farewell"}]
            await socket.send(json.dumps({"type": "going_away", "retry_after_ms": 10, "resume": resume}))
            await socket.close(1012)
        elif cut.how == "silence":
            await socket.wait_closed()
        elif cut.how == "predictor":
            await tell("error", code="predictor_failed", message="it died", retryable=True)
            await tell("done", outcome="error", bytes=0)
        elif cut.how.startswith("error "):
            await tell("error", code=cut.how[6:], message="no", retryable=False)
            if cut.at >= -1:
                await tell("done", outcome="error", bytes=0)
        elif cut.how == "busy":
            await tell("busy", reason="queue_full", retry_after_ms=30, queue_depth=3)
            await tell("done", outcome="shed", bytes=0)
        return True


@pytest.fixture
async def scripted() -> AsyncIterator[Callable[..., Any]]:
    """`await scripted(…)` starts a ScriptedServer."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(**fields: Any) -> ScriptedServer:
            server = ScriptedServer(**fields)
            listener = await stack.enter_async_context(
                serve(server.serve, "127.0.0.1", 0, subprotocols=["vivavoce.v1"], close_timeout=0.2)
            )
            server.url = f"ws://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
            return server

        yield start


@pytest.fixture(scope="session")
def tools() -> SimpleNamespace:
    """The helpers above, as attributes: test folders are no packages."""
    return SimpleNamespace(
        RATE_HZ=RATE_HZ,
        QUICK=QUICK,
        Cut=Cut,
        leg_of=leg_of,
        pcm_of=pcm_of,
        spans=spans,
        voiced=voiced,
        whole_sound=whole_sound,
    )
