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

# What comes in may be a recording: telephone loops are slower, studio files faster than anything sent out.
_MIN_FROM_HZ = 1_000
_MAX_FROM_HZ = 768_000

_EMPTY: Samples = np.zeros(0, dtype=np.float32)


class Resampler:
    """Streams samples from one rate to another; n samples become exactly round(n x to / from).

    Sound goes out at any rate from 8 to 48 kHz, not only at `RATES_HZ`, and comes in at any from 1 to 768 kHz. Equal
    rates pass through untouched. The filter keeps up to some 80 ms of sound back until more comes or `flush`; there is
    no shift in time. After `flush` a new stream may begin. Raises OutOfRange for other rates.
    """

    def __init__(self, from_hz: int, to_hz: int) -> None:
        for rate_hz, least_hz, most_hz in ((from_hz, _MIN_FROM_HZ, _MAX_FROM_HZ), (to_hz, MIN_RATE_HZ, MAX_RATE_HZ)):
            if not least_hz <= rate_hz <= most_hz:
                raise OutOfRange(
                    f"sample rate {rate_hz} Hz is not between {least_hz} and {most_hz} Hz", param="sample_rate"
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
