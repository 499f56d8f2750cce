"""Word times that agree with the sound: a model counts the start of a pause into the word before it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .base import Samples, WordTime

__all__ = ["WordAligner"]

_HOP = 300
# Below this share of the loudest frame (−38 dB) there is no voice.
_SILENT = 10 ** (-38 / 20)
# A closed consonant is silent for a moment as well; what is longer than this is a pause.
_TAIL_MS, _HEAD_MS = 24.0, 50.0
_SHORTEST_MS = 25.0


class WordAligner:
    """Moves the edges of words out of the pauses beside them, while the sound is being made.

    One aligner follows one phrase at `rate_hz`; pieces of sound come in multiples of 300 samples.
    """

    def __init__(self, words: Iterable[WordTime], rate_hz: int) -> None:
        self._waiting = list(words)
        self._hop_ms = 1000 * _HOP / rate_hz
        self._levels = np.zeros(0, np.float32)
        self.heard_ms = 0.0

    def follow(self, samples: Samples, *, last: bool = False) -> tuple[WordTime, ...]:
        """The words that end in the next piece of sound; with `last`, all that are left."""
        usable = len(samples) // _HOP * _HOP
        levels = np.sqrt(np.mean(np.square(samples[:usable].reshape(-1, _HOP)), axis=1))
        self._levels = np.concatenate([self._levels, levels])
        self.heard_ms += self._hop_ms * len(levels)
        told = []
        while self._waiting and (last or self._waiting[0].end_ms <= self.heard_ms + 1e-6):
            told.append(self._tight(self._waiting.pop(0)))
        return tuple(told)

    def _tight(self, word: WordTime) -> WordTime:
        first = max(0, round(word.start_ms / self._hop_ms))
        last = round(word.end_ms / self._hop_ms)
        voiced = np.flatnonzero(self._levels[first:last] > _SILENT * self._levels.max(initial=0.0))
        if not len(voiced):
            return word
        head_ms, tail_ms = float(voiced[0]) * self._hop_ms, float(last - first - 1 - voiced[-1]) * self._hop_ms
        start_ms = word.start_ms + head_ms if head_ms > _HEAD_MS else word.start_ms
        end_ms = word.end_ms - tail_ms if tail_ms > _TAIL_MS else word.end_ms
        return replace(word, start_ms=start_ms, end_ms=max(end_ms, min(start_ms + _SHORTEST_MS, word.end_ms)))
