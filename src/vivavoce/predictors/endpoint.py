"""One predictor of a pool: whether it may be used, and how it compares with the others. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

from ..clock import Clock
from ..engines.base import Origin
from .discovery import Target
from .info import EndpointInfo
from .patience import Patience
from .remote import RemotePredictor

__all__ = ["SLOW_START_MS", "Endpoint", "EndpointState", "Result", "State"]

State = Literal["unready", "ready", "slow_start", "ejected", "leaving"]
Result = Literal["ok", "refused", "rejected", "failed", "timeout", "unreachable", "cancelled"]

SLOW_START_MS = 10_000.0
_LEAST_WEIGHT = 0.1
_FAILURES_TO_EJECT = 3
_PROBES_TO_DOUBT = 2
_FIRST_EJECTION_MS, _LONGEST_EJECTION_MS = 1_000.0, 60_000.0
_FIRST_FULL_MS, _LONGEST_FULL_MS = 10.0, 200.0


@dataclass(frozen=True, slots=True)
class EndpointState:
    """A predictor as /stats and the metrics show it."""

    endpoint: str
    tier: str
    node: str
    model: str
    state: State
    slots: int
    streams: int
    outstanding: int
    requests: int
    failures: int
    info: EndpointInfo


class Endpoint:
    """A predictor's health, as its probes and its jobs tell it.

    It becomes ready by a good probe. One that joins others may start slowly: for ten seconds it is weighed lighter than
    it is. Three failures in a row eject it, for a second at first and twice as long each time, up
    to a minute; then a good probe brings it back. A connection that does not come about makes it unready at once.
    """

    def __init__(self, target: Target, predictor: RemotePredictor, clock: Clock) -> None:
        self.target = target
        self.predictor = predictor
        self.waits: set[Patience] = set()
        """Those of the jobs that are there."""
        self.outstanding = 0
        self.requests = 0
        self.failures = 0
        self.is_leaving = False
        self.proved_ms = -inf
        """When it last answered a probe well."""
        self._clock = clock
        self._is_up = False
        self._slow_until_ms = 0.0
        self._ejected_until_ms = 0.0
        self._ejection_ms = _FIRST_EJECTION_MS
        self._is_ejected = False
        self._failed_in_a_row = 0
        self._doubts = 0
        self._full_until_ms = 0.0
        self._full_ms = _FIRST_FULL_MS

    @property
    def info(self) -> EndpointInfo:
        """What it told about itself."""
        return self.predictor.info

    @property
    def tier(self) -> str:
        """Where it belongs, by the configuration; that decides who is used first."""
        return self.target.tier

    @property
    def origin(self) -> Origin:
        """How its chunks name it, where they say no more."""
        return Origin(self.target.url, self.tier, self.info.node or self.target.node, self.info.model)

    @property
    def state(self) -> State:
        """Its health now."""
        if self.is_leaving:
            return "leaving"
        if self._is_ejected:
            return "ejected"
        if not self._is_up:
            return "unready"
        return "slow_start" if self._clock.now_ms() < self._slow_until_ms else "ready"

    @property
    def is_ready(self) -> bool:
        """Whether jobs may go there."""
        return self._is_up and not self._is_ejected and not self.is_leaving

    @property
    def slots(self) -> int:
        """How many jobs it can take now."""
        return self.predictor.slots if self.is_ready else 0

    @property
    def is_full(self) -> bool:
        """Whether all its slots are taken, by this gateway's jobs or, a moment ago, by others'."""
        return self.outstanding >= self.slots or self._clock.now_ms() < self._full_until_ms

    @property
    def full_for_ms(self) -> float:
        """How long it is taken for full because of a refusal."""
        return max(0.0, self._full_until_ms - self._clock.now_ms())

    @property
    def load(self) -> float:
        """What share of it one more job would take; the least loaded is used first."""
        weight = 1.0
        left_ms = self._slow_until_ms - self._clock.now_ms()
        if left_ms > 0:
            weight = max(_LEAST_WEIGHT, 1.0 - left_ms / SLOW_START_MS)
        return (self.outstanding + 1) / (max(1, self.predictor.slots) * weight)

    @property
    def is_doubted(self) -> bool:
        """Whether its last probe was late."""
        return self._doubts > 0

    def probed(self, *, starts_slowly: bool) -> bool:
        """Note a good probe; true where it has become ready by it."""
        self._doubts = 0
        self.proved_ms = now_ms = self._clock.now_ms()
        if self._is_ejected and now_ms < self._ejected_until_ms:
            return False
        if self.is_ready or self.is_leaving:
            return False
        self._is_up, self._is_ejected, self._failed_in_a_row = True, False, 0
        self._full_until_ms = 0.0
        self._slow_until_ms = now_ms + SLOW_START_MS if starts_slowly else 0.0
        return True

    def probe_failed(self, *, is_certain: bool) -> bool:
        """Note a bad probe; true where it is no longer ready. One that may only have been late needs a second one."""
        self._doubts = 0 if is_certain else self._doubts + 1
        if not is_certain and self._doubts < _PROBES_TO_DOUBT:
            return False
        was_up, self._is_up, self._doubts = self._is_up, False, 0
        return was_up

    def began(self) -> None:
        """A job is on its way there."""
        self.outstanding += 1
        self.requests += 1

    def ended(self, result: Result, *, others_ready: bool) -> bool:
        """A job is over; true where the endpoint is no longer ready because of it. The last one is never ejected."""
        self.outstanding -= 1
        if result == "ok":
            self._failed_in_a_row = 0
            self._full_until_ms, self._full_ms = 0.0, _FIRST_FULL_MS
            if self.state == "ready":
                self._ejection_ms = _FIRST_EJECTION_MS
        elif result == "refused":
            self._full_until_ms = self._clock.now_ms() + self._full_ms
            self._full_ms = min(2 * self._full_ms, _LONGEST_FULL_MS)
        elif result == "unreachable":
            self.failures += 1
            was_up, self._is_up = self._is_up, False
            return was_up
        elif result in ("failed", "timeout"):
            self.failures += 1
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= _FAILURES_TO_EJECT and others_ready and self.is_ready:
                self._eject()
                return True
        return False

    def _eject(self) -> None:
        self._is_ejected = True
        self._failed_in_a_row = 0
        self._ejected_until_ms = self._clock.now_ms() + self._ejection_ms
        self._ejection_ms = min(2 * self._ejection_ms, _LONGEST_EJECTION_MS)

    def shown(self) -> EndpointState:
        """Its state for a person."""
        info, told = self.info, self.target
        return EndpointState(
            endpoint=told.url,
            tier=info.tier or told.tier,
            node=info.node or told.node,
            model=info.model,
            state=self.state,
            slots=self.slots,
            streams=self.predictor.streams("") if self.is_ready else 0,
            outstanding=self.outstanding,
            requests=self.requests,
            failures=self.failures,
            info=info,
        )
