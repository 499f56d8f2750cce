"""How the server is doing, in one object that is ready for JSON."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from .clock import Clock
from .metrics import Metrics
from .readings import FLOOR, PredictorState, Reading
from .window import Recent, Window

__all__ = ["Stats"]

_TICK_S = 0.1
_LAG_WITHIN_MS = 10_000.0
_POINT_EVERY_MS = 1_000.0
_PREDICTOR_FIELDS = (
    "endpoint",
    "tier",
    "node",
    "model",
    "state",
    "slots",
    "streams",
    "outstanding",
    "requests",
    "failures",
)


class Stats:
    """What `/stats` shows: the window, what is the case now, and a point a second of how that went.

    `run` measures the event loop and adds the points for as long as the server lives; `noted` counts them. At most
    `listener_limit` clients follow at once.
    """

    def __init__(
        self,
        metrics: Metrics,
        clock: Clock,
        *,
        window_s: float = 60.0,
        now_s: Callable[[], float] = time.time,
        listener_limit: int = 64,
        every_s: float = 1.0,
    ) -> None:
        self.every_s = every_s
        self.listener_limit = listener_limit
        self.listeners = 0
        self._metrics = metrics
        self._clock = clock
        self._now_s = now_s
        self._window = Window(clock, window_s)
        self._history: deque[dict[str, Any]] = deque(maxlen=int(window_s))
        self.noted = 0
        self._over = asyncio.Event()
        metrics.listen(self._window.ended)
        metrics.loop_lag.set_function(lambda: self._window.lag_ms.most(_LAG_WITHIN_MS) / 1000)

    async def run(self) -> None:
        """Watch the event loop, and note every second how the server is doing, until cancelled."""
        noted_ms = -_POINT_EVERY_MS
        while True:
            before_ms = self._clock.now_ms()
            await asyncio.sleep(_TICK_S)
            now_ms = self._clock.now_ms()
            self._window.lag_ms.add(max(0.0, now_ms - before_ms - _TICK_S * 1000))
            if now_ms - noted_ms >= _POINT_EVERY_MS:
                noted_ms = now_ms
                self._history.append(self._point())
                self.noted += 1

    def close(self) -> None:
        """End every stream of numbers."""
        self._over.set()

    async def over_within(self, limit_s: float) -> bool:
        """Whether the streams are to end; waits for it, at most that long."""
        try:
            async with asyncio.timeout(limit_s):
                await self._over.wait()
        except TimeoutError:
            return False
        return True

    def now(self, since: int = 0) -> dict[str, Any]:
        """Everything, ready for JSON: times in ms, shares as ratios, `null` where nothing was seen.

        Of the history only what came after the first `since` points that were ever `noted`.
        """
        window, reading = self._window, self._metrics.read()
        return {
            "window_s": window.window_s,
            "ttfa_ms": _spread(window.ttfa_ms),
            "perceived_ttfa_ms": _spread(window.perceived_ttfa_ms),
            "rtf": _spread(window.rtf, 5),
            "queue_wait_ms": _spread(window.queue_wait_ms),
            "synthesis_ms": _spread(window.synthesis_ms),
            "event_loop_lag_ms": _spread(window.lag_ms) | {"p99": _rounded(window.lag_ms.quantiles(0.99)[0], 2)},
            **_load(reading),
            "connections": reading.connections,
            "slots": reading.slots,
            "slots_busy": reading.slots_busy,
            "outcomes": window.outcomes,
            "outcomes_total": dict(window.outcomes_total),
            "busy_total": sum(window.busy_total.values()),
            "busy_by_reason": dict(window.busy_total),
            "underruns": window.underruns,
            "underruns_total": window.underruns_total,
            "predictors": _shown(reading.predictors),
            "history": list(self._history)[max(0, len(self._history) - (self.noted - since)) :],
        }

    def _point(self) -> dict[str, Any]:
        window, reading = self._window, self._metrics.read()
        ttfa = _spread(window.ttfa_ms)
        return {
            "time_s": round(self._now_s(), 1),
            "ttfa_p50_ms": ttfa["p50"],
            "ttfa_p95_ms": ttfa["p95"],
            "rtf_p50": _spread(window.rtf, 5)["p50"],
            **_load(reading),
            "ended_total": sum(window.outcomes_total.values()),
            "busy_total": sum(window.busy_total.values()),
        }


def _load(reading: Reading) -> dict[str, Any]:
    """Demand and capacity; `backlog` is what `predictor_backlog_streams` is made of."""
    capacity = {FLOOR: 0.0} | dict(reading.capacity)
    return {
        "streams": reading.streams,
        "queue": reading.queue,
        "capacity": _whole(sum(capacity.values())),
        "capacity_by_tier": {tier: _whole(streams) for tier, streams in capacity.items()},
        "backlog": _whole(max(0.0, reading.streams + reading.queue - capacity[FLOOR])),
    }


def _shown(predictors: Sequence[PredictorState]) -> list[dict[str, Any]]:
    return [{name: getattr(predictor, name) for name in _PREDICTOR_FIELDS} for predictor in predictors]


def _spread(recent: Recent, digits: int = 2) -> dict[str, float | None]:
    p50, p95 = recent.quantiles(0.5, 0.95)
    return {"p50": _rounded(p50, digits), "p95": _rounded(p95, digits)}


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def _whole(streams: float) -> float | int:
    return int(streams) if streams == int(streams) else round(streams, 2)
