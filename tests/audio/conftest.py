"""Sound to test with, and a way back from every container."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import av
import numpy as np
import pytest

from vivavoce.audio import Encoder, Samples


@dataclass(frozen=True)
class Decoded:
    samples: Samples
    rate_hz: int
    declared_frames: int | None


def voice(duration_ms: float, rate_hz: int, level: float = 0.3, pitch_hz: float = 140.0, seed: int = 7) -> Samples:
    """Something like speech: harmonics of a gliding pitch in syllables, with a little breath."""
    frames = round(duration_ms * rate_hz / 1000)
    at = np.arange(frames) / rate_hz
    phase = 2 * np.pi * np.cumsum(pitch_hz * (1 + 0.1 * np.sin(2 * np.pi * 0.7 * at))) / rate_hz
    harmonics = sum(np.sin(number * phase) / number for number in range(1, 12) if number * pitch_hz < rate_hz / 3)
    syllables = 0.55 + 0.45 * np.sin(2 * np.pi * 4.0 * at)
    breath = np.random.default_rng(seed).normal(0, 0.02, frames)
    sound = (harmonics / 2.2 + breath) * syllables * level
    return np.clip(sound, -1, 1).astype(np.float32)


def pieces_of(samples: Samples, sizes: list[int]) -> Iterator[Samples]:
    """The samples in pieces of those sizes, round and round."""
    start, turn = 0, 0
    while start < samples.size:
        size = sizes[turn % len(sizes)]
        yield samples[start : start + size]
        start, turn = start + size, turn + 1


def whole_of(encoder: Encoder, samples: Samples, piece: int = 960) -> bytes:
    """Everything the encoder makes of the samples."""
    return b"".join(encoder.encode(part) for part in pieces_of(samples, [piece])) + encoder.finish()


def decode(data: bytes) -> Decoded:
    """What a player hears, by FFmpeg's own demuxer and decoder."""
    with av.open(io.BytesIO(data)) as container:
        stream = container.streams.audio[0]
        duration = stream.duration
        declared = None if duration is None else round(float(duration * stream.time_base) * stream.rate)
        frames = [frame.to_ndarray().reshape(-1) for frame in container.decode(stream)]
        sound = np.concatenate(frames) if frames else np.zeros(0, dtype=np.float32)
        if sound.dtype == np.int16:
            sound = sound.astype(np.float32) / 32768
        return Decoded(sound.astype(np.float32), stream.rate, declared)


@pytest.fixture(scope="session", name="voice")
def _voice() -> Callable[..., Samples]:
    return voice


@pytest.fixture(scope="session", name="pieces_of")
def _pieces_of() -> Callable[..., Iterator[Samples]]:
    return pieces_of


@pytest.fixture(scope="session", name="whole_of")
def _whole_of() -> Callable[..., bytes]:
    return whole_of


@pytest.fixture(scope="session", name="decode")
def _decode() -> Callable[[bytes], Decoded]:
    return decode
