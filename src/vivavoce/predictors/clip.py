"""A whole clip, handed on so that its beginning is heard before the rest has been looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..engines.base import Chunk, Origin
from ..engines.estimate import estimated_words
from .v2_sound import Speech

__all__ = ["clip_chunks"]

# As much as an engine that streams gives first; enough to tell how loud the voice is.
_FIRST_MS = 400.0


def clip_chunks(text: str, speech: Speech, origin: Origin | None) -> Iterator[Chunk]:
    """The clip in two chunks, the second one the long one. Where no words are told they are estimated behind the first.

    An estimated word that ends within the first chunk is said to end with it.
    """
    frames, rate_hz, words = int(speech.rate_hz * _FIRST_MS / 1000), speech.rate_hz, speech.words
    if speech.frames <= 2 * frames:
        samples = speech.samples()
        told = estimated_words(text, samples, rate_hz) if words is None else words
        yield Chunk(samples, told, is_last=True, rate_hz=rate_hz, origin=origin)
        return
    early = tuple(word for word in words or () if word.end_ms <= _FIRST_MS)
    yield Chunk(speech.samples(0, frames), early, rate_hz=rate_hz, origin=origin)
    if words is None:
        guessed = estimated_words(text, speech.samples(), rate_hz)
        late = tuple(replace(word, end_ms=max(word.end_ms, _FIRST_MS)) for word in guessed)
    else:
        late = words[len(early) :]
    yield Chunk(speech.samples(frames), late, is_last=True, rate_hz=rate_hz)
