"""What is made and not yet taken, bounded in milliseconds of sound."""

from __future__ import annotations

import asyncio
from collections import deque

from .events import Audio, Event

__all__ = ["Outbox"]


class Outbox:
    """A queue of events from one writer to one reader; the writer waits once `limit_ms` of sound lies in it."""

    def __init__(self, rate_hz: int, limit_ms: float) -> None:
        self._events: deque[Event] = deque()
        self._frames = 0
        self._limit_frames = int(rate_hz * limit_ms / 1000)
        self._closed = False
        self._changed = asyncio.Condition()

    async def put(self, event: Event) -> None:
        """Add an event, once there is room for its sound."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._frames < self._limit_frames)
            self._events.append(event)
            self._frames += _frames(event)
            self._changed.notify_all()

    async def close(self) -> None:
        """Nothing more will come; the reader gets what is left."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()

    async def get(self) -> Event | None:
        """The next event, or None after the last."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._events or self._closed)
            if not self._events:
                return None
            event = self._events.popleft()
            self._frames -= _frames(event)
            self._changed.notify_all()
            return event


def _frames(event: Event) -> int:
    return len(event.samples) if isinstance(event, Audio) else 0
