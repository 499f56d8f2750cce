"""Who may run when: slots go to the job whose listener runs dry first."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from ..clock import Clock
from ..engines.base import Chunk
from ..errors import Busy
from ..predictors.base import Deadline, Job, Predictor
from .listener import Listener

__all__ = ["ScheduledPredictor", "Slots", "Ticket"]

# A running stream with less than this left goes before a new one; follows how long jobs hold their slots.
_MIN_MARGIN_MS, _MAX_MARGIN_MS = 300.0, 2_000.0
_MARGIN_HOLDS = 2.0
# Who has waited longer than this gets every fourth slot, whatever the deadlines say.
_PATIENCE_MS = 2_000.0
_PATIENT_TURN = 4


class Ticket:
    """A listener's deadline for one job; notes when the job got its slot and how long it waited for it."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.slot_ms: float | None = None
        self.waited_ms = 0.0

    def __call__(self) -> float:
        """When the listener runs dry."""
        return self._listener.deadline()

    @property
    def is_new(self) -> bool:
        """Whether the listener hears nothing yet and so cannot run dry."""
        return self._listener.waits

    def granted(self, slot_ms: float, waited_ms: float) -> None:
        """The job may run from now on."""
        self.slot_ms = slot_ms
        self.waited_ms += waited_ms


@dataclass(slots=True, eq=False)
class _Waiter:
    deadline: Deadline
    is_new: Callable[[], bool]
    since_ms: float
    turn: asyncio.Future[None]


class Slots:
    """At most `capacity()` jobs at once; free slots go to the earliest deadline.

    Deadlines are asked anew whenever a slot is given away. A job whose listener hears nothing yet (a `Ticket` says so,
    and a job without a deadline counts as one) goes before whatever is made ahead, but after a running stream that is
    about to run dry, however long it is overdue: new streams cannot drown the running ones. Who has waited for two
    seconds gets every fourth slot, so that nobody starves. Equal claims are served in the order they came.

    `limit` bounds the waiting list, `timeout_s` the wait. `capacity` may change at any time; say so with
    `capacity_changed`, and jobs that run above it end by themselves.
    """

    def __init__(
        self, capacity: Callable[[], int], clock: Clock, *, limit: int = 1024, timeout_s: float | None = None
    ) -> None:
        self._capacity = capacity
        self._clock = clock
        self._limit = limit
        self._timeout_s = timeout_s
        self._queue: list[_Waiter] = []
        self._grants = 0
        self._held_ms = 0.0
        self.busy = 0

    @property
    def waiting(self) -> int:
        """How many jobs wait for a slot."""
        return len(self._queue)

    @asynccontextmanager
    async def hold(self, deadline: Deadline | None = None) -> AsyncIterator[None]:
        """Hold a slot, once there is one. Leaving, also while waiting, gives it back at once.

        Raises Busy where the waiting list is full or no slot came in time.
        """
        asked_ms = self._clock.now_ms()
        await self._take(deadline, asked_ms)
        began_ms = self._clock.now_ms()
        try:
            if isinstance(deadline, Ticket):
                deadline.granted(began_ms, began_ms - asked_ms)
            yield
        finally:
            held_ms = self._clock.now_ms() - began_ms
            self._held_ms += 0.1 * (held_ms - self._held_ms)
            self._free()

    def capacity_changed(self) -> None:
        """Give away what has become free."""
        while self._queue and self.busy < self._capacity():
            waiter = self._next()
            self._queue.remove(waiter)
            if not waiter.turn.cancelled():
                self.busy += 1
                waiter.turn.set_result(None)

    async def _take(self, deadline: Deadline | None, asked_ms: float) -> None:
        self.capacity_changed()
        if not self._queue and self.busy < self._capacity():
            self.busy += 1
            return
        if len(self._queue) >= self._limit:
            raise Busy("Too many jobs wait for a predictor.", retry_after_s=1.0)
        waiter = _Waiter(
            deadline or (lambda: asked_ms),
            (lambda: deadline.is_new) if isinstance(deadline, Ticket) else (lambda: deadline is None),
            asked_ms,
            asyncio.get_running_loop().create_future(),
        )
        self._queue.append(waiter)
        try:
            async with asyncio.timeout(self._timeout_s):
                await waiter.turn
        except TimeoutError:
            self._leave(waiter)
            raise Busy("No predictor became free in time.", retry_after_s=1.0) from None
        except BaseException:
            self._leave(waiter)
            raise

    def _leave(self, waiter: _Waiter) -> None:
        """Give up waiting; a slot that came in the same moment goes on to the next."""
        if waiter in self._queue:
            self._queue.remove(waiter)
        if waiter.turn.done() and not waiter.turn.cancelled():
            self._free()

    def _free(self) -> None:
        self.busy -= 1
        self.capacity_changed()

    def _next(self) -> _Waiter:
        now_ms = self._clock.now_ms()
        self._grants += 1
        oldest = self._queue[0]
        if self._grants % _PATIENT_TURN == 0 and now_ms - oldest.since_ms > _PATIENCE_MS:
            return oldest
        margin_ms = min(max(_MARGIN_HOLDS * self._held_ms, _MIN_MARGIN_MS), _MAX_MARGIN_MS)
        return min(self._queue, key=lambda waiter: _claim(waiter, now_ms + margin_ms))


def _claim(waiter: _Waiter, soon_ms: float) -> tuple[float, float]:
    """Order the waiting: the smallest goes first."""
    due_ms = waiter.deadline()
    if math.isnan(due_ms):
        due_ms = math.inf
    return (max(due_ms, soon_ms) if waiter.is_new() else due_ms), due_ms


class ScheduledPredictor:
    """A predictor whose jobs each hold one of `slots` while they run; they wait for it in the order of deadlines.

    A reader who stops reading in mid-job keeps the slot, so read a job to its end.
    """

    def __init__(self, inner: Predictor, slots: Slots) -> None:
        self._inner = inner
        self._slots = slots

    @property
    def slots(self) -> int:
        """As many as the inner predictor has."""
        return self._inner.slots

    def streams(self, voice: str) -> int:
        """As many as the inner predictor keeps up with."""
        return self._inner.streams(voice)

    def rate_hz(self, voice: str) -> int:
        """The sample rate of that voice's chunks."""
        return self._inner.rate_hz(voice)

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        """Speak the job once it has a slot. Raises Busy where none came in time, and what the inner predictor raises."""
        async with self._slots.hold(deadline), aclosing(self._inner.synthesize(job, deadline)) as chunks:
            async for chunk in chunks:
                yield chunk
