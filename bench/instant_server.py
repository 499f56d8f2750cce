"""A speech server that answers at once: KServe V2 and /v1/audio/speech, in a process of its own, with no model.

Arguments: the port, how many milliseconds of tone an answer has, and how many milliseconds apart its pieces come
(0: all at once). When a client hangs up in mid-answer, the moment (`time.monotonic`) is kept; GET /hangups tells them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import uvloop

from server import free_port

__all__ = ["instant_server"]

RATE_HZ = 24_000
PIECE_MS = 100
# Whoever tries whether it speaks is not kept waiting.
TRIAL_CHARACTERS = 40
PLENTY = "X-Slots: 100000\r\nX-Streams: 100000\r\n"


@contextlib.contextmanager
def instant_server(audio_ms: int, pace_ms: int = 0) -> Iterator[int]:
    """Such a server for the length of a `with` block; gives its port."""
    port = free_port()
    command = [sys.executable, str(Path(__file__).resolve()), str(port), str(audio_ms), str(pace_ms)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        if process.stdout is None or not process.stdout.readline():
            raise RuntimeError("the instant server did not start")
        yield port
    finally:
        process.terminate()
        process.wait(10)


class Instant(asyncio.Protocol):
    """One connection, one request after the other."""

    def __init__(self, pcm: bytes, pace_ms: int, hangups: list[float]) -> None:
        self._pcm = pcm
        self._pace_ms = pace_ms
        self._hangups = hangups
        self._buffer = bytearray()
        self._speaking: asyncio.Task[None] | None = None
        outputs = [
            {
                "name": "audio",
                "datatype": "INT16",
                "shape": [1, len(pcm) // 2],
                "parameters": {"binary_data_size": len(pcm)},
            }
        ]
        head = json.dumps({"model_name": "tts", "parameters": {"sample_rate": RATE_HZ}, "outputs": outputs}).encode()
        self._infer = _reply(
            head + pcm, "application/octet-stream", f"Inference-Header-Content-Length: {len(head)}\r\n"
        )
        self._whole = _reply(pcm, "audio/pcm")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]

    def connection_lost(self, error: Exception | None) -> None:
        if self._speaking is not None and not self._speaking.done():
            self._hangups.append(time.monotonic())
            self._speaking.cancel()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._buffer[:end]).decode("latin-1")
            length = next(
                (int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")),
                0,
            )
            if len(self._buffer) < end + 4 + length:
                return
            body = bytes(self._buffer[end + 4 : end + 4 + length])
            del self._buffer[: end + 4 + length]
            self._answer(*head.split(" ", 2)[:2], body)

    def _answer(self, method: str, target: str, body: bytes) -> None:
        path = target.partition("?")[0]
        if method == "POST" and path.endswith("/infer"):
            self._transport.write(self._infer)
        elif method == "POST" and path.endswith("/audio/speech"):
            if self._pace_ms and len(json.loads(body)["input"]) > TRIAL_CHARACTERS:
                self._speaking = asyncio.get_running_loop().create_task(self._speak())
            else:
                self._transport.write(self._whole)
        else:
            self._transport.write(_reply(json.dumps(self._about(path)).encode(), "application/json"))

    async def _speak(self) -> None:
        """The answer while it is made."""
        self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nTransfer-Encoding: chunked\r\n\r\n")
        step = RATE_HZ * PIECE_MS // 1000 * 2
        for at in range(0, len(self._pcm), step):
            piece = self._pcm[at : at + step]
            self._transport.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await asyncio.sleep(self._pace_ms / 1000)
        self._transport.write(b"0\r\n\r\n")

    def _about(self, path: str) -> object:
        if path == "/hangups":
            return self._hangups
        if path.startswith("/v2/health"):
            return {"live": True, "ready": True}
        if path == "/v2":
            return {"name": "instant", "version": "1", "extensions": ["binary_tensor_data"]}
        if path.startswith("/v2/models"):
            return {"name": "tts", "platform": "none", "versions": ["1"], "inputs": [], "outputs": []}
        if path.endswith("/models"):
            return {"object": "list", "data": [{"id": "tts", "object": "model"}]}
        return {"voices": ["tone"]}


def _reply(body: bytes, kind: str, more: str = "") -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{PLENTY}{more}\r\n"
    return head.encode() + body


async def _main(port: int, audio_ms: int, pace_ms: int) -> None:
    moments = np.arange(RATE_HZ * audio_ms // 1000) / RATE_HZ
    pcm = (8_000 * np.sin(2 * np.pi * 220 * moments)).astype("<i2").tobytes()
    hangups: list[float] = []
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Instant(pcm, pace_ms, hangups), "127.0.0.1", port, backlog=1_024)
    print("listening", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_main(*map(int, sys.argv[1:])))
