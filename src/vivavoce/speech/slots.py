"""Who may run when: slots go to the job whose listener runs dry first."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from ..clock import Clock
from ..engines.base import Chunk
from ..errors import Busy
from ..predictors.base import Around, Deadline, Job, Predictor
from .listener import Listener

__all__ = ["Hold", "ScheduledPredictor", "Slots", "Ticket"]

# A running stream with less than this left goes before a new one; follows how long jobs hold their slots.
_MIN_MARGIN_MS, _MAX_MARGIN_MS = 1_000.0, 2_500.0
_MARGIN_HOLDS = 4.0
_NEWS = 0.1
_URGENT, _NEW, _LATER = range(3)
# Who has waited longer than this gets every fourth slot, whatever the deadlines say.
_PATIENCE_MS = 2_000.0
_PATIENT_TURN = 4


class Ticket:
    """A listener's deadline for one job; notes when the job got its slot and how long it waited for it.

    `is_download` says that the listener only stands for a reader who takes what is made as fast as it comes.
    """

    def __init__(self, listener: Listener, *, is_download: bool = False) -> None:
        self._listener = listener
        self.is_download = is_download
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
        """The job may run, or run on, from now."""
        if self.slot_ms is None:
            self.slot_ms = slot_ms
        self.waited_ms += waited_ms


class _Claim:
    """What one job says for itself: when it is due, and who waits for it."""

    __slots__ = ("_asked_ms", "_deadline", "_ticket")

    def __init__(self, deadline: Deadline | None, asked_ms: float) -> None:
        self._deadline = deadline
        self._ticket = deadline if isinstance(deadline, Ticket) else None
        self._asked_ms = asked_ms

    @property
    def is_new(self) -> bool:
        return self._deadline is None if self._ticket is None else self._ticket.is_new

    def rank(self, soon_ms: float) -> tuple[float, int, float]:
        """The smallest goes first: who runs dry before `soon_ms`, then new streams, then whoever else is due next."""
        due_ms = self._asked_ms if self._deadline is None else self._deadline()
        if math.isnan(due_ms):
            due_ms = math.inf
        if self.is_new:
            return max(due_ms, soon_ms), _NEW, due_ms
        if self._ticket is not None and self._ticket.is_download:
            return max(due_ms, soon_ms), _LATER, due_ms
        return due_ms, (_URGENT if due_ms < soon_ms else _LATER), due_ms

    def granted(self, slot_ms: float, waited_ms: float) -> None:
        if isinstance(self._deadline, Ticket):
            self._deadline.granted(slot_ms, waited_ms)


@dataclass(slots=True, eq=False)
class _Waiter:
    claim: _Claim
    since_ms: float
    turn: asyncio.Future[None]


class Slots:
    """At most `capacity()` jobs at once; free slots go to the earliest deadline.

    Deadlines are asked anew whenever a slot is given away. A job whose listener hears nothing yet (a `Ticket` says so,
    and a job without a deadline counts as one) goes before whatever is made ahead, but after a running stream that is
    about to run dry, however long it is overdue: new streams cannot drown the running ones, and neither can downloads.
    Who has waited for two seconds gets every fourth slot, so that nobody starves. Equal claims are served in the order
    they came.

    A job that can rest between its steps asks `Hold.give_way` there, so that a long one holds nobody up.

    `limit` bounds the waiting list, `timeout_s` the wait. `capacity` may change at any time; say so with
    `capacity_changed`, and jobs that run above it end by themselves.
    """

    def __init__(
        self, capacity: Callable[[], int], clock: Clock, *, limit: int = 1024, timeout_s: float | None = None
    ) -> None:
        self._capacity = capacity
        self.clock = clock
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

    def is_pressed(self, late_ms: float) -> bool:
        """Whether a new stream waits for its first slot longer than `late_ms`, and than a few jobs take."""
        since_ms = self.clock.now_ms() - max(late_ms, _MARGIN_HOLDS * self._held_ms)
        return any(waiter.since_ms < since_ms and waiter.claim.is_new for waiter in self._queue)

    def hold(self, deadline: Deadline | None = None) -> Hold:
        """To hold a slot for the length of a block."""
        return Hold(self, deadline)

    def capacity_changed(self) -> None:
        """Give away what has become free."""
        while self._queue and self.busy < self._capacity():
            waiter = self._next()
            self._queue.remove(waiter)
            if not waiter.turn.cancelled():
                self.busy += 1
                waiter.turn.set_result(None)

    async def take(self, claim: _Claim, now_ms: float, *, is_first: bool) -> None:
        """Wait for a slot; `Hold` is who calls. Who has held one before waits as long as it takes."""
        self.capacity_changed()
        if not self._queue and self.busy < self._capacity():
            self.busy += 1
            return
        if is_first and len(self._queue) >= self._limit:
            raise Busy("Too many jobs wait for a predictor.", retry_after_s=1.0)
        waiter = _Waiter(claim, now_ms, asyncio.get_running_loop().create_future())
        self._queue.append(waiter)
        try:
            async with asyncio.timeout(self._timeout_s if is_first else None):
                await waiter.turn
        except TimeoutError:
            self._leave(waiter)
            raise Busy("No predictor became free in time.", retry_after_s=1.0) from None
        except BaseException:
            self._leave(waiter)
            raise

    def free(self, held_ms: float) -> None:
        """Take a slot back that was held so long; `Hold` is who calls."""
        self._held_ms += _NEWS * (held_ms - self._held_ms)
        self._free()

    def is_wanted_more(self, claim: _Claim) -> bool:
        """Whether somebody who waits is urgent or new, while `claim` has time."""
        if not self._queue:
            return False
        soon_ms = self._soon_ms()
        if claim.rank(soon_ms)[1] != _LATER:
            return False
        return any(waiter.claim.rank(soon_ms)[1] != _LATER for waiter in self._queue)

    def _leave(self, waiter: _Waiter) -> None:
        """Give up waiting; a slot that came in the same moment goes on to the next."""
        if waiter in self._queue:
            self._queue.remove(waiter)
        if waiter.turn.done() and not waiter.turn.cancelled():
            self._free()

    def _free(self) -> None:
        self.busy -= 1
        self.capacity_changed()

    def _soon_ms(self) -> float:
        margin_ms = min(max(_MARGIN_HOLDS * self._held_ms, _MIN_MARGIN_MS), _MAX_MARGIN_MS)
        return self.clock.now_ms() + margin_ms

    def _next(self) -> _Waiter:
        self._grants += 1
        oldest = self._queue[0]
        if self._grants % _PATIENT_TURN == 0 and self.clock.now_ms() - oldest.since_ms > _PATIENCE_MS:
            return oldest
        soon_ms = self._soon_ms()
        return min(self._queue, key=lambda waiter: waiter.claim.rank(soon_ms))


class Hold:
    """One job's hold on a slot: `async with` waits for it, and gives it back at once when left, also while waiting.

    Entering raises Busy where the waiting list is full or no slot came in time.
    """

    def __init__(self, slots: Slots, deadline: Deadline | None) -> None:
        self._slots = slots
        self._claim = _Claim(deadline, slots.clock.now_ms())
        self._since_ms: float | None = None

    async def __aenter__(self) -> Self:
        """Wait for a slot."""
        await self._take(is_first=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give it back."""
        self._free()

    async def give_way(self) -> None:
        """Between two steps of a job that can rest: let those go first who cannot wait, where this one can."""
        while self._slots.is_wanted_more(self._claim):
            self._free()
            await self._take(is_first=False)

    async def _take(self, *, is_first: bool) -> None:
        asked_ms = self._slots.clock.now_ms()
        await self._slots.take(self._claim, asked_ms, is_first=is_first)
        self._since_ms = now_ms = self._slots.clock.now_ms()
        self._claim.granted(now_ms, now_ms - asked_ms)

    def _free(self) -> None:
        if self._since_ms is not None:
            held_ms, self._since_ms = self._slots.clock.now_ms() - self._since_ms, None
            self._slots.free(held_ms)


class ScheduledPredictor(Around):
    """A predictor whose jobs each hold one of `slots` while they run; they wait for it in the order of deadlines.

    Where jobs `can_rest` between their chunks, one that has time gives its slot to one that has not, and goes on later:
    true of engines in this process. A reader who stops reading in mid-job keeps the slot, so read a job to its end.
    """

    def __init__(self, inner: Predictor, slots: Slots, *, can_rest: bool = False) -> None:
        super().__init__(inner)
        self._slots = slots
        self._can_rest = can_rest

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        """Speak the job once it has a slot. Raises Busy where none came in time, and what the inner predictor raises."""
        async with self._slots.hold(deadline) as hold, aclosing(self._inner.synthesize(job, deadline)) as chunks:
            async for chunk in chunks:
                yield chunk
                if self._can_rest and not chunk.is_last:
                    await hold.give_way()
