"""Knows how the engines of this process are doing, as a pool knows it of its predictors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from ..clock import Clock
from ..engines.base import Chunk
from ..errors import BadRequest, Busy, VivavoceError
from ..predictors.base import Around, Deadline, Job, Predictor
from ..readings import FLOOR

__all__ = ["CountedPredictor", "Here"]

Observe = Callable[[str, str, float], None]


@dataclass(frozen=True, slots=True)
class Here:
    """The engines of this process as one predictor, in the shape in which a pool shows its own."""

    slots: int
    streams: int
    outstanding: int
    requests: int
    failures: int
    state: str
    endpoint: str = "embedded"
    tier: str = FLOOR
    node: str = ""
    model: str = ""


class CountedPredictor(Around):
    """Passes jobs on to `inner`, counts them, and tells `observe` the tier, the result and the seconds of each."""

    def __init__(self, inner: Predictor, clock: Clock, observe: Observe | None = None) -> None:
        super().__init__(inner)
        self._clock = clock
        self._observe = observe
        self._requests = 0
        self._failures = 0
        self.busy = 0
        """Jobs that are under way."""

    def here(self, voice: str, *, ready: bool) -> Here:
        """How it is doing; `voice` is the one whose streams are told."""
        state = "ready" if ready else "unready"
        streams = self._inner.streams(voice) if ready else 0
        return Here(self._inner.slots, streams, self.busy, self._requests, self._failures, state)

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        """Speak the job. Raises what the inner predictor raises."""
        self.busy += 1
        self._requests += 1
        result, since_ms = "cancelled", self._clock.now_ms()
        try:
            async with aclosing(self._inner.synthesize(job, deadline)) as chunks:
                async for chunk in chunks:
                    if chunk.is_last:
                        result = "ok"  # whoever has it may not come back for the end
                    yield chunk
            result = "ok"
        except Exception as error:
            result = _result_of(error)
            self._failures += result == "failed"
            raise
        finally:
            self.busy -= 1
            if self._observe is not None:
                self._observe(FLOOR, result, (self._clock.now_ms() - since_ms) / 1000)


def _result_of(error: Exception) -> str:
    if isinstance(error, Busy):
        return "refused"
    is_callers = isinstance(error, BadRequest) or (isinstance(error, VivavoceError) and error.status < 500)
    return "rejected" if is_callers else "failed"
