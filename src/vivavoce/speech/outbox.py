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
        self._filled = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    async def put(self, event: Event) -> None:
        """Add an event, once there is room for its sound."""
        await self._room.wait()
        self._events.append(event)
        self._frames += _frames(event)
        if self._frames >= self._limit_frames:
            self._room.clear()
        self._filled.set()

    def close(self) -> None:
        """Nothing more will come; the reader gets what is left."""
        self._closed = True
        self._filled.set()

    async def get(self) -> Event | None:
        """The next event, or None after the last."""
        await self._filled.wait()
        if not self._events:
            return None
        event = self._events.popleft()
        self._frames -= _frames(event)
        if self._frames < self._limit_frames:
            self._room.set()
        if not self._events and not self._closed:
            self._filled.clear()
        return event


def _frames(event: Event) -> int:
    return len(event.samples) if isinstance(event, Audio) else 0
