"""The line before the seats."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

from ..errors import Busy
from .quota import Caller

__all__ = ["Place", "Waiter", "WaitingLine"]


# By how much a start has to move, and by a quarter of the wait, to be told again.
NEWS_MS = 250.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where one stands in the line: 1 is next. `expected_ms` until the start, `budget_ms` until the wait is given up."""

    position: int
    expected_ms: float
    budget_ms: float


@dataclass(slots=True, eq=False)
class Waiter:
    """One utterance in the line. `answer` becomes None with its seat, or the refusal."""

    caller: Caller
    voice: str
    since_ms: float
    answer: asyncio.Future[Busy | None]
    on_queued: Callable[[Place], None] | None = None
    ticket: int = 0
    seated: bool = False
    told: Place | None = None
    told_ms: float = 0.0

    def is_news(self, place: Place, now_ms: float) -> bool:
        """Whether a place differs from what was told last, or from what one counts down to since."""
        if self.told is None or self.told.position != place.position:
            return True
        counted_ms = max(0.0, self.told.expected_ms - (now_ms - self.told_ms))
        off_ms = abs(place.expected_ms - counted_ms)
        return off_ms > NEWS_MS and off_ms > place.expected_ms / 4


class WaitingLine:
    """Who goes first: the caller with the fewest seats; of equals, whose last seat is longest ago, then who came first.

    Inside a caller, first come is first served.
    """

    def __init__(self) -> None:
        self._waiters: dict[Waiter, None] = {}
        self._of_caller: Counter[str] = Counter()
        self._tickets = 0
        self._seated = 0
        self._last_seated: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._waiters)

    def __iter__(self) -> Iterator[Waiter]:
        return iter(tuple(self._waiters))

    def count(self, name: str) -> int:
        """How many of that caller wait."""
        return self._of_caller[name]

    def join(self, waiter: Waiter) -> None:
        """Stand at the end."""
        self._tickets += 1
        waiter.ticket = self._tickets
        self._waiters[waiter] = None
        self._of_caller[waiter.caller.name] += 1

    def leave(self, waiter: Waiter) -> None:
        """Step out; one who is not in the line changes nothing."""
        if waiter not in self._waiters:
            return
        del self._waiters[waiter]
        name = waiter.caller.name
        self._of_caller[name] -= 1
        if not self._of_caller[name]:
            del self._of_caller[name]

    def sit_down(self, waiter: Waiter) -> None:
        """Step out with a seat."""
        self.leave(waiter)
        self.note_seat(waiter.caller.name)
        waiter.seated = True

    def note_seat(self, name: str) -> None:
        """That caller has got a seat now."""
        self._seated += 1
        self._last_seated[name] = self._seated

    def order(self, seats: Mapping[str, int], ready: Callable[[str], bool]) -> list[Waiter]:
        """All of them, the next first, were seats given away one by one; `seats` are those of every caller now.

        Those whose voice nobody can speak now (`ready`) come behind all others, and hold nobody up.
        """
        spoken = {voice for voice in {waiter.voice for waiter in self._waiters} if ready(voice)}
        stuck = [waiter for waiter in self._waiters if waiter.voice not in spoken]
        lines: defaultdict[str, deque[Waiter]] = defaultdict(deque)
        for waiter in self._waiters:
            if waiter.voice in spoken:
                lines[waiter.caller.name].append(waiter)
        turns = [
            (seats.get(name, 0), self._last_seated.get(name, 0), line[0].ticket, name) for name, line in lines.items()
        ]
        heapify(turns)
        ordered: list[Waiter] = []
        while turns:
            taken, _, _, name = turns[0]
            ordered.append(lines[name].popleft())
            if lines[name]:
                heapreplace(turns, (taken + 1, self._seated + len(ordered), lines[name][0].ticket, name))
            else:
                heappop(turns)
        return ordered + stuck

    def last_of_most(self, newcomer: Waiter) -> Waiter:
        """Who has to go where one too many waits: the newcomer, unless another caller fills the line.

        Then it is the last to come of the caller with the most in the line: whoever floods it refuses themselves.
        """
        most = max(self._of_caller.values())
        if self._of_caller[newcomer.caller.name] == most:
            return newcomer
        return next(w for w in reversed(self._waiters) if self._of_caller[w.caller.name] == most)
