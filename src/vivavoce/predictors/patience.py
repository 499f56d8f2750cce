"""How long one job may keep its listener waiting for a predictor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from .faults import BrokenOff, OutOfPatience

__all__ = ["Patience"]

T = TypeVar("T")


class Patience:
    """Bounds the time that is spent waiting for others, over all waits of one job; a slow reader costs none of it.

    Whoever knows that the other side is gone ends the wait with `lose`.
    """

    __slots__ = ("_bound", "_is_lost", "_moved_s", "left_s", "limit_s")

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self.left_s = limit_s
        self._bound: asyncio.Timeout | None = None
        self._is_lost = False
        self._moved_s = 0.0

    async def wait(self, work: Awaitable[T]) -> T:
        """Await the work. Raises OutOfPatience once the limit is spent, BrokenOff once the other side is lost."""
        loop = asyncio.get_running_loop()
        since_s = loop.time()
        try:
            async with asyncio.timeout(0.0 if self._is_lost else self.left_s) as self._bound:
                result = await work
            self.moved()
            return result
        except TimeoutError:
            if self._bound is None or not self._bound.expired():
                raise
            if self._is_lost:
                raise BrokenOff("The predictor cannot be reached any more.") from None
            raise OutOfPatience(f"The predictor did not answer within {self.limit_s:g} s.") from None
        finally:
            self._bound = None
            self.left_s -= loop.time() - since_s

    def moved(self) -> None:
        """Something has come from the other side."""
        self._moved_s = asyncio.get_running_loop().time()

    def lose(self, since_s: float) -> None:
        """The other side is gone, and has been since that time of the loop; a wait that has moved since goes on."""
        if self._moved_s >= since_s:
            return
        self._is_lost = True
        if self._bound is not None:
            self._bound.reschedule(asyncio.get_running_loop().time())

    def anew(self) -> None:
        """The job goes to another side."""
        self._is_lost = False
