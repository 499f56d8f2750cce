"""What a listener hears of audio that arrives bit by bit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Playback", "Underruns"]


@dataclass(frozen=True, slots=True)
class Underruns:
    """How often the listener's buffer ran dry, for how long at most, and in all."""

    count: int
    longest_ms: float
    total_ms: float


class Playback:
    """A listener who plays at speed 1 from the first audio on; clock-free, for it is told when audio arrives.

    With `prebuffer_ms` the listener starts only once that much has arrived (or `finish` says that no more will). A gap
    counts when audio arrives after the last of what arrived before was played; nothing is counted after the end.
    Arrival times are ms of any one clock and must not go backwards (ValueError).
    """

    def __init__(self, rate_hz: int, prebuffer_ms: float = 0.0) -> None:
        self._rate_hz = rate_hz
        self._prebuffer_ms = prebuffer_ms
        self._last_ms: float | None = None
        self._waiting_ms = 0.0
        self._count = 0
        self._longest_ms = 0.0
        self._total_ms = 0.0
        self.started_ms: float | None = None
        self.dry_ms: float | None = None
        self.audio_ms = 0.0

    @classmethod
    def replay(
        cls, arrivals: Iterable[tuple[float, float]], rate_hz: int = 24_000, prebuffer_ms: float = 0.0
    ) -> Underruns:
        """Give the underruns of (arrival_ms, audio_ms) pairs."""
        playback = cls(rate_hz, prebuffer_ms)
        for arrival_ms, audio_ms in arrivals:
            playback.arrive(arrival_ms, audio_ms)
        return playback.underruns

    def arrive(self, at_ms: float, audio_ms: float) -> None:
        """Add audio that arrived at `at_ms`."""
        if self._last_ms is not None and at_ms < self._last_ms:
            raise ValueError(f"audio arrived at {at_ms} ms, before the last at {self._last_ms} ms")
        if audio_ms < 0:
            raise ValueError("audio has no negative length")
        if not audio_ms:
            return
        self._last_ms = at_ms
        self.audio_ms += audio_ms
        if self.dry_ms is None:
            self._waiting_ms += audio_ms
            if self._waiting_ms >= self._prebuffer_ms:
                self.finish(at_ms)
            return
        late_ms = at_ms - self.dry_ms
        if late_ms > 0:
            self._count += 1
            self._longest_ms = max(self._longest_ms, late_ms)
            self._total_ms += late_ms
            self.dry_ms = at_ms
        self.dry_ms += audio_ms

    def arrive_frames(self, at_ms: float, frames: int) -> None:
        """Add audio counted in frames of `rate_hz`."""
        self.arrive(at_ms, frames * 1000.0 / self._rate_hz)

    def finish(self, at_ms: float) -> None:
        """Say that no more comes: a listener who still waits for the prebuffer starts now."""
        if self.dry_ms is None and self._waiting_ms:
            self.started_ms = at_ms
            self.dry_ms = at_ms + self._waiting_ms

    def buffered_ms(self, at_ms: float) -> float:
        """Give how much the listener has left at `at_ms`; `dry_ms` is when it ends, the deadline of the next audio."""
        if self.dry_ms is None:
            return self._waiting_ms
        return max(0.0, self.dry_ms - at_ms)

    @property
    def underruns(self) -> Underruns:
        """The gaps up to now."""
        return Underruns(self._count, self._longest_ms, self._total_ms)
