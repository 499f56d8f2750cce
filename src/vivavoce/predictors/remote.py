"""What a pool asks of each of its predictors."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from ..engines.base import Chunk
from .base import Deadline, Job, Predictor
from .info import EndpointInfo
from .patience import Patience

__all__ = ["RemotePredictor", "Times"]


@dataclass(frozen=True, slots=True)
class Times:
    """How long one predictor may take: for a job, and for the question whether it is ready."""

    request_s: float = 30.0
    probe_s: float = 2.0


class RemotePredictor(Predictor, Protocol):
    """A predictor at one address, which may come and go."""

    info: EndpointInfo

    async def probe(self) -> EndpointInfo:
        """Ask whether it is ready, and what it is. Raises PredictorFailed or Busy where it is not."""
        ...

    def synthesize(
        self, job: Job, deadline: Deadline | None = None, *, patience: Patience | None = None
    ) -> AsyncGenerator[Chunk]:
        """Speak the job; `patience` is what is left of a wait that began elsewhere."""
        ...
