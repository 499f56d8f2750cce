"""Seams between segments."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .pcm import Samples, finite, frames_in, silence

__all__ = ["Joiner"]

_EMPTY: Samples = np.zeros(0, dtype=np.float32)


class Joiner:
    """Lets segments follow each other without a click.

    Each segment rises from zero over `fade_ms` and falls to zero over as much, so whatever follows it (a pause, another
    segment, the end) meets it at zero. Nothing is added, removed or shifted: out of `feed`, `end` and `pause` comes
    exactly what went in, plus the pauses. The last `fade_ms` of what was fed stay back until more comes or the segment
    ends.
    """

    def __init__(self, rate_hz: int, fade_ms: float = 3.0) -> None:
        self._rate_hz = rate_hz
        self._fade = frames_in(fade_ms, rate_hz)
        self._rise = _rise(self._fade)
        self._position = 0
        self._held = _EMPTY

    def feed(self, samples: Samples) -> Samples:
        """Take the segment's next samples; the first ones fade in."""
        fed = finite(samples)
        if not fed.size or not self._fade:
            return fed
        if self._position < self._fade:
            rise = self._rise[self._position : self._position + fed.size]
            fed = fed.copy()
            fed[: rise.size] *= rise
            self._position += fed.size
        joined = np.concatenate((self._held, fed)) if self._held.size else fed
        ready = max(0, joined.size - self._fade)
        self._held = joined[ready:].copy()
        return joined[:ready]

    def end(self) -> Samples:
        """End the segment: give its last samples, faded out. Safe to call when there is none."""
        held, self._held, self._position = self._held, _EMPTY, 0
        if held.size:
            # A segment shorter than the fade falls over all it has.
            fall = (
                self._rise[::-1] if held.size == self._fade else np.linspace(1, 0, held.size + 1, dtype=np.float32)[1:]
            )
            held *= fall
        return held

    def pause(self, duration_ms: float) -> Samples:
        """End the segment if one is open, and give that much silence after it."""
        return np.concatenate((self.end(), silence(duration_ms, self._rate_hz)))


@lru_cache(maxsize=16)
def _rise(frames: int) -> Samples:
    """Half a cosine from 0 towards 1."""
    steps = np.arange(frames, dtype=np.float64) / max(1, frames)
    rise: Samples = (0.5 - 0.5 * np.cos(np.pi * steps)).astype(np.float32)
    rise.flags.writeable = False
    return rise
