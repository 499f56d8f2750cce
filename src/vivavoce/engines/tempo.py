"""Any pace from any engine: its own as far as that sounds right, and time-stretch for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ..audio.stretch import MAX_SPEED, MIN_SPEED, TimeStretch
from ..errors import OutOfRange
from .base import Chunk, Engine, Phrase

__all__ = ["synthesize_at"]

# Models count sounds in frames of 25 ms, so beyond this they stop getting faster; slower than half they drawl.
_SLOWEST, _FASTEST = 0.5, 1.5


def synthesize_at(
    engine: Engine, phrase: Phrase, voice: str, speed: float, cancelled: Callable[[], bool]
) -> Iterator[Chunk]:
    """Speak a phrase `speed` times as fast as the voice's own pace (0.25 to 4), its word times with it.

    Raises OutOfRange outside those limits.
    """
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise OutOfRange(f"The speed {speed} is not between {MIN_SPEED} and {MAX_SPEED}.", param="speed")
    own = min(max(speed, _SLOWEST), _FASTEST) if engine.native_speed else 1.0
    rest = speed / own
    stretch = TimeStretch(engine.rate_hz, rest)
    chunks = engine.synthesize(phrase, voice, own, cancelled)
    if stretch.identity:
        yield from chunks
        return
    for chunk in chunks:
        words = tuple(replace(w, start_ms=w.start_ms / rest, end_ms=w.end_ms / rest) for w in chunk.words)
        yield Chunk(stretch.feed(chunk.samples), words, chunk.hold_ms)
    if not cancelled():
        yield Chunk(stretch.flush(), is_last=True)
