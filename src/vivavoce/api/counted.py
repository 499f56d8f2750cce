"""Knows how many phrases are being made."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from ..engines.base import Chunk
from ..predictors.base import Deadline, Job, Predictor

__all__ = ["CountedPredictor"]


class CountedPredictor:
    """Passes jobs on to `inner`; `busy` is how many of them are under way."""

    def __init__(self, inner: Predictor) -> None:
        self._inner = inner
        self.busy = 0

    @property
    def slots(self) -> int:
        """As many as the inner predictor has."""
        return self._inner.slots

    def streams(self, voice: str) -> int:
        """As many as the inner predictor keeps up with."""
        return self._inner.streams(voice)

    def rate_hz(self, voice: str) -> int:
        """The sample rate of that voice's chunks."""
        return self._inner.rate_hz(voice)

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        """Speak the job. Raises what the inner predictor raises."""
        self.busy += 1
        try:
            async with aclosing(self._inner.synthesize(job, deadline)) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            self.busy -= 1
