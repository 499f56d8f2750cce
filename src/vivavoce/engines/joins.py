"""Clauses that were made apart, joined with the pause that a reader would make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from .base import Chunk, Samples, WordTime

__all__ = ["Clause", "joined"]

_HOP = 300
_SILENT = 10 ** (-38 / 20)
_FADE = 120
_PAUSE_MS = {",": 200.0, ";": 280.0, ":": 280.0, "—": 260.0, ".": 360.0, "!": 360.0, "?": 360.0, "…": 400.0}
_WORD_GAP_MS = 40.0


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause as a model made it, with its own silence around it; word times count from its first sample.

    `symbols` is its reading, whose last mark says how long the pause after it is; `is_last` ends the sentence, and
    `hold_ms` is that of its chunk.
    """

    samples: Samples
    words: tuple[WordTime, ...]
    symbols: str
    is_last: bool
    hold_ms: float = 0.0


def joined(clauses: Iterable[Clause], rate_hz: int, speed: float) -> Iterator[Chunk]:
    """Clauses of one sentence one after the other, each as soon as it is made.

    The silence before the first and after the last stays; between two it is at most a natural pause at that speed.
    """
    heard_ms = 0.0
    head_ms: float | None = None
    for clause in clauses:
        pause_ms = join_pause_ms(clause.symbols, speed)
        tail_ms = None if clause.is_last else pause_ms / 2
        first, last = quiet_edges(clause.samples, rate_hz, head_ms=head_ms, tail_ms=tail_ms)
        samples = faded(clause.samples[first:last], head=first > 0, tail=last < len(clause.samples))
        shift_ms = heard_ms - 1000 * first / rate_hz
        words = (replace(w, start_ms=w.start_ms + shift_ms, end_ms=w.end_ms + shift_ms) for w in clause.words)
        yield Chunk(samples, tuple(words), clause.hold_ms, is_last=clause.is_last)
        heard_ms += 1000 * len(samples) / rate_hz
        head_ms = pause_ms / 2


def join_pause_ms(symbols: str, speed: float) -> float:
    """How long the pause after a clause is that ends with these symbols."""
    return _PAUSE_MS.get(symbols.rstrip()[-1:], _WORD_GAP_MS) / speed


def quiet_edges(samples: Samples, rate_hz: int, *, head_ms: float | None, tail_ms: float | None) -> tuple[int, int]:
    """Where to cut a clause so that at most that much silence is left at its ends, None leaves an end alone.

    Both positions are whole multiples of 300 samples. A clause without voice keeps nothing but its head.
    """
    hops = len(samples) // _HOP
    levels = np.sqrt(np.mean(np.square(samples[: hops * _HOP].reshape(-1, _HOP)), axis=1))
    voiced = np.flatnonzero(levels > _SILENT * levels.max(initial=0.0))
    if not len(voiced):
        return 0, len(samples)
    first, last = 0, len(samples)
    if head_ms is not None:
        first = max(0, int(voiced[0]) - round(head_ms * rate_hz / 1000 / _HOP)) * _HOP
    if tail_ms is not None:
        last = min(hops, int(voiced[-1]) + 1 + round(tail_ms * rate_hz / 1000 / _HOP)) * _HOP
    return first, last


def faded(samples: Samples, *, head: bool, tail: bool) -> Samples:
    """Fade the ends that were cut over 5 ms, so that no step is heard."""
    result = samples.copy()
    ramp = np.linspace(0.0, 1.0, min(_FADE, len(result)), dtype=np.float32)
    if head:
        result[: len(ramp)] *= ramp
    if tail and len(ramp):
        result[-len(ramp) :] *= ramp[::-1]
    return result
