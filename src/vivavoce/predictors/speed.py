"""How fast an engine makes speech on this machine, learned from its own steps."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from ..clock import Clock
from ..engines.base import Chunk, Engine

__all__ = ["Speed", "Stopwatch"]

# Sound that must have been made before a number is believed, and the work after which half of what was learned is gone.
_BELIEVED_MS, _HALF_LIFE_MS = 3_000.0, 10_000.0
# The share of an engine's speed that may be promised; the rest is for the steps that come in a bunch.
_USABLE = 0.8


@dataclass(slots=True)
class _Record:
    work_ms: float = 0.0
    audio_ms: float = 0.0


class Speed:
    """Counts an engine's work and the sound that came of it, apart for each number of steps that ran side by side.

    Steps that share cores slow each other down, by how much is the engine's and the machine's secret; so nothing is
    concluded from how fast a step is alone about many. Safe to use from threads.
    """

    def __init__(self) -> None:
        self._records: defaultdict[int, _Record] = defaultdict(_Record)
        self._lock = threading.Lock()

    def note(self, abreast: int, work_ms: float, audio_ms: float) -> None:
        """Take one step's work, begun as one of `abreast`, and the length of its sound."""
        with self._lock:
            record, kept = self._records[abreast], 0.5 ** (work_ms / _HALF_LIFE_MS)
            record.work_ms = record.work_ms * kept + work_ms
            record.audio_ms = record.audio_ms * kept + audio_ms

    @property
    def streams(self) -> int | None:
        """How many listeners can be kept ahead, by the busiest hours known; None before anything is known."""
        with self._lock:
            known = [count for count, record in self._records.items() if record.audio_ms >= _BELIEVED_MS]
            if not known:
                return None
            record = self._records[max(known)]
            return int(max(known) * _USABLE * record.audio_ms / max(record.work_ms, 1e-6))


class Stopwatch:
    """Times the steps of all engines. The first step in a voice is left out: it may have loaded a model."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._speeds: dict[str, Speed] = {}
        self._voices: set[str] = set()
        self._running = 0
        self._lock = threading.Lock()

    def speed_of(self, engine: Engine) -> Speed:
        """What is known of that engine."""
        with self._lock:
            return self._speeds.setdefault(engine.name, Speed())

    def step(self, engine: Engine, voice: str, chunks: Iterator[Chunk]) -> Chunk | None:
        """Take a step and note how long it took for how much sound."""
        with self._lock:
            self._running += 1
            abreast, known = self._running, voice in self._voices
            self._voices.add(voice)
        began_ms = self._clock.now_ms()
        try:
            chunk = next(chunks, None)
        finally:
            with self._lock:
                self._running -= 1
        if known:
            audio_ms = 0.0 if chunk is None else chunk.samples.size * 1000 / (chunk.rate_hz or engine.rate_hz)
            self.speed_of(engine).note(abreast, self._clock.now_ms() - began_ms, audio_ms)
        return chunk
