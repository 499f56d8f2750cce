"""Which utterances are spoken now, which wait, and which are refused."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ..clock import Clock
from ..errors import Busy, RateLimited
from .forecast import Forecast
from .quota import Caller, Quota
from .waiting import Place, Waiter, WaitingLine

__all__ = ["Admission", "Caller", "Place", "Seat"]

LOOK_EVERY_S = 0.25
# News of the line cost as much as speech where the line is long.
_LOOKS_TO_TELL = 2
# After somebody waited too long, so long no two seats are given at once.
_CAREFUL_MS = 500.0
# Weights are fractions such as 1/3, whose sums are a hair off.
_HAIR = 1e-9


@dataclass(slots=True)
class Seat:
    """The right to be spoken. What it weighs is given back `linger_ms` after its end, its place in the key's limit at once.

    Whoever has been sent the end of the sound hears it for a while yet, and then asks for more: where voices are made
    many times faster than they are heard, it is the listeners that are counted.
    """

    caller: Caller
    voice: str
    waited_ms: float = 0.0
    linger_ms: float = 0.0


class Admission:
    """Seats for as many utterances as the predictors keep up with; the others wait in line for a bounded time.

    `streams(voice)` says how many utterances in that voice can be kept ahead of their listeners, now: each weighs one
    part of that number, and seats are given while the weights sum to no more than 1. 0 means that nobody can speak that
    voice at present: such utterances wait. `capacity` replaces the number where somebody is ready. In line, the caller
    with the fewest seats is next, and first come is first served among a caller's own (see WaitingLine).

    While it `is_pressed`, because somebody with a seat waits too long for a first sound, the next seats are given one by
    one, as others come free: a number that promised too much corrects itself, and who has a seat is spoken soon.

    A refusal is immediate and costs nothing. With `enabled` false every utterance is taken at once, whatever the
    predictors or the caller's key say, until the server is `draining`.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        streams: Callable[[str], int],
        queue_limit: int = 64,
        queue_timeout_s: float = 10.0,
        enabled: bool = True,
        capacity: int | None = None,
        is_pressed: Callable[[], bool] = lambda: False,
    ) -> None:
        self.queue_limit = queue_limit
        self.queue_timeout_s = queue_timeout_s
        self.enabled = enabled
        self.capacity = capacity
        self._clock = clock
        self._streams = streams
        self._is_pressed = is_pressed
        self._pressed_ms = -math.inf
        self._quota = Quota(clock)
        self._line = WaitingLine()
        self._seats_of_voice: Counter[str] = Counter()
        self._seats_of_caller: Counter[str] = Counter()
        self._weights: dict[str, float] = {}
        self._forecast = Forecast(clock)
        self._looks = 0
        self._last_voice: str | None = None
        self._draining = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def running(self) -> int:
        """Seats that are taken."""
        return self._seats_of_caller.total()

    @property
    def waiting(self) -> int:
        """Utterances in line."""
        return len(self._line)

    @property
    def full(self) -> bool:
        """Whether the next to come, in the voice that was last asked for, would be refused."""
        if self._draining:
            return True
        if not self.enabled or self._last_voice is None or self.waiting < self.queue_limit:
            return False
        return not self._fits(self._last_voice)

    @property
    def draining(self) -> bool:
        """Whether the server is about to stop: whoever comes or waits is refused, whoever has a seat keeps it."""
        return self._draining

    @draining.setter
    def draining(self, draining: bool) -> None:
        self._draining = draining
        if draining and self._loop is not None and not self._loop.is_closed():
            # Signal handlers set this too; the loop may be asleep.
            self._loop.call_soon_threadsafe(self._send_all_away)

    @asynccontextmanager
    async def admit(
        self,
        caller: Caller,
        *,
        voice: str,
        characters: int = 0,
        on_queued: Callable[[Place], None] | None = None,
    ) -> AsyncIterator[Seat]:
        """Hold a seat for the length of the block.

        `characters` are those of the text that is known already; `spend` counts what is streamed later. `on_queued`
        hears where the utterance stands: at once when it has to wait, then whenever that moves, a few times a second
        at most. Raises Busy (`queue_full`, `queue_timeout`, `draining`) and RateLimited.
        """
        seat = await self._take(caller, voice, characters, on_queued)
        since_ms = self._clock.now_ms()
        try:
            yield seat
        finally:
            self._forecast.ended(self._clock.now_ms() - since_ms + seat.linger_ms)
            self._free(caller, voice, seat.linger_ms)

    def spend(self, caller: Caller, characters: int) -> None:
        """Count text that came after its utterance was admitted. Raises RateLimited, and counts none of it then."""
        if self.enabled:
            self._quota.spend(caller, characters)

    def capacity_changed(self) -> None:
        """Look anew at what the predictors can do, because they say that it has changed."""
        self._give_seats()

    async def _take(
        self, caller: Caller, voice: str, characters: int, on_queued: Callable[[Place], None] | None
    ) -> Seat:
        if self._draining:
            raise _draining()
        self._last_voice = voice
        if not self.enabled:
            self._seat(caller, voice)
            return Seat(caller, voice)
        self._check_streams(caller)
        self._quota.spend(caller, characters)
        try:
            return await self._wait(caller, voice, on_queued)
        except BaseException:
            self._quota.give_back(caller, characters)
            raise

    async def _wait(self, caller: Caller, voice: str, on_queued: Callable[[Place], None] | None) -> Seat:
        """Stand in line, where there is one."""
        if not self._line and self._fits(voice):
            self._line.note_seat(caller.name)
            self._seat(caller, voice)
            return Seat(caller, voice)
        self._loop = loop = asyncio.get_running_loop()
        waiter = Waiter(caller, voice, self._clock.now_ms(), loop.create_future(), on_queued)
        self._line.join(waiter)
        self._give_seats()
        if not waiter.seated and self.waiting > self.queue_limit:
            self._refuse(self._line.last_of_most(waiter), self._queue_full())
        timer = loop.call_later(self.queue_timeout_s, lambda: self._refuse(waiter, self._queue_timeout()))
        try:
            if not waiter.answer.done():
                self._tell(waiter, self._order().index(waiter) + 1)
                self._look_again_soon()
            refusal = await waiter.answer
        except BaseException:
            if waiter.seated:
                self._free(caller, voice)  # the seat came while the one who waited was leaving
            raise
        finally:
            timer.cancel()
            self._line.leave(waiter)
        if refusal is not None:
            raise refusal
        return Seat(caller, voice, self._clock.now_ms() - waiter.since_ms)

    def _refuse(self, waiter: Waiter, refusal: Busy) -> None:
        """Send it away, unless it has its answer."""
        self._line.leave(waiter)
        if not waiter.answer.done():
            waiter.answer.set_result(refusal)

    def _send_all_away(self) -> None:
        for waiter in self._line:
            self._refuse(waiter, _draining())

    def _give_seats(self) -> None:
        """Let those in line sit down while there is room. Whoever is next and does not fit is waited for."""
        if self._line and self._is_pressed():
            self._pressed_ms = self._clock.now_ms()
        is_careful = self._clock.now_ms() - self._pressed_ms < _CAREFUL_MS
        while self._line and not self._draining:
            waiter = self._order()[0]
            if not self._fits(waiter.voice):
                return
            if waiter.answer.done():
                self._line.leave(waiter)
                continue
            self._line.sit_down(waiter)
            self._seat(waiter.caller, waiter.voice)
            waiter.answer.set_result(None)
            if is_careful:
                return

    def _seat(self, caller: Caller, voice: str) -> None:
        self._seats_of_caller[caller.name] += 1
        self._seats_of_voice[voice] += 1

    def _free(self, caller: Caller, voice: str, linger_ms: float = 0.0) -> None:
        self._seats_of_caller[caller.name] -= 1
        if not self._seats_of_caller[caller.name]:
            del self._seats_of_caller[caller.name]
        if linger_ms > 0:
            asyncio.get_running_loop().call_later(linger_ms / 1000, self._free_weight, voice)
        else:
            self._free_weight(voice)

    def _free_weight(self, voice: str) -> None:
        self._forecast.freed()
        self._seats_of_voice[voice] -= 1
        if not self._seats_of_voice[voice]:
            del self._seats_of_voice[voice]
            self._weights.pop(voice, None)
        self._give_seats()

    def _ready(self, voice: str) -> bool:
        return self._streams(voice) > 0

    def _fits(self, voice: str) -> bool:
        if not self._ready(voice) or (self._seats_of_voice and self._is_pressed()):
            return False
        taken = sum(count * self._weight(taken) for taken, count in self._seats_of_voice.items())
        return taken + self._weight(voice) <= 1 + _HAIR

    def _weight(self, voice: str) -> float:
        """What one utterance in that voice takes of all there is; while nobody is ready, what it took before."""
        streams = self._streams(voice)
        if streams > 0:
            self._weights[voice] = 1 / (self.capacity or streams)
        return self._weights.get(voice, 1.0)

    def _check_streams(self, caller: Caller) -> None:
        limit = caller.streams
        here = self._seats_of_caller[caller.name] + self._line.count(caller.name)
        if limit is not None and here >= limit:
            message = f"This key may have {limit} utterances at the same time, and has."
            raise RateLimited(message, retry_after_s=self._forecast.seat_ms / 1000 / max(1, limit))

    def _look_again_soon(self) -> None:
        if self._timer is None and self._line and self._loop is not None:
            self._timer = self._loop.call_later(LOOK_EVERY_S, self._look_again)

    def _look_again(self) -> None:
        """Give the seats that nobody said were free, and tell those in line what is news to them."""
        self._timer = None
        self._give_seats()
        self._looks += 1
        if self._looks % _LOOKS_TO_TELL == 0:
            self._tell_all()
        self._look_again_soon()

    def _tell_all(self) -> None:
        for index, waiter in enumerate(self._order()):
            try:
                self._tell(waiter, index + 1)
            except Exception as error:
                self._line.leave(waiter)
                waiter.answer.set_exception(error)

    def _tell(self, waiter: Waiter, position: int) -> None:
        running = self.running if self._ready(waiter.voice) else 0
        self._forecast.tell(waiter, position, running=running, limit_ms=self.queue_timeout_s * 1000)

    def _order(self) -> list[Waiter]:
        """Those in line, the next first."""
        return self._line.order(self._seats_of_caller, self._ready)

    def _queue_full(self) -> Busy:
        # By then everybody who waits now has been served or sent away.
        message = "Too many requests are waiting; try again later."
        return Busy(message, retry_after_s=self.queue_timeout_s, reason="queue_full")

    def _queue_timeout(self) -> Busy:
        message = f"No turn came up within {self.queue_timeout_s:g} s; try again later."
        return Busy(message, retry_after_s=self.queue_timeout_s, reason="queue_timeout")


def _draining() -> Busy:
    return Busy("The server is shutting down.", reason="draining")
