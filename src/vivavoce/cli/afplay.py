"""Sound on a Mac without the `sounddevice` package: afplay reads files only, so speech is handed to it in pieces."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import wave
from asyncio.subprocess import DEVNULL, Process

from ..errors import PlaybackFailed

__all__ = ["AFPLAY", "PiecePlayer"]

AFPLAY = "afplay"
AHEAD_MS = 10_000


class PiecePlayer:
    """Plays what has arrived while the next piece is being made: one file after another, each removed when heard."""

    name = AFPLAY

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._ahead_bytes = rate_hz * 2 * AHEAD_MS // 1000
        self._waiting = bytearray()
        self._changed = asyncio.Condition()
        self._complete = False
        self._work: asyncio.Task[None] | None = None
        self._process: Process | None = None

    async def write(self, pcm: bytes) -> None:
        """Take whole frames of s16le mono; waits while ten seconds are waiting."""
        async with self._changed:
            self._waiting += pcm
            self._changed.notify_all()
            if self._work is None:
                self._work = asyncio.create_task(self._run())
            await self._changed.wait_for(lambda: len(self._waiting) < self._ahead_bytes or self._ended())
        if self._ended():
            await self._work

    async def finish(self) -> None:
        """Return once everything has been heard."""
        async with self._changed:
            self._complete = True
            self._changed.notify_all()
        if self._work is not None:
            await self._work

    def silence(self) -> None:
        """Kill what plays, and play no other piece."""
        if self._work is not None:
            self._work.cancel()
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        """Be silent, and remove the file that was played."""
        self.silence()
        if self._work is not None:
            with contextlib.suppress(asyncio.CancelledError, PlaybackFailed):
                await self._work

    def _ended(self) -> bool:
        return self._work is not None and self._work.done()

    async def _run(self) -> None:
        try:
            while piece := await self._take():
                await self._play(piece)
        finally:
            async with self._changed:
                self._waiting.clear()
                self._changed.notify_all()

    async def _take(self) -> bytes:
        async with self._changed:
            await self._changed.wait_for(lambda: self._waiting or self._complete)
            piece = bytes(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
            return piece

    async def _play(self, piece: bytes) -> None:
        handle, path = tempfile.mkstemp(suffix=".wav", prefix="vivavoce-")
        try:
            with os.fdopen(handle, "wb") as file, wave.open(file) as out:
                out.setparams((1, 2, self._rate_hz, 0, "NONE", ""))
                out.writeframes(piece)
            self._process = await asyncio.create_subprocess_exec(
                AFPLAY, path, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
            )
            try:
                if code := await self._process.wait():
                    raise PlaybackFailed(f"{AFPLAY}: ended with code {code}")
            finally:
                if self._process.returncode is None:
                    with contextlib.suppress(ProcessLookupError):
                        self._process.kill()
                    await self._process.wait()
        finally:
            os.unlink(path)
