"""Peaks that would clip."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from .pcm import Samples, finite, frames_in

__all__ = ["Limiter"]

_EMPTY: Samples = np.zeros(0, dtype=np.float32)

# Longer blocks would let the release envelope's powers leave the range of a double.
_BLOCK_MS = 1000.0
_NOTHING = 1e-6


class Limiter:
    """Keeps every sample within `ceiling_db` dBFS by turning the gain down in time, never by cutting the wave.

    Sound under the ceiling passes bit for bit. The gain falls over `lookahead_ms` ahead of a peak and recovers over
    `release_ms`. `feed` keeps the last `lookahead_ms` back (nothing is shifted); `flush` gives them.
    """

    def __init__(
        self, rate_hz: int, ceiling_db: float = -1.0, lookahead_ms: float = 4.0, release_ms: float = 60.0
    ) -> None:
        self._ceiling = float(10.0 ** (ceiling_db / 20.0))
        self._ahead = max(1, frames_in(lookahead_ms, rate_hz))
        self._decay_log = -1.0 / max(1, frames_in(release_ms, rate_hz))
        self._block = frames_in(_BLOCK_MS, rate_hz)
        self._restart()

    def _restart(self) -> None:
        """Forget all sound."""
        self._held = _EMPTY
        # The reduction asked for by each held sample, and the reductions already decided for the samples before them.
        self._asked = np.zeros(0, dtype=np.float64)
        self._decided = np.zeros(self._ahead - 1, dtype=np.float64)
        self._last_asked = 0.0
        self._calm = True
        self._begun = False

    def feed(self, samples: Samples) -> Samples:
        """Take samples, give those whose gain is decided."""
        fed = finite(samples)
        if not fed.size:
            return _EMPTY
        if fed.size <= self._block or (self._calm and _peak(fed) <= self._ceiling):
            return self._feed_block(fed)
        return np.concatenate(
            [self._feed_block(fed[start : start + self._block]) for start in range(0, fed.size, self._block)]
        )

    def flush(self) -> Samples:
        """End the stream: give what was kept back."""
        held = self._held
        if held.size and not self._calm:
            held = self._apply(np.concatenate((self._asked, np.zeros(self._ahead - 1))), held)
        self._restart()
        return held

    def _feed_block(self, fed: Samples) -> Samples:
        joined = np.concatenate((self._held, fed)) if self._held.size else fed
        ready = max(0, joined.size - (self._ahead - 1))
        if self._calm and _peak(fed) <= self._ceiling:
            self._held = joined[ready:].copy()
            self._begun = self._begun or ready > 0
            return joined[:ready]
        if self._calm:
            self._calm = False
            self._asked = np.zeros(self._held.size, dtype=np.float64)
        asked = np.concatenate((self._asked, self._envelope(fed)))
        out = self._apply(asked, joined[:ready])
        self._held, self._asked = joined[ready:].copy(), asked[ready:]
        if self._last_asked == 0.0 and not self._asked.any() and not self._decided.any():
            self._calm = True
        return out

    def _envelope(self, fed: Samples) -> npt.NDArray[np.float64]:
        """Give the reduction (1 - gain) each sample asks for, recovering exponentially after a peak."""
        level = np.maximum(np.abs(fed).astype(np.float64), self._ceiling)
        needed = 1.0 - self._ceiling / level
        growth = np.exp(-self._decay_log * np.arange(1, fed.size + 1))
        envelope: npt.NDArray[np.float64] = (
            np.maximum.accumulate(np.maximum(needed * growth, self._last_asked)) / growth
        )
        envelope[envelope < _NOTHING] = 0.0
        np.maximum(envelope, needed, out=envelope)
        self._last_asked = float(envelope[-1])
        return envelope

    def _apply(self, asked: npt.NDArray[np.float64], samples: Samples) -> Samples:
        """Scale samples by their gain: the mean, over the look-ahead, of the largest reduction asked for within it.

        Every mean at a peak is taken over windows that all contain the peak, so it is never under what the peak needs.
        """
        if not samples.size:
            return samples
        largest = sliding_window_view(asked, self._ahead)[: samples.size].max(axis=1)
        if not self._begun:
            # Nothing was heard yet that the gain would have to fall from: it starts where the first peak needs it.
            self._begun = True
            self._decided = np.full(self._ahead - 1, largest[0])
        decided = np.concatenate((self._decided, largest))
        sums = np.cumsum(np.concatenate((np.zeros(1), decided)))
        reduction = np.clip((sums[self._ahead :] - sums[: -self._ahead]) / self._ahead, 0.0, 1.0)
        reduction[reduction < _NOTHING] = 0.0
        self._decided = decided[decided.size - (self._ahead - 1) :]
        out: Samples = (samples * (1.0 - reduction)).astype(np.float32)
        return out


def _peak(samples: Samples) -> float:
    return max(float(samples.max()), -float(samples.min()))
