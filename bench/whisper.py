"""Whisper base as the listener: what was said, and when each word was."""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soxr

__all__ = ["Heard", "Whisper", "read_wav"]

RATE_HZ = 16_000
Samples = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Heard:
    """A word that Whisper heard, and when."""

    text: str
    start_ms: float
    end_ms: float


class Whisper:
    """faster-whisper with its own defaults (beam 5), English, int8; each window of 30 s is heard without the one before."""

    def __init__(self, folder: Path, threads: int = 2) -> None:
        from faster_whisper import WhisperModel

        self._model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=threads)

    def hear(self, samples: Samples, rate_hz: int) -> str:
        """What is said in mono float32 samples."""
        segments, _ = self._model.transcribe(
            self._at_16k(samples, rate_hz), language="en", condition_on_previous_text=False
        )
        return "".join(segment.text for segment in segments).strip()

    def hear_words(self, samples: Samples, rate_hz: int) -> list[Heard]:
        """Each word that is said, and when."""
        segments, _ = self._model.transcribe(
            self._at_16k(samples, rate_hz), language="en", condition_on_previous_text=False, word_timestamps=True
        )
        return [
            Heard(word.word.strip(), word.start * 1000, word.end * 1000)
            for segment in segments
            for word in segment.words or ()
        ]

    @staticmethod
    def _at_16k(samples: Samples, rate_hz: int) -> Samples:
        resampled: Samples = soxr.resample(samples, rate_hz, RATE_HZ).astype(np.float32)
        return resampled


def read_wav(content: bytes) -> tuple[Samples, int]:
    """Mono float32 samples and their rate; the standard library's strict reader, so lengths must be exact."""
    with wave.open(io.BytesIO(content)) as reader:
        if (reader.getnchannels(), reader.getsampwidth()) != (1, 2):
            raise ValueError("not mono s16le")
        frames = reader.readframes(reader.getnframes())
        return np.frombuffer(frames, "<i2").astype(np.float32) / 32768, reader.getframerate()
