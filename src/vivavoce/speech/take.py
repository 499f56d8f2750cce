"""One job on its way from chunks to sound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..audio import MAX_RATE_HZ, MIN_RATE_HZ
from ..clock import Clock
from ..engines.base import Chunk, Origin, Samples
from ..errors import PredictorFailed
from .mixer import Mixer
from .slots import Ticket

__all__ = ["Take"]

_NOTHING: Samples = np.zeros(0, np.float32)


class Take:
    """Feeds one job's chunks to the mixer, at whatever rate they come, and notes how long they took and where from.

    `ticket` is the job's deadline. `rate_hz` is asked where a chunk says no rate. `synthesis_ms` leaves out the wait
    for a slot; `retries` counts how often the job was made again, whichever endpoint did it.
    """

    def __init__(self, mixer: Mixer, clock: Clock, ticket: Ticket, rate_hz: Callable[[], int]) -> None:
        self._mixer = mixer
        self._clock = clock
        self._default_hz = rate_hz
        self._rate_hz = 0
        self._began_ms = mixer.position_ms
        self._asked_ms = clock.now_ms()
        self.ticket = ticket
        self.synthesis_ms = 0.0
        self.retries = 0
        self.origin: Origin | None = None

    @property
    def slot_ms(self) -> float:
        """When the job could begin: with its slot, or at once where it needed none."""
        return self._asked_ms if self.ticket.slot_ms is None else self.ticket.slot_ms

    @property
    def sounded(self) -> bool:
        """Whether anything of it is to be heard."""
        return self._mixer.position_ms > self._began_ms

    @property
    def origin_ms(self) -> float:
        """Where the job's first sample, before trimming, lies in the utterance."""
        return self._mixer.origin_ms if self._rate_hz else self._mixer.position_ms

    def feed(self, chunk: Chunk) -> Samples:
        """Take the next chunk. Raises PredictorFailed where its rate is none."""
        self._lap()
        if chunk.origin is not None:
            self.retries = max(self.retries, chunk.origin.attempt - 1)
            self.origin = chunk.origin
        if not chunk.samples.size:
            return _NOTHING
        out = _NOTHING
        rate_hz = chunk.rate_hz or self._rate_hz or self._default_hz()
        if rate_hz != self._rate_hz:
            out = self._begin(rate_hz)
        fed = self._mixer.feed(chunk.samples)
        return np.concatenate((out, fed)) if out.size else fed

    def end(self) -> Samples:
        """The rest of the job's sound."""
        self._lap()
        return self._mixer.end() if self._rate_hz else _NOTHING

    def _begin(self, rate_hz: int) -> Samples:
        if not MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ:
            raise PredictorFailed(f"The predictor's sample rate of {rate_hz} Hz cannot be played.")
        rest = self._mixer.end() if self._rate_hz else _NOTHING
        self._mixer.begin(rate_hz)
        self._rate_hz = rate_hz
        return rest

    def _lap(self) -> None:
        self.synthesis_ms = self._clock.now_ms() - self._asked_ms - self.ticket.waited_ms
