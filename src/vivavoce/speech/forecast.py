"""How long the wait for a seat will be."""

from __future__ import annotations

import math

from ..clock import Clock
from .waiting import Place, Waiter

__all__ = ["Forecast"]

# What an utterance is taken to last before any has ended: two sentences.
_FIRST_GUESS_MS = 4_000.0
_MEMORY = 0.1


class Forecast:
    """Tells those in line where they stand, by how long utterances held their seats of late (`seat_ms`)."""

    def __init__(self, clock: Clock) -> None:
        self.seat_ms = _FIRST_GUESS_MS
        self._clock = clock
        self._ended = 0
        self._freed_ms = -math.inf

    def ended(self, held_ms: float) -> None:
        """Remember how long utterances last: a plain mean at first, then one that forgets."""
        self._ended += 1
        self.seat_ms += (held_ms - self.seat_ms) * max(_MEMORY, 1 / (self._ended + 1))

    def freed(self) -> None:
        """A seat has come free now."""
        self._freed_ms = self._clock.now_ms()

    def tell(self, waiter: Waiter, position: int, *, running: int, limit_ms: float) -> None:
        """Tell one in line its place, where that is news to it and it has no answer yet.

        `running` seats can come free for it, and its whole wait lasts `limit_ms` at most. Raises what `on_queued` raises.
        """
        if waiter.on_queued is None or waiter.answer.done():
            return
        now_ms = self._clock.now_ms()
        budget_ms = max(0.0, limit_ms - (now_ms - waiter.since_ms))
        expected_ms = self._expected_ms(waiter, position, running, now_ms) if running else budget_ms
        place = Place(position, expected_ms, budget_ms)
        if waiter.is_news(place, now_ms):
            waiter.told, waiter.told_ms = place, now_ms
            waiter.on_queued(place)

    def _expected_ms(self, waiter: Waiter, position: int, running: int, now_ms: float) -> float:
        """Seats come free one by one, as often as of late, or less often where none has for longer than that."""
        idle_ms = now_ms - max(self._freed_ms, waiter.since_ms)
        return position * max(self.seat_ms / running, idle_ms)
