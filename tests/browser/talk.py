"""One scripted WebSocket: `vivavoce.v1` as a test wants it to go."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import re
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.websockets import WebSocket, WebSocketDisconnect

if TYPE_CHECKING:
    from .studio import Studio

RATE_HZ = 24_000
GENERATIONS = itertools.count(1)


@dataclass
class Speech:
    """One utterance: text comes in pieces, None after the last."""

    request_id: str
    at: int
    pieces: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    generation: int = field(default_factory=lambda: next(GENERATIONS))
    frames: int = 0
    played_ms: float = 0.0
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


def token_of(key: str | None) -> str:
    """What the scripted server gives for a key."""
    return f"of.{len(key or '')}"


class Talk:
    """Speaks on one connection until it is left."""

    def __init__(self, studio: Studio, socket: WebSocket) -> None:
        self.studio, self.socket, self.script = studio, socket, studio.script
        self.speeches: dict[str, Speech] = {}

    async def run(self) -> None:
        """Serve the connection to its end."""
        if not self.script.sockets:
            await self.socket.close()
            return
        self.studio.connections += 1
        await self.socket.accept("vivavoce.v1")
        if self.script.key and not self._known():
            await self.socket.send_json({"type": "error", "code": "invalid_api_key", "message": "Not one of ours."})
            await self.socket.close(4401)
            return
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                self._receive(await self.socket.receive_json())
        for speech in self.speeches.values():
            assert speech.task
            speech.task.cancel()

    def _known(self) -> bool:
        offered = self.socket.scope["subprotocols"]
        self.studio.headers.append({"subprotocols": ",".join(offered)})
        return f"vivavoce.token.{token_of(self.script.key)}" in offered or self._key() in offered

    def _key(self) -> str:
        return "vivavoce.key." + base64.urlsafe_b64encode(str(self.script.key).encode()).decode().rstrip("=")

    def _receive(self, message: dict[str, Any]) -> None:
        self.studio.said.append(message)
        match message["type"]:
            case "synthesize" | "resume":
                self._begin(message)
            case "text":
                self.speeches[message["request_id"]].pieces.put_nowait(message["text"])
            case "end":
                self.speeches[message["request_id"]].pieces.put_nowait(None)
            case "played":
                speech = self.speeches[message["request_id"]]
                speech.played_ms = message["ms"]
                speech.moved.set()
            case "cancel":
                task = self.speeches[message["request_id"]].task
                assert task
                task.cancel()

    def _begin(self, message: dict[str, Any]) -> None:
        self.studio.requests.append({**message, "input": message["text"], "door": "socket"})
        speech = Speech(message["request_id"], message.get("offset", 0))
        self.speeches[speech.request_id] = speech
        if message["text"]:
            speech.pieces.put_nowait(message["text"])
        if not message["stream"]:
            speech.pieces.put_nowait(None)
        forged = message["type"] == "resume" and self.script.forgets_tokens
        speech.task = asyncio.get_running_loop().create_task(self._forged(speech) if forged else self._speak(speech))

    async def _forged(self, speech: Speech) -> None:
        await self._tell(speech, "error", code="bad_token", message="The token is not ours.", retryable=False)

    async def _speak(self, speech: Speech) -> None:
        finished = False
        try:
            await self._tell(speech, "accepted")
            for place in self.script.places:
                await self._tell(speech, "queued", position=place, expected_ms=1000.0 * place, budget_ms=9000.0)
                await asyncio.sleep(0.15)
            if self.script.drops_in_queue:
                self.script.drops_in_queue -= 1
                await self.socket.close(1013)
                return
            if self.script.busy:
                await self._tell(speech, "busy", **self.script.busy)
                await self._end(speech, "shed")
                return
            await asyncio.sleep(self.script.first_delay_s)
            await self._start(speech)
            index = 0
            while (piece := await speech.pieces.get()) is not None:
                for sentence in re.findall(r".*?[.!?]+(?:\s+|$)|.+$", piece, re.S):
                    await self._segment(speech, index, sentence)
                    index += 1
            await self._end(speech, "ok")
            finished = True
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):
                for _ in range(self.script.stale_frames):
                    await self._frame(speech, 400)
                await self._end(speech, "cancelled")
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            self.studio.left += not finished

    async def _start(self, speech: Speech) -> None:
        form = {"sample_rate": RATE_HZ, "channels": 1, "format": "pcm"}
        token = f"token-{speech.generation}"
        await self._tell(speech, "start", generation=speech.generation, resume_token=token, **form)

    async def _segment(self, speech: Speech, index: int, text: str) -> None:
        from .studio import words_of

        script = self.script
        words = words_of(text, script.word_ms) * script.repeat
        begun_ms = speech.frames * 1000 / RATE_HZ
        span = {"start": speech.at, "end": speech.at + len(text)}
        await self._tell(speech, "segment", index=index, text=text, spoken=text, **span)
        for number, word in enumerate(words):
            if number == script.error_after:
                message = "The engine lost its voice."
                await self._tell(speech, "error", code="predictor_failed", message=message, retryable=False)
                await self._end(speech, "error")
                raise asyncio.CancelledError
            placed = word | {name: word[name] + speech.at for name in ("start", "end")}
            placed |= {name: word[name] + begun_ms for name in ("start_ms", "end_ms")}
            await self._tell(speech, "words", words=[placed])
            await self._frame(speech, script.word_ms)
            self.studio.deltas_sent += 1
            await self._maybe_leave(speech, number)
            await asyncio.sleep(script.gap_s(number))
            await self._wait_for_listener(speech)
        speech.at += len(text)
        audio_ms = len(words) * script.word_ms
        took = {"audio_ms": audio_ms, "synthesis_ms": audio_ms / 50, "rtf": 0.02, "waited_ms": 3.0}
        await self._tell(speech, "segment_end", index=index, **took, **script.origin)

    async def _wait_for_listener(self, speech: Speech) -> None:
        while speech.frames * 1000 / RATE_HZ - speech.played_ms > self.script.lead_ms:
            speech.moved.clear()
            await speech.moved.wait()

    async def _maybe_leave(self, speech: Speech, number: int) -> None:
        if self.script.drops and number == self.script.drops[0]:
            self.script.drops.pop(0)
            await self._frame(speech, self.script.word_ms / 2)
            await self.socket.close(1012)
        if number == self.script.goes_after:
            self.script.goes_after = None
            resume = [{"request_id": speech.request_id, "token": "token-of-farewell"}]
            await self.socket.send_json({"type": "going_away", "retry_after_ms": 100, "resume": resume})
            raise asyncio.CancelledError

    async def _end(self, speech: Speech, outcome: str) -> None:
        times = {"received": 0, "admitted": 2, "first_segment": 4, "slot": 9, "first_audio": 31, "ended": 900}
        made = {"audio_ms": speech.frames * 1000 / RATE_HZ, "rtf": 0.02, "underruns": 0, "retries": 0}
        await self._tell(speech, "done", outcome=outcome, ttfa_ms=31.0, timeline=times, **made)

    async def _tell(self, speech: Speech, kind: str, **fields: Any) -> None:
        await self.socket.send_json({"type": kind, "request_id": speech.request_id, **fields})

    async def _frame(self, speech: Speech, duration_ms: float) -> None:
        from .studio import tone

        pcm = tone(duration_ms)
        await self.socket.send_bytes(struct.pack("<IIQ", speech.generation, 0, speech.frames) + pcm)
        speech.frames += len(pcm) // 2
