"""A whole clip, handed on so that its beginning is heard before the rest has been looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..engines.base import Chunk, Origin
from ..engines.estimate import estimated_words
from .v2_sound import Speech

__all__ = ["clip_chunks", "first_chunk", "first_frames", "last_chunk"]

# As much as an engine that streams gives first; enough to tell how loud the voice is.
_FIRST_MS = 400.0


def first_frames(rate_hz: int) -> int:
    """How much of a long clip is handed on first."""
    return int(rate_hz * _FIRST_MS / 1000)


def first_chunk(beginning: Speech, origin: Origin | None) -> Chunk:
    """The beginning of a clip whose rest has not been looked at, or has not come."""
    until_ms = beginning.frames * 1000 / beginning.rate_hz
    words = tuple(word for word in beginning.words or () if word.end_ms <= until_ms)
    return Chunk(beginning.samples(), words, rate_hz=beginning.rate_hz, origin=origin)


def last_chunk(text: str, speech: Speech, first: Chunk) -> Chunk:
    """The clip behind its first chunk. Where no words are told they are estimated here.

    An estimated word that ends within the first chunk is said to end with it.
    """
    frames, words = first.samples.size, speech.words
    if words is None:
        until_ms = frames * 1000 / speech.rate_hz
        guessed = estimated_words(text, speech.samples(), speech.rate_hz)
        words = tuple(replace(word, end_ms=max(word.end_ms, until_ms)) for word in guessed)
    late = words[len(first.words) :]
    return Chunk(speech.samples(frames), late, is_last=True, rate_hz=speech.rate_hz)


def clip_chunks(text: str, speech: Speech, origin: Origin | None) -> Iterator[Chunk]:
    """The clip as one chunk, or as two where it is long."""
    frames, rate_hz = first_frames(speech.rate_hz), speech.rate_hz
    if speech.frames > 2 * frames:
        first = first_chunk(replace(speech, numbers=speech.numbers.reshape(-1)[:frames]), origin)
        yield first
        yield last_chunk(text, speech, first)
        return
    samples = speech.samples()
    words = estimated_words(text, samples, rate_hz) if speech.words is None else speech.words
    yield Chunk(samples, words, is_last=True, rate_hz=rate_hz, origin=origin)
