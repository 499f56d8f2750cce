"""One job on its way through a pool: where it may still go. No I/O."""

from __future__ import annotations

import asyncio
from math import inf

from ..errors import Busy, PredictorFailed, VivavoceError
from .base import Deadline, Job
from .endpoint import Endpoint
from .faults import BrokenOff, OutOfPatience, Unreachable
from .patience import Patience

__all__ = ["Tries"]


class Tries:
    """One job on its way through the pool; `attempt` counts how often it was made, or begun to be made, by now."""

    def __init__(self, job: Job, deadline: Deadline | None, patience: Patience) -> None:
        self.job = job
        self.deadline = deadline
        self.patience = patience
        self.stumbled: dict[Endpoint, float] = {}
        self.error: VivavoceError | None = None
        self.granted: asyncio.Future[Endpoint]
        self.attempt = 1

    @property
    def due_ms(self) -> float:
        """When its listener runs dry; a job without a deadline is due at once."""
        return -inf if self.deadline is None else self.deadline()

    def allows(self, endpoint: Endpoint) -> bool:
        """Whether the job may go there: where it stumbled, only once that has proved to be well again."""
        stumbled_ms = self.stumbled.get(endpoint)
        return stumbled_ms is None or endpoint.proved_ms > stumbled_ms

    def may_go_on(self, endpoint: Endpoint, error: VivavoceError, now_ms: float, ready: list[Endpoint]) -> bool:
        """Note how an endpoint failed; whether the job may be tried elsewhere."""
        self.error = error
        if isinstance(error, Busy):
            return True
        if isinstance(error, Unreachable):
            self.stumbled[endpoint] = inf if endpoint in self.stumbled else now_ms
            return True
        if not isinstance(error, PredictorFailed) or isinstance(error, OutOfPatience) or self.attempt > 1:
            return False
        self.attempt += 1
        self.stumbled[endpoint] = now_ms if isinstance(error, BrokenOff) else inf
        return isinstance(error, BrokenOff) or any(self.allows(other) for other in ready)
