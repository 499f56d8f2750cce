"""Time as a dependency, so that tests own it."""

from __future__ import annotations

import time
from typing import Protocol

__all__ = ["Clock", "MonotonicClock"]


class Clock(Protocol):
    """Reads a clock that never goes backwards."""

    def now_ms(self) -> float:
        """Milliseconds since an arbitrary start."""
        ...


class MonotonicClock:
    """The machine's own monotonic clock."""

    def now_ms(self) -> float:
        """Milliseconds since an arbitrary start."""
        return time.perf_counter() * 1000.0
