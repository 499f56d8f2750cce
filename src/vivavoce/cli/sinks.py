"""Where speech goes: the speakers, a file, or an open descriptor such as standard output."""

from __future__ import annotations

import contextlib
import os
import stat
import wave
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self

from ..audio import Encoder, Samples, encoder_for, to_pcm16
from .pipes import write_all
from .speakers import Speakers

__all__ = ["DescriptorSink", "FileSink", "Sink", "SpeakerSink", "sink_for"]


class Sink(Protocol):
    """Takes sound; used as an asynchronous context that completes it, or on an error leaves nothing half done."""

    async def __aenter__(self) -> Self:
        """Open it. Raises OSError where it cannot be written."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Complete it, or give it up."""
        ...

    async def write(self, samples: Samples) -> None:
        """Take mono float32 samples after those before."""
        ...


def sink_for(output: str | None, audio_format: str, rate_hz: int) -> Sink:
    """The sink for `-o`: None plays, `-` is standard output, anything else a path."""
    if output is None:
        return SpeakerSink(rate_hz)
    if output == "-":
        return DescriptorSink(1, audio_format, rate_hz)
    path = Path(os.path.realpath(output))
    if path.exists() and not path.is_file() and not path.is_dir():
        return DescriptorSink(path, audio_format, rate_hz)
    return FileSink(path, audio_format, rate_hz)


class SpeakerSink:
    """The speakers of this machine."""

    def __init__(self, rate_hz: int) -> None:
        self._speakers = Speakers(rate_hz)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._speakers.__aexit__(kind, error, trace)

    async def write(self, samples: Samples) -> None:
        """Play the samples after those before."""
        if len(samples):
            await self._speakers.write(to_pcm16(samples))


class DescriptorSink:
    """A pipe, a terminal's redirection or a device: bytes leave as they are made, lengths are told as unknown."""

    def __init__(self, target: int | Path, audio_format: str, rate_hz: int) -> None:
        self._target = target
        self._encoder: Encoder = encoder_for(audio_format, rate_hz, streamed=True)
        self._fd = -1

    async def __aenter__(self) -> Self:
        self._fd = self._target if isinstance(self._target, int) else os.open(self._target, os.O_WRONLY)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                await write_all(self._fd, self._encoder.finish())
        finally:
            self._encoder.close()
            if not isinstance(self._target, int):
                os.close(self._fd)

    async def write(self, samples: Samples) -> None:
        """Encode the samples and let them go."""
        await write_all(self._fd, self._encoder.encode(samples))


class FileSink:
    """A file that appears whole or not at all: written beside its place, and moved there when it is complete.

    A WAV is written as it is made and gets its exact lengths at the end, so that a long text needs no memory.
    """

    def __init__(self, path: Path, audio_format: str, rate_hz: int) -> None:
        self._path = path
        self._part = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._rate_hz = rate_hz
        self._encoder: Encoder | None = None
        if audio_format != "wav":
            self._encoder = encoder_for(audio_format, rate_hz, streamed=False)
        self._file: IO[bytes] | None = None
        self._wave: wave.Wave_write | None = None

    async def __aenter__(self) -> Self:
        if self._path.is_dir():
            raise IsADirectoryError(21, "is a directory", str(self._path))
        try:
            self._file = open(self._part, "xb")  # noqa: SIM115, ASYNC230 - closed on exit; opening is not slow work
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(self._path)) from None
        if self._encoder is None:
            self._wave = wave.open(self._file, "wb")  # noqa: SIM115 - closed by _complete or _release
            self._wave.setparams((1, 2, self._rate_hz, 0, "NONE", ""))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._complete()
        finally:
            if self._file is not None:
                with contextlib.suppress(OSError, ValueError):
                    self._file.close()
            self._part.unlink(missing_ok=True)

    async def write(self, samples: Samples) -> None:
        """Write the samples after those before. Raises OSError when the disk is full."""
        if self._wave is not None:
            self._wave.writeframesraw(to_pcm16(samples))
        elif self._encoder is not None and self._file is not None:
            self._file.write(self._encoder.encode(samples))

    def _complete(self) -> None:
        if self._file is None:
            return
        if self._wave is not None:
            self._wave.close()
        elif self._encoder is not None:
            self._file.write(self._encoder.finish())
        self._file.close()
        with contextlib.suppress(OSError):
            os.chmod(self._part, stat.S_IMODE(self._path.stat().st_mode))
        os.replace(self._part, self._path)
