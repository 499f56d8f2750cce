"""How long one job may keep its listener waiting for a predictor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from .faults import OutOfPatience

__all__ = ["Patience"]

T = TypeVar("T")


class Patience:
    """Bounds the time that is spent waiting for others, over all waits of one job; a slow reader costs none of it."""

    __slots__ = ("left_s", "limit_s")

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self.left_s = limit_s

    async def wait(self, work: Awaitable[T]) -> T:
        """Await the work. Raises OutOfPatience once the limit is spent."""
        loop = asyncio.get_running_loop()
        since_s = loop.time()
        try:
            async with asyncio.timeout(self.left_s) as bound:
                return await work
        except TimeoutError:
            if not bound.expired():
                raise
            raise OutOfPatience(f"The predictor did not answer within {self.limit_s:g} s.") from None
        finally:
            self.left_s -= loop.time() - since_s
