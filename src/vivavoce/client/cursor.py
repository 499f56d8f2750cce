"""How much of an utterance its listener has heard."""

from __future__ import annotations

__all__ = ["Cursor"]


class Cursor:
    """The playback of what was handed over: it starts with the first sound, and stands still while there is none.

    What the player itself reports takes the clock's place. Times in ms, of any clock that never goes backwards.
    """

    def __init__(self) -> None:
        self.given_ms = 0.0
        self._heard_ms = 0.0
        self._at_ms: float | None = None

    def give(self, audio_ms: float, now_ms: float) -> None:
        """More sound is there to be played."""
        self._heard_ms = self.heard(now_ms)
        self._at_ms = now_ms
        self.given_ms += audio_ms

    def report(self, cursor_ms: float, now_ms: float) -> None:
        """The player says where it is."""
        self._heard_ms = min(max(0.0, cursor_ms), self.given_ms)
        self._at_ms = now_ms

    def heard(self, now_ms: float) -> float:
        """How much has been heard."""
        if self._at_ms is None:
            return 0.0
        return min(self.given_ms, self._heard_ms + max(0.0, now_ms - self._at_ms))

    def ahead(self, now_ms: float) -> float:
        """How much is still to be heard of what was handed over."""
        return self.given_ms - self.heard(now_ms)
