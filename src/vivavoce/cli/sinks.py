"""Where speech goes: the speakers, a file, or an open descriptor such as standard output."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self

from ..audio import Encoder, Samples, encoder_for, to_pcm16, wav_header
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

    def silence(self) -> None:
        """Be silent at once; the sink is given up next."""
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


@contextlib.contextmanager
def _named(target: Path | str) -> Iterator[None]:
    """Let an error of the system name the target that the user chose."""
    try:
        yield
    except OSError as error:
        error.filename = str(target)
        raise


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

    def silence(self) -> None:
        """Stop the sound."""
        self._speakers.silence()


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
                await self._send(self._encoder.finish())
        finally:
            self._encoder.close()
            if not isinstance(self._target, int):
                os.close(self._fd)

    async def write(self, samples: Samples) -> None:
        """Encode the samples and let them go. Raises BrokenPipeError when the reader is gone."""
        await self._send(self._encoder.encode(samples))

    def silence(self) -> None:
        """Nothing to do: what was written is the reader's."""

    async def _send(self, data: bytes) -> None:
        with _named("standard output" if isinstance(self._target, int) else self._target):
            await write_all(self._fd, data)


class FileSink:
    """A file that appears whole or not at all: written beside its place, and moved there when it is complete.

    A WAV is written as it is made and gets its exact lengths at the end, so that a long text needs no memory.
    """

    def __init__(self, path: Path, audio_format: str, rate_hz: int) -> None:
        self._path = path
        self._part = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._rate_hz = rate_hz
        self._wav = audio_format == "wav"
        self._encoder = encoder_for("pcm" if self._wav else audio_format, rate_hz, streamed=self._wav)
        self._file: IO[bytes] | None = None

    async def __aenter__(self) -> Self:
        if self._path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a directory", str(self._path))
        with _named(self._path):
            self._file = open(self._part, "xb")  # noqa: SIM115, ASYNC230 - closed on exit; opening is not slow work
            if self._wav:
                self._file.write(wav_header(self._rate_hz, None))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self._file is not None:
                with _named(self._path):
                    self._complete(self._file)
        finally:
            self._encoder.close()
            if self._file is not None:
                with contextlib.suppress(OSError):
                    self._file.close()
            self._part.unlink(missing_ok=True)

    async def write(self, samples: Samples) -> None:
        """Write the samples after those before. Raises OSError when the disk is full."""
        if self._file is not None:
            with _named(self._path):
                self._file.write(self._encoder.encode(samples))

    def silence(self) -> None:
        """Nothing to do: a file makes no sound."""

    def _complete(self, file: IO[bytes]) -> None:
        file.write(self._encoder.finish())
        if self._wav:
            header_bytes = len(wav_header(self._rate_hz, None))
            data_bytes = file.tell() - header_bytes
            file.seek(0)
            file.write(wav_header(self._rate_hz, data_bytes))
        file.close()
        with contextlib.suppress(OSError):
            os.chmod(self._part, stat.S_IMODE(self._path.stat().st_mode))
        os.replace(self._part, self._path)
