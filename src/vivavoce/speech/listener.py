"""What one listener has, has heard, and when it runs dry."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress

from ..clock import Clock

__all__ = ["Listener"]

# A gap shorter than this lies within the clocks of both ends.
_GAP_MS = 1.0


class Listener:
    """Follows one listener's buffer: what was handed over, what of it has been heard, and when it runs dry.

    Playback is taken to begin with the first sound and to go on in real time; after a gap it goes on with the sound
    that ends it. Once the client tells how far it has played (`played`), its word counts instead, and real time from
    there on. All times are ms: `due_ms` and `deadline()` on the clock, the others of sound.

    A stream without sound yet is due at `due_ms`.
    """

    def __init__(self, clock: Clock, *, due_ms: float) -> None:
        self._clock = clock
        self._due_ms = due_ms
        self._sent_ms = 0.0
        self._acknowledged_ms = 0.0
        # Playback was at `_cursor_ms` when the clock showed `_since_ms`.
        self._cursor_ms = 0.0
        self._since_ms = due_ms
        self._excused = False
        self._moved = asyncio.Event()
        self.underruns = 0

    def sent(self, audio_ms: float) -> None:
        """Note sound that is handed over now. A gap that it ends is an underrun, unless there was nothing to say."""
        if not audio_ms > 0:
            return
        now_ms = self._clock.now_ms()
        if not self._sent_ms:
            self._since_ms = now_ms
        elif now_ms > (dry_ms := self._dry_ms):
            if now_ms > dry_ms + _GAP_MS and not self._excused:
                self.underruns += 1
            self._cursor_ms, self._since_ms = self._sent_ms, now_ms
        self._excused = False
        self._sent_ms += audio_ms
        self._moved.set()

    def played(self, cursor_ms: float) -> None:
        """Take the client's word for how much has been played; one behind an earlier word, or no number, is ignored."""
        if math.isnan(cursor_ms) or cursor_ms < self._acknowledged_ms or not self._sent_ms:
            return
        self._acknowledged_ms = self._cursor_ms = min(cursor_ms, self._sent_ms)
        self._since_ms = self._clock.now_ms()
        self._moved.set()

    def text_came(self, waited_since_ms: float) -> None:
        """Note that there is something to say again, after waiting for it since then.

        A buffer that ran dry meanwhile is the writer's pause, not an underrun: the next sound is due now.
        """
        if self._sent_ms and waited_since_ms <= self._dry_ms < (now_ms := self._clock.now_ms()):
            self._excused = True
            self._due_ms = now_ms

    @property
    def sent_ms(self) -> float:
        """How much sound was handed over."""
        return self._sent_ms

    @property
    def heard_ms(self) -> float:
        """How much of it has been played by now."""
        return min(self._sent_ms, self._cursor_ms + max(0.0, self._clock.now_ms() - self._since_ms))

    @property
    def ahead_ms(self) -> float:
        """How much of it is still to be heard."""
        return self._sent_ms - self.heard_ms

    @property
    def waits(self) -> bool:
        """Whether the listener waits for a first sound: at all, or after a pause of the writer."""
        return not self._sent_ms or self._excused

    def deadline(self) -> float:
        """When, on the clock, the listener runs dry or ran dry; before the first sound, when that is due."""
        return self._due_ms if self.waits else self._dry_ms

    async def until_ahead_below(self, lead_ms: float, made_ms: Callable[[], float] = lambda: 0.0) -> None:
        """Return once less than `lead_ms` is still to be heard, counting `made_ms()` that was not handed over yet."""
        while (excess_ms := self.ahead_ms + made_ms() - lead_ms) >= 0:
            self._moved.clear()
            # Only sound that was handed over is played away by time; for the rest its reader has to come.
            limit_s = (excess_ms + _GAP_MS) / 1000 if self.ahead_ms else None
            with suppress(TimeoutError):
                async with asyncio.timeout(limit_s):
                    await self._moved.wait()

    @property
    def _dry_ms(self) -> float:
        return self._since_ms + self._sent_ms - self._cursor_ms
