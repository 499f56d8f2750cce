"""From one sample rate to another, while it streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OutOfRange
from .pcm import Samples, finite

__all__ = ["MAX_RATE_HZ", "MIN_RATE_HZ", "RATES_HZ", "Resampler"]

RATES_HZ = (8_000, 16_000, 22_050, 24_000, 44_100, 48_000)
MIN_RATE_HZ = 8_000
MAX_RATE_HZ = 48_000

_EMPTY: Samples = np.zeros(0, dtype=np.float32)


class Resampler:
    """Streams samples from one rate to another; n samples become exactly round(n x to / from).

    Every rate from 8 to 48 kHz works, not only `RATES_HZ`. Equal rates pass through untouched. The filter keeps up to
    some 80 ms of sound back until more comes or `flush`; there is no shift in time. After `flush` a new stream may
    begin. Raises OutOfRange for other rates.
    """

    def __init__(self, from_hz: int, to_hz: int) -> None:
        for rate_hz in (from_hz, to_hz):
            if not MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ:
                raise OutOfRange(
                    f"sample rate {rate_hz} Hz is not between {MIN_RATE_HZ} and {MAX_RATE_HZ} Hz", param="sample_rate"
                )
        self.from_hz = from_hz
        self.to_hz = to_hz
        self._stream: Any = None
        self._frames_in = 0
        self._frames_out = 0

    @property
    def identity(self) -> bool:
        """Whether nothing is changed."""
        return self.from_hz == self.to_hz

    def feed(self, samples: Samples) -> Samples:
        """Take samples at `from_hz`, give those at `to_hz` that are ready."""
        fed = finite(samples)
        if self.identity or not fed.size:
            return fed
        if self._stream is None:
            import soxr

            self._stream = soxr.ResampleStream(self.from_hz, self.to_hz, 1, dtype="float32", quality="HQ")
        out: Samples = self._stream.resample_chunk(fed)
        self._frames_in += fed.size
        self._frames_out += out.size
        return out

    def flush(self) -> Samples:
        """End the stream: give the rest, to the exact total length."""
        if self._stream is None:
            return _EMPTY
        rest: Samples = self._stream.resample_chunk(_EMPTY, last=True)
        due = (2 * self._frames_in * self.to_hz + self.from_hz) // (2 * self.from_hz) - self._frames_out
        self._stream = None
        self._frames_in = self._frames_out = 0
        if rest.size < due:
            return np.concatenate((rest, np.zeros(due - rest.size, dtype=np.float32)))
        return rest[: max(0, due)]
