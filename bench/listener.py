"""One listener of a load: asks for utterance after utterance, and hears each to its end in real time."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ws_socket import Socket

__all__ = ["Heard", "Listener"]

RATE_HZ = 24_000
HEADER_BYTES = 16


@dataclass(slots=True, eq=False)
class Heard:
    """What became of one utterance; moments in seconds of `time.monotonic`, 0.0 where there was none.

    `dry_s` are the moments at which the listener had nothing to play, `dry_for_s` how long that lasted in all.
    """

    asked_s: float
    queued: bool = False
    started_s: float = 0.0
    first_s: float = 0.0
    refused_s: float = 0.0
    reason: str = ""
    outcome: str = ""
    audio_s: float = 0.0
    recent_audio_s: float = 0.0
    plays_until_s: float = 0.0
    dry_s: list[float] = field(default_factory=list)
    dry_for_s: float = 0.0


class Listener:
    """A connection of its own, kept. `note` gets every utterance when it begins."""

    def __init__(self, name: int, port: int, texts: Iterator[str], note: Callable[[Heard], None]) -> None:
        self._name = name
        self._port = port
        self._texts = texts
        self._note = note
        self._chance = random.Random(name)
        self._done = asyncio.Event()
        self._heard = Heard(0.0)
        self._retry_after_s = 0.0
        self.errors: list[str] = []

    async def run(self) -> None:
        """Listen until cancelled. Whoever was refused comes back when told to."""
        socket = await self._open()
        try:
            while True:
                heard = await self.speak(socket)
                if heard.reason:
                    await asyncio.sleep(self._retry_after_s * (0.75 + self._chance.random() / 2))
                elif heard.outcome != "ok":
                    self.errors.append(heard.outcome)
                    socket.close()
                    socket = await self._open()
                    await asyncio.sleep(0.5)
                else:
                    await asyncio.sleep(max(0.0, heard.plays_until_s - time.monotonic()))
        finally:
            socket.close()

    async def speak(self, socket: Socket) -> Heard:
        """One utterance, until the server has said its last of it."""
        self._done.clear()
        text = next(self._texts)
        ask = {"type": "synthesize", "text": text, "framing": "header", "sample_rate": RATE_HZ}
        heard = self._heard = Heard(time.monotonic())
        socket.send(json.dumps(ask))
        self._note(heard)
        await self._done.wait()
        return heard

    async def _open(self) -> Socket:
        socket = await Socket.open(self._port)
        socket.on_text, socket.on_sound, socket.on_close = self._text, self._sound, self._closed
        return socket

    def _sound(self, frame: memoryview) -> None:
        now_s = time.monotonic()
        heard = self._heard
        length_s = (len(frame) - HEADER_BYTES) / 2 / RATE_HZ
        if not heard.first_s:
            heard.first_s = heard.plays_until_s = now_s
        elif now_s > heard.plays_until_s:
            heard.dry_s.append(heard.plays_until_s)
            heard.dry_for_s += now_s - heard.plays_until_s
            heard.plays_until_s = now_s
        heard.plays_until_s += length_s
        heard.audio_s += length_s
        heard.recent_audio_s += length_s

    def _text(self, data: bytes) -> None:
        kind = data[9 : data.find(b'"', 9)]
        if kind == b"start":
            self._heard.started_s = time.monotonic()
        elif kind == b"queued":
            self._heard.queued = True
        elif kind == b"busy":
            self._heard.refused_s = time.monotonic()
            said: dict[str, Any] = json.loads(data)
            self._heard.reason, self._retry_after_s = said["reason"], said["retry_after_ms"] / 1000
        elif kind == b"error":
            self.errors.append(data.decode())
        elif kind == b"done":
            self._heard.outcome = json.loads(data)["outcome"]
            self._done.set()

    def _closed(self, code: int) -> None:
        if not self._done.is_set():
            self._heard.outcome = f"closed {code}"
            self._done.set()
