"""A client that adds next to nothing: one kept-alive connection, raw bytes, the arrival time of each piece."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from vivavoce.audio import Playback

__all__ = ["Answer", "Connection", "leading_silence_ms"]

READ_BYTES = 65_536


@dataclass(slots=True)
class Answer:
    """A response with, for each piece of its body, when it came (ms after the request was written)."""

    status: int
    headers: dict[str, str]
    arrivals_ms: list[float] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)
    ended_ms: float = 0.0

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(self.pieces)

    def first_ms(self, after_bytes: int = 0) -> float:
        """When the first byte beyond `after_bytes` (a container's header) was there."""
        received = 0
        for arrival_ms, piece in zip(self.arrivals_ms, self.pieces, strict=True):
            received += len(piece)
            if received > after_bytes:
                return arrival_ms
        raise ValueError(f"status {self.status}, no audio in it: {self.body[:300]!r}")

    def audio_ms(self, rate_hz: int, header_bytes: int = 0) -> float:
        """How long the body sounds, as mono s16le."""
        return (sum(map(len, self.pieces)) - header_bytes) / 2 / rate_hz * 1000

    def underruns(self, rate_hz: int) -> int:
        """How often a listener who starts with the first piece, at its arrival, runs dry before the end."""
        arrivals = (
            (arrival_ms, len(piece) / 2 / rate_hz * 1000)
            for arrival_ms, piece in zip(self.arrivals_ms, self.pieces, strict=True)
        )
        return Playback.replay(arrivals, rate_hz).count


class Connection:
    """One HTTP/1.1 connection, used for one request after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        self._reader = reader
        self._writer = writer
        self._host = host

    @classmethod
    async def open(cls, port: int) -> Self:
        """Connect to a port of this machine."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        return cls(reader, writer, f"127.0.0.1:{port}")

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()
        await self._writer.wait_closed()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def speak(self, path: str = "/v1/audio/speech", **body: Any) -> Answer:
        """POST a JSON body and read the answer to its end."""
        request = self.request(path, **body)
        started = time.perf_counter()
        self._writer.write(request)
        answer = await self._head()
        length = answer.headers.get("content-length")
        if length is None and answer.headers.get("transfer-encoding") != "chunked":
            await self._read(answer, started, None)
        elif length is not None:
            await self._read(answer, started, int(length))
        else:
            while size := int(await self._reader.readline(), 16):
                await self._read(answer, started, size)
                await self._reader.readexactly(2)
            await self._reader.readexactly(2)
        answer.ended_ms = (time.perf_counter() - started) * 1000
        return answer

    def request(self, path: str = "/v1/audio/speech", **body: Any) -> bytes:
        """The bytes of a POST with that JSON body."""
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content

    async def _head(self) -> Answer:
        status, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = (line.partition(":") for line in lines if line)
        return Answer(int(status.split()[1]), {name.lower(): value.strip() for name, _, value in headers})

    async def _read(self, answer: Answer, started: float, left: int | None) -> None:
        while left is None or left > 0:
            piece = await self._reader.read(READ_BYTES if left is None else min(left, READ_BYTES))
            if not piece:
                if left is None:
                    return
                raise ConnectionError("the server hung up in the middle of an answer")
            answer.arrivals_ms.append((time.perf_counter() - started) * 1000)
            answer.pieces.append(piece)
            left = None if left is None else left - len(piece)


def leading_silence_ms(pcm: bytes, rate_hz: int, threshold: float = 0.01) -> float:
    """How long s16le audio stays below `threshold` of full scale before it first sounds."""
    samples: npt.NDArray[np.int16] = np.frombuffer(pcm[: len(pcm) // 2 * 2], "<i2")
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > threshold * 32768)
    return float(loud[0] if len(loud) else len(samples)) / rate_hz * 1000
