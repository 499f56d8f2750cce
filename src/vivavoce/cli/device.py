"""Sound straight to the machine's device, through the optional `sounddevice` package."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any

from ..errors import PlaybackFailed

__all__ = ["DevicePlayer", "device_problem"]

AHEAD_MS = 2_000


def device_problem() -> str | None:
    """Why `sounddevice` cannot play here, in a few words; None when it can."""
    try:
        import sounddevice

        sounddevice.check_output_settings(channels=1, dtype="int16")
    except ModuleNotFoundError:
        return "not installed (pip install 'vivavoce[play]')"
    except Exception as error:
        # PortAudio's own error class where there is no device, OSError where its library is missing.
        return " ".join(str(error).split()) or type(error).__name__
    return None


class DevicePlayer:
    """Plays through PortAudio's callback; where speech is late there is silence, and nothing is lost."""

    name = "sounddevice"

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._ahead_bytes = rate_hz * 2 * AHEAD_MS // 1000
        self._waiting = bytearray()
        self._lock = threading.Lock()
        self._taken = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._stream: Any = None
        self._ended = False

    async def write(self, pcm: bytes) -> None:
        """Take whole frames of s16le mono; waits while two seconds are waiting."""
        with self._lock:
            self._waiting += pcm
        if self._stream is None:
            self._start()
        await self._until_fewer_than(self._ahead_bytes)

    async def finish(self) -> None:
        """Return once everything has been heard."""
        if self._stream is not None:
            await self._until_fewer_than(1)
            await asyncio.to_thread(self._stream.stop)

    def silence(self) -> None:
        """Drop what the device has not played yet."""
        if self._stream is not None:
            with contextlib.suppress(Exception):
                self._stream.abort()

    async def close(self) -> None:
        """Be silent, and give the device back."""
        self.silence()
        if self._stream is not None:
            with contextlib.suppress(Exception):
                self._stream.close()
            self._stream = None

    def _start(self) -> None:
        try:
            import sounddevice

            self._stream = sounddevice.RawOutputStream(
                samplerate=self._rate_hz,
                channels=1,
                dtype="int16",
                callback=self._fill,
                finished_callback=self._end,
            )
            self._stream.start()
        except Exception as error:
            raise PlaybackFailed(f"sounddevice: {' '.join(str(error).split())}") from None

    async def _until_fewer_than(self, limit_bytes: int) -> None:
        while len(self._waiting) >= limit_bytes:
            if self._ended:
                raise PlaybackFailed("sounddevice: the device is gone")
            self._taken.clear()
            await self._taken.wait()

    def _fill(self, out: Any, frames: int, _time: Any, _status: Any) -> None:
        """PortAudio asks for `frames` frames; runs in its thread."""
        with self._lock:
            piece = bytes(self._waiting[: frames * 2])
            del self._waiting[: frames * 2]
        out[: len(piece)] = piece
        out[len(piece) :] = bytes(frames * 2 - len(piece))
        self._wake()

    def _end(self) -> None:
        """PortAudio has stopped calling, asked to or not; runs in its thread."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            self._loop.call_soon_threadsafe(self._taken.set)
