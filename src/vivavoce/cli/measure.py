"""What a listener would have met: time to first audio, pace, and every moment the sound ran dry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..audio import Playback

__all__ = ["Meter", "Reading", "percentile", "summary"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One request, in ms from the moment it was made.

    `underruns` counts the times a listener, who starts with the first sound, had nothing left to hear; `stalled_ms` is
    how long that lasted in all.
    """

    ttfa_ms: float
    wall_ms: float
    audio_ms: float
    underruns: int
    stalled_ms: float

    @property
    def rtf(self) -> float:
        """Time to make it over time to hear it."""
        return self.wall_ms / self.audio_ms if self.audio_ms else 0.0


class Meter:
    """One request seen by a listener who plays from its first sound on; times are ms after the request."""

    def __init__(self, rate_hz: int) -> None:
        self._playback = Playback(rate_hz)
        self._first_ms: float | None = None
        self._audio_ms = 0.0
        self._frame_ms = 1000.0 / rate_hz

    def arrive(self, at_ms: float, frames: int) -> None:
        """Take that many frames of sound."""
        if frames:
            self._first_ms = at_ms if self._first_ms is None else self._first_ms
            self._audio_ms += frames * self._frame_ms
            self._playback.arrive_frames(at_ms, frames)

    def reading(self, wall_ms: float) -> Reading | None:
        """The whole request, which took `wall_ms`; None where nothing was heard."""
        if self._first_ms is None:
            return None
        dry = self._playback.underruns
        return Reading(self._first_ms, wall_ms, self._audio_ms, dry.count, dry.total_ms)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0 to 1) of all values do not exceed. Raises ValueError for none."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def summary(readings: Iterable[Reading]) -> dict[str, Any]:
    """The numbers that are reported for a set of requests, in ms and rounded to a microsecond."""
    all_of = list(readings)
    first = [reading.ttfa_ms for reading in all_of]
    return {
        "requests": len(all_of),
        "ttfa_ms": {name: round(percentile(first, share), 3) for name, share in _SHARES},
        "rtf": {name: round(percentile([reading.rtf for reading in all_of], share), 4) for name, share in _SHARES},
        "audio_ms": round(sum(reading.audio_ms for reading in all_of), 3),
        "underruns": sum(reading.underruns for reading in all_of),
        "stalled_ms": round(sum(reading.stalled_ms for reading in all_of), 3),
    }


_SHARES = (("p50", 0.50), ("p95", 0.95), ("max", 1.0))
