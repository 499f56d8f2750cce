"""The last minute in numbers, in memory that never grows."""

from __future__ import annotations

from collections import Counter, deque

import numpy as np

from .clock import Clock
from .metrics import Ending

__all__ = ["Recent", "Window"]

_OUTCOMES = ("ok", "cancelled", "client_gone", "shed", "error")


class Recent:
    """The values of the last `window_ms`, at most the newest `limit` of them."""

    def __init__(self, clock: Clock, window_ms: float, limit: int = 4_096) -> None:
        self._clock = clock
        self._window_ms = window_ms
        self._times_ms = np.full(limit, -np.inf)
        self._values = np.zeros(limit)
        self._next = 0

    def add(self, value: float) -> None:
        """Keep a value that was seen now."""
        self._times_ms[self._next] = self._clock.now_ms()
        self._values[self._next] = value
        self._next = (self._next + 1) % self._values.size

    def quantiles(self, *shares: float) -> tuple[float | None, ...]:
        """The values below which those shares of all lie; None where there is none."""
        values = self._seen(self._window_ms)
        if not values.size:
            return (None,) * len(shares)
        return tuple(float(value) for value in np.quantile(values, shares))

    def most(self, within_ms: float) -> float:
        """The largest value of that time; 0 where there is none."""
        values = self._seen(within_ms)
        return float(values.max()) if values.size else 0.0

    def _seen(self, within_ms: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return self._values[self._times_ms > self._clock.now_ms() - within_ms]


class Window:
    """How utterances went in the last `window_s` seconds, and since the start where a name says total.

    Hand `ended` to `Metrics.listen`, and the loop's lateness to `lag`.
    """

    def __init__(self, clock: Clock, window_s: float = 60.0) -> None:
        self.window_s = window_s
        self.outcomes_total: Counter[str] = Counter(dict.fromkeys(_OUTCOMES, 0))
        self.busy_total: Counter[str] = Counter()
        self.underruns_total = 0
        self._clock = clock
        self._counts: deque[tuple[int, Counter[str]]] = deque()
        window_ms = window_s * 1000
        self.ttfa_ms = Recent(clock, window_ms)
        self.perceived_ttfa_ms = Recent(clock, window_ms)
        self.rtf = Recent(clock, window_ms)
        self.queue_wait_ms = Recent(clock, window_ms)
        self.synthesis_ms = Recent(clock, window_ms)
        self.lag_ms = Recent(clock, window_ms, 1_024)

    def ended(self, ending: Ending) -> None:
        """Take in how an utterance ended."""
        counts = self._now()
        counts[f"outcome {ending.outcome}"] += 1
        self.outcomes_total[ending.outcome] += 1
        if ending.outcome == "shed":
            self.busy_total[ending.reason or ending.code or "full"] += 1
        timeline = ending.timeline
        if timeline is None:
            return
        counts["underruns"] += timeline.underruns
        self.underruns_total += timeline.underruns
        for kept, value in (
            (self.ttfa_ms, timeline.ttfa_ms),
            (self.perceived_ttfa_ms, timeline.perceived_ttfa_ms),
            (self.rtf, timeline.rtf),
        ):
            if value is not None:
                kept.add(value)
        if timeline.admitted_ms is not None:
            self.queue_wait_ms.add(timeline.admitted_ms - timeline.received_ms)
        for segment in timeline.segments:
            self.synthesis_ms.add(segment.synthesis_ms)

    @property
    def outcomes(self) -> dict[str, int]:
        """Utterances that ended in the window, by their outcome."""
        known = dict.fromkeys(_OUTCOMES, 0)
        for name, count in self._sum().items():
            kind, _, outcome = name.partition(" ")
            if kind == "outcome":
                known[outcome] = known.get(outcome, 0) + count
        return known

    @property
    def underruns(self) -> int:
        """Times that a listener ran dry, of the utterances that ended in the window."""
        return self._sum()["underruns"]

    def _now(self) -> Counter[str]:
        """The counts of this second."""
        second = int(self._clock.now_ms() // 1000)
        if not self._counts or self._counts[-1][0] != second:
            self._counts.append((second, Counter()))
        self._forget()
        return self._counts[-1][1]

    def _sum(self) -> Counter[str]:
        self._forget()
        total: Counter[str] = Counter()
        for _, counts in self._counts:
            total.update(counts)
        return total

    def _forget(self) -> None:
        oldest = self._clock.now_ms() / 1000 - self.window_s
        while self._counts and self._counts[0][0] < oldest:
            self._counts.popleft()
