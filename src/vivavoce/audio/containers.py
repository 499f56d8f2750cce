"""MP3, Opus, FLAC and AAC through FFmpeg's libraries."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .formats import Format
from .pcm import Samples, finite, to_pcm16
from .resampler import Resampler

__all__ = ["ContainerEncoder"]


@dataclass(frozen=True, slots=True)
class _Codec:
    """How FFmpeg calls a codec and its container, and what they are told."""

    muxer: str
    codec: str
    sample_format: str
    bit_rate: Callable[[int], int | None]
    muxer_options: dict[str, str]
    streamed_muxer_options: dict[str, str]
    streamed_codec_options: dict[str, str]


def _mp3_bit_rate(rate_hz: int) -> int:
    return 40_000 if rate_hz < 16_000 else 96_000 if rate_hz < 32_000 else 128_000


_CODECS = {
    "mp3": _Codec(
        "mp3",
        "libmp3lame",
        "fltp",
        _mp3_bit_rate,
        # No tag before the sound: a player that knows only frames starts at once.
        {"id3v2_version": "0"},
        {"write_xing": "0"},
        # The bit reservoir would tie a frame to earlier ones and hold bytes back.
        {"reservoir": "0"},
    ),
    "opus": _Codec(
        "ogg",
        "libopus",
        "flt",
        lambda rate_hz: min(64_000, 3 * rate_hz),
        {},
        # In microseconds; a page each packet, so that 20 ms of sound never wait for a second of it.
        {"page_duration": "20000"},
        {},
    ),
    "flac": _Codec(
        "flac",
        "flac",
        "s16",
        lambda rate_hz: None,
        {"metadata_header_padding": "0"},
        {},
        # Level 2 makes blocks of 27 ms instead of 105 ms.
        {"compression_level": "2"},
    ),
    "aac": _Codec("adts", "aac", "fltp", lambda rate_hz: min(96_000, 3 * rate_hz), {}, {}, {}),
}


class _Pipe:
    """A file to write to that cannot seek: what is written waits to be taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


class ContainerEncoder:
    """One stream of MP3, Ogg Opus, FLAC or ADTS AAC; see `Encoder` for the promise.

    Not streamed, the container is written to memory that can be rewound, so FLAC says its length and MP3 carries the
    frame count and the padding that lets a player cut the codec's delay (to within 2 ms at the end).
    """

    def __init__(self, known: Format, rate_hz: int, streamed: bool) -> None:
        self.format = known
        self.rate_hz = rate_hz
        self.carried_rate_hz = known.carried_rate_hz(rate_hz)
        self._resampler = Resampler(rate_hz, self.carried_rate_hz)
        self._codec = _CODECS[known.name]
        self._pipe = _Pipe() if streamed else None
        self._file = None if streamed else io.BytesIO()
        self._frames = 0
        self._container: Any = None
        self._stream: Any = None
        self._open_container()

    def encode(self, samples: Samples) -> bytes:
        """Give the packets that are complete now."""
        if self._container is None:
            raise ValueError("the encoder is closed")
        self._push(self._resampler.feed(samples))
        # A header never leaves alone: bytes mean sound.
        return self._pipe.take() if self._pipe is not None and self._frames else b""

    def finish(self) -> bytes:
        """Give the codec's last packets, or the whole file when it was not streamed."""
        if self._container is None:
            return b""
        self._push(self._resampler.flush())
        self._mux(None)
        container, self._container, self._stream = self._container, None, None
        container.close()
        if self._pipe is not None:
            return self._pipe.take()
        assert self._file is not None  # noqa: S101 - one of the two is always there
        data = self._file.getvalue()
        self._file.close()
        return data

    def close(self) -> None:
        """Free codec and container without sending their last bytes."""
        container, self._container, self._stream = self._container, None, None
        if container is not None:
            container.close()
        if self._pipe is not None:
            self._pipe.take()
        if self._file is not None:
            self._file.close()

    def _open_container(self) -> None:
        import av
        from av.codec.context import Flags

        codec, streamed = self._codec, self._pipe is not None
        # Bit-exact: the same sound gives the same bytes, with no version of a library in them.
        options = {"fflags": "bitexact", **codec.muxer_options}
        codec_options: dict[str, str] = {}
        if streamed:
            options |= {"flush_packets": "1", **codec.streamed_muxer_options}
            codec_options |= codec.streamed_codec_options
        self._container = av.open(self._pipe or self._file, "w", format=codec.muxer, options=options)
        self._stream = self._container.add_stream(codec.codec, rate=self.carried_rate_hz, options=codec_options)
        context = self._stream.codec_context
        context.layout = "mono"
        context.format = codec.sample_format
        context.time_base = Fraction(1, self.carried_rate_hz)
        context.flags |= Flags.bitexact
        bit_rate = codec.bit_rate(self.carried_rate_hz)
        if bit_rate is not None:
            context.bit_rate = bit_rate
        self._container.start_encoding()

    def _push(self, samples: Samples) -> None:
        if not samples.size:
            return
        import av

        if self._codec.sample_format == "s16":
            data: Any = np.frombuffer(to_pcm16(samples), dtype=np.int16)
        else:
            data = np.clip(finite(samples), -1.0, 1.0)
        frame = av.AudioFrame.from_ndarray(data.reshape(1, -1), format=self._codec.sample_format, layout="mono")
        frame.sample_rate = self.carried_rate_hz
        frame.time_base = Fraction(1, self.carried_rate_hz)
        frame.pts = self._frames
        self._frames += samples.size
        self._mux(frame)

    def _mux(self, frame: Any) -> None:
        for packet in self._stream.encode(frame):
            self._container.mux(packet)
