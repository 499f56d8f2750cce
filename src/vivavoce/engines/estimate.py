"""Word times where the engine tells none: the voiced stretches of the sound, shared out among the words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from .base import Samples, WordTime

__all__ = ["estimated_words"]

_HOP = 256
_SILENT = 10 ** (-38 / 20)
_PAUSE_MS = 110.0
_WORD = re.compile(r"[^\s,;:.!?…—–()\[\]{}\"“”„«»¿¡。、，！？；：।॥]+")

Span = tuple[int, int]
Stretch = tuple[float, float]


def estimated_words(text: str, samples: Samples, rate_hz: int) -> tuple[WordTime, ...]:
    """When each word of `text` is probably heard in `samples`; every time is marked as not exact.

    Clauses go to stretches of voice between the longest pauses, and words share a clause by their length.
    """
    clauses = _clauses(text)
    if not clauses:
        return ()
    words: list[WordTime] = []
    for clause, (start_ms, end_ms) in zip(clauses, _stretches(samples, rate_hz, len(clauses)), strict=False):
        whole = sum(_weight(span) for span in clause)
        at_ms = start_ms
        for span in clause:
            until_ms = at_ms + (end_ms - start_ms) * _weight(span) / whole
            words.append(WordTime(*span, at_ms, until_ms, exact=False))
            at_ms = until_ms
    return tuple(words)


def _weight(span: Span) -> float:
    return span[1] - span[0] + 1.5


def _clauses(text: str) -> list[list[Span]]:
    clauses: list[list[Span]] = []
    cursor = -1
    for match in _WORD.finditer(text):
        if not any(character.isalnum() for character in match.group()):
            continue
        if cursor < 0 or text[cursor : match.start()].strip(' \t"“”()[]«»„'):
            clauses.append([])
        clauses[-1].append(match.span())
        cursor = match.end()
    return clauses


def _stretches(samples: Samples, rate_hz: int, count: int) -> Sequence[Stretch]:
    """Cut the sound into `count` stretches of voice, at its longest pauses, else into even ones."""
    hops = len(samples) // _HOP
    hop_ms = 1000 * _HOP / rate_hz
    windows = samples[: hops * _HOP].reshape(-1, _HOP)
    levels = np.sqrt(np.einsum("ij,ij->i", windows, windows) / _HOP)
    voiced = np.flatnonzero(levels > _SILENT * levels.max(initial=0.0))
    gaps = np.diff(voiced)
    pauses = np.flatnonzero(gaps * hop_ms >= _PAUSE_MS)
    begin, end = 0.0, 1000 * len(samples) / rate_hz
    if len(voiced):
        begin, end = float(voiced[0]) * hop_ms, float(voiced[-1] + 1) * hop_ms
    if len(pauses) < count - 1:
        step = (end - begin) / count
        return [(begin + i * step, begin + (i + 1) * step) for i in range(count)]
    longest = np.sort(pauses[np.argsort(-gaps[pauses], kind="stable")[: count - 1]])
    starts = [begin, *(float(voiced[i + 1]) * hop_ms for i in longest)]
    ends = [*(float(voiced[i] + 1) * hop_ms for i in longest), end]
    return list(zip(starts, ends, strict=True))
