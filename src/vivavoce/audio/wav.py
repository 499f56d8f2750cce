"""RIFF/WAVE: the header we write, the files we read."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..errors import BadRequest
from .pcm import FRAME_BYTES, Samples, finite

__all__ = ["read_wav", "wav_header"]

_UNKNOWN_LENGTH = 0xFFFFFFFF
_HEADER_AFTER_RIFF = 36
_PCM, _FLOAT, _EXTENSIBLE = 0x0001, 0x0003, 0xFFFE
_MAX_RATE_HZ = 768_000
_MAX_CHANNELS = 64


def wav_header(rate_hz: int, data_bytes: int | None) -> bytes:
    """Give the 44 bytes before s16le mono samples; without a length (streamed) both sizes are 0xFFFFFFFF.

    Two bytes a frame are always even, so the data chunk never needs RIFF's padding byte.
    """
    if data_bytes is None or data_bytes + _HEADER_AFTER_RIFF >= _UNKNOWN_LENGTH:
        riff_bytes = data_bytes = _UNKNOWN_LENGTH
    else:
        riff_bytes = data_bytes + _HEADER_AFTER_RIFF
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        riff_bytes,
        b"WAVE",
        b"fmt ",
        16,
        _PCM,
        1,
        rate_hz,
        rate_hz * FRAME_BYTES,
        FRAME_BYTES,
        FRAME_BYTES * 8,
        b"data",
        data_bytes,
    )


@dataclass(frozen=True, slots=True)
class _Layout:
    """What the fmt chunk says, checked."""

    floating: bool
    channels: int
    rate_hz: int
    frame_bytes: int

    @property
    def sample_bytes(self) -> int:
        return self.frame_bytes // self.channels


def read_wav(source: bytes | bytearray | memoryview | BinaryIO) -> tuple[Samples, int]:
    """Read a WAV file into mono float32 samples in [-1, 1] and its rate in Hz.

    Chunks are walked, so what stands before or after the data (LIST, C2PA, cue points) is never heard. Lengths that a
    streaming writer could not know (0, 0x7FFFFFFF, 0xFFFFFFFF, or any beyond the end) mean all that is there; half a
    frame at the end is left out. Integers of 8, 16, 24 and 32 bits, floats of 32 and 64, any channels (mixed down),
    plain and WAVE_FORMAT_EXTENSIBLE. Raises BadRequest for anything else.
    """
    data = source if isinstance(source, bytes | bytearray | memoryview) else source.read()
    view = memoryview(data).cast("B")
    if len(view) < 12 or bytes(view[:4]) not in (b"RIFF", b"RF64") or bytes(view[8:12]) != b"WAVE":
        raise _bad("not a WAV file")
    layout, body = _walk(view)
    frames = len(body) // layout.frame_bytes
    samples = _decode(body[: frames * layout.frame_bytes], layout)
    if layout.channels > 1:
        samples = samples.reshape(-1, layout.channels).mean(axis=1, dtype=np.float32)
    return finite(samples), layout.rate_hz


def _walk(view: memoryview) -> tuple[_Layout, memoryview]:
    """Find the fmt and the data chunk."""
    (riff_bytes,) = struct.unpack_from("<I", view, 4)
    layout: _Layout | None = None
    position = 12
    while position + 8 <= len(view):
        name, size = struct.unpack_from("<4sI", view, position)
        begin = position + 8
        if name == b"fmt ":
            layout = _layout(view[begin : begin + size])
        elif name == b"data":
            if layout is None:
                raise _bad("the WAV file has samples before it says what they are")
            # A streaming writer that puts 0 has not patched the outer length either.
            if size == 0 and riff_bytes + 8 != len(view):
                size = len(view) - begin
            return layout, view[begin : begin + size]
        position = begin + size + size % 2
    raise _bad("the WAV file has no samples" if layout else "the WAV file does not say what its samples are")


def _layout(chunk: memoryview) -> _Layout:
    """Read a fmt chunk."""
    if len(chunk) < 16:
        raise _bad("the WAV file's fmt chunk is cut short")
    tag, channels, rate_hz, _, frame_bytes, bits = struct.unpack_from("<HHIIHH", chunk)
    if tag == _EXTENSIBLE:
        if len(chunk) < 26:
            raise _bad("the WAV file's extensible fmt chunk is cut short")
        (tag,) = struct.unpack_from("<H", chunk, 24)
    if tag not in (_PCM, _FLOAT):
        raise _bad(f"WAV coding {tag:#06x} is not PCM or float")
    if not 1 <= channels <= _MAX_CHANNELS:
        raise _bad(f"a WAV file with {channels} channels cannot be read")
    if not 1 <= rate_hz <= _MAX_RATE_HZ:
        raise _bad(f"a WAV file at {rate_hz} Hz cannot be read")
    # Bits that do not fill their bytes stand at the top of them, so the bytes alone decide.
    frame_bytes = frame_bytes or channels * ((bits + 7) // 8)
    layout = _Layout(tag == _FLOAT, channels, rate_hz, frame_bytes)
    widths = (4, 8) if layout.floating else (1, 2, 3, 4)
    if frame_bytes % channels or layout.sample_bytes not in widths or bits > layout.sample_bytes * 8:
        raise _bad(f"WAV samples of {bits} bits in frames of {frame_bytes} bytes cannot be read")
    return layout


def _decode(body: memoryview, layout: _Layout) -> Samples:
    """Turn whole frames into floats, channels still interleaved."""
    width = layout.sample_bytes
    if layout.floating:
        return np.frombuffer(body, dtype=f"<f{width}").astype(np.float32)
    if width == 1:
        return (np.frombuffer(body, dtype=np.uint8).astype(np.float32) - np.float32(128.0)) / np.float32(128.0)
    if width == 3:
        wide = np.zeros((len(body) // 3, 4), dtype=np.uint8)
        wide[:, 1:] = np.frombuffer(body, dtype=np.uint8).reshape(-1, 3)
        return _scaled(wide.reshape(-1).view("<i4"), 31)
    return _scaled(np.frombuffer(body, dtype=f"<i{width}"), width * 8 - 1)


def _scaled(integers: npt.NDArray[Any], bits: int) -> Samples:
    return (integers * (1.0 / (1 << bits))).astype(np.float32)


def _bad(message: str) -> BadRequest:
    return BadRequest(message, param="file")
