"""What is made and not yet taken, measured in milliseconds of sound."""

from __future__ import annotations

import asyncio
from collections import deque

from .events import Audio, Event

__all__ = ["Outbox"]


class Outbox:
    """A queue of events from one writer to one reader.

    It takes whatever is put, so that nobody holds a slot for a slow reader; before more is begun the writer waits for
    `room`, which there is while less than `limit_ms` of sound lies in it.
    """

    def __init__(self, rate_hz: int, limit_ms: float) -> None:
        self._events: deque[Event] = deque()
        self._rate_hz = rate_hz
        self._limit_ms = limit_ms
        self._frames = 0
        self._closed = False
        self._waiting = False
        self._filled = asyncio.Event()
        self._taken = asyncio.Event()

    @property
    def held_ms(self) -> float:
        """How much sound lies in it."""
        return self._frames * 1000 / self._rate_hz

    @property
    def is_awaited(self) -> bool:
        """Whether the reader has taken everything and is back for more."""
        return not self._events and self._waiting

    async def room(self) -> None:
        """Return once there is room for more."""
        while self.held_ms >= self._limit_ms:
            self._taken.clear()
            await self._taken.wait()

    def put(self, event: Event) -> None:
        """Add an event."""
        self._events.append(event)
        self._frames += _frames(event)
        self._filled.set()

    def close(self) -> None:
        """Nothing more will come; the reader gets what is left."""
        self._closed = True
        self._filled.set()

    async def get(self) -> Event | None:
        """The next event, or None after the last."""
        self._waiting = True
        await self._filled.wait()
        self._waiting = False
        if not self._events:
            return None
        event = self._events.popleft()
        self._frames -= _frames(event)
        self._taken.set()
        if not self._events and not self._closed:
            self._filled.clear()
        return event


def _frames(event: Event) -> int:
    return len(event.samples) if isinstance(event, Audio) else 0
