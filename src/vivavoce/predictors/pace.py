"""Word times while the sound still comes, from a predictor that tells none: guessed by the voice's own pace."""

from __future__ import annotations

import re

import numpy as np

from ..audio import Samples
from ..engines.base import WordTime

__all__ = ["Pace", "WordGuess"]

_WORD = re.compile(r"\w+(?:['’.\-]\w+)*")
_EXTRA_WEIGHT = 1.5
# A calm reader of English says about 14 characters a second.
_USUAL_MS = 62.0
_LEARNING = 0.3
_MAX_VOICES = 512
_VOICED = 0.02


class Pace:
    """How long each voice takes for a character, learned from what it has spoken."""

    def __init__(self) -> None:
        self._ms: dict[str, float] = {}

    def of(self, voice: str) -> float:
        """Milliseconds for one unit of weight, at the voice's own speed."""
        return self._ms.get(voice, _USUAL_MS)

    def learn(self, voice: str, ms: float) -> None:
        """Note how long it was this time."""
        if len(self._ms) >= _MAX_VOICES:
            self._ms.clear()
        known = self._ms.get(voice)
        self._ms[voice] = ms if known is None else known + _LEARNING * (ms - known)


class WordGuess:
    """The words of one phrase, told as its sound arrives; every time is marked as not exact.

    A word is told once the sound has reached the place where it should end. What is left at the end shares the rest.
    """

    def __init__(self, text: str, voice: str, speed: float, pace: Pace) -> None:
        self._spans = [match.span() for match in _WORD.finditer(text)]
        self._voice = voice
        self._pace = pace
        self._speed = speed
        self._unit_ms = pace.of(voice) / speed
        self._begin_ms: float | None = None
        self._at_ms = 0.0
        self._told = 0
        self._heard_ms = 0.0

    def feed(self, samples: Samples, rate_hz: int) -> tuple[WordTime, ...]:
        """Take the next sound, give the words that end in it."""
        if self._begin_ms is None:
            voiced = np.flatnonzero(np.abs(samples) > _VOICED)
            if len(voiced):
                self._at_ms = self._begin_ms = self._heard_ms + float(voiced[0]) * 1000 / rate_hz
        self._heard_ms += len(samples) * 1000 / rate_hz
        if self._begin_ms is None:
            return ()
        words = []
        while self._told < len(self._spans):
            until_ms = self._at_ms + _weight(self._spans[self._told]) * self._unit_ms
            if until_ms > self._heard_ms:
                break
            words.append(self._next(until_ms))
        return tuple(words)

    def finish(self) -> tuple[WordTime, ...]:
        """The words that are left, up to the end of the sound."""
        if self._spans and self._begin_ms is not None:
            whole = sum(map(_weight, self._spans))
            self._pace.learn(self._voice, (self._heard_ms - self._begin_ms) * self._speed / whole)
        left = self._spans[self._told :]
        start_ms, weight = self._at_ms, sum(map(_weight, left))
        words, done = [], 0.0
        for span in left:
            done += _weight(span)
            words.append(self._next(start_ms + (self._heard_ms - start_ms) * done / weight))
        return tuple(words)

    def _next(self, until_ms: float) -> WordTime:
        start, end = self._spans[self._told]
        word = WordTime(start, end, self._at_ms, until_ms, exact=False)
        self._told += 1
        self._at_ms = until_ms
        return word


def _weight(span: tuple[int, int]) -> float:
    return span[1] - span[0] + _EXTRA_WEIGHT
