"""How fast an engine makes speech on this machine, learned from its own steps."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator

from ..clock import Clock
from ..engines.base import Chunk, Engine

__all__ = ["Speed", "Stopwatch"]

# Sound that must have been made before a number is believed.
_BELIEVED_MS = 3_000.0
# The work after which half of what was learned is gone, for the speed of now and for that of the last minutes.
_NOW_MS, _LATELY_MS = 10_000.0, 100_000.0
# The share of an engine's speed that may be promised; the rest is for the steps that come in a bunch.
_USABLE, _MOST_USABLE = 0.8, 0.84


class _Mean:
    """Sound for each ms of work, as a mean that forgets."""

    __slots__ = ("_half_life_ms", "audio_ms", "work_ms")

    def __init__(self, half_life_ms: float) -> None:
        self._half_life_ms = half_life_ms
        self.work_ms = 0.0
        self.audio_ms = 0.0

    def note(self, work_ms: float, audio_ms: float) -> None:
        kept = 0.5 ** (work_ms / self._half_life_ms)
        self.work_ms = self.work_ms * kept + work_ms
        self.audio_ms = self.audio_ms * kept + audio_ms

    @property
    def speed(self) -> float:
        return self.audio_ms / max(self.work_ms, 1e-6)


class _Record:
    """How fast steps were, that ran beside as many others."""

    __slots__ = ("_lately", "_now")

    def __init__(self) -> None:
        self._now, self._lately = _Mean(_NOW_MS), _Mean(_LATELY_MS)

    def note(self, work_ms: float, audio_ms: float) -> None:
        self._now.note(work_ms, audio_ms)
        self._lately.note(work_ms, audio_ms)

    @property
    def is_believed(self) -> bool:
        return self._now.audio_ms >= _BELIEVED_MS

    @property
    def usable(self) -> float:
        """What may be promised of it: as of late, as long as that is little more than what may be promised of now."""
        return max(_USABLE * self._now.speed, min(_USABLE * self._lately.speed, _MOST_USABLE * self._now.speed))


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
            self._records[abreast].note(work_ms, audio_ms)

    @property
    def streams(self) -> int | None:
        """How many listeners can be kept ahead, by the busiest hours known; None before anything is known."""
        with self._lock:
            known = [count for count, record in self._records.items() if record.is_believed]
            return int(max(known) * self._records[max(known)].usable) if known else None


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
