"""Loudness from segment to segment."""

from __future__ import annotations

import math

import numpy as np

from .pcm import Samples, finite, frames_in

__all__ = ["Leveler"]

_EMPTY: Samples = np.zeros(0, dtype=np.float32)

_WINDOW_MS = 20.0
# Windows further under the loudest one are pauses and soft sounds; loudness is that of the vowels.
_GATE_RANGE = 10.0 ** (-25.0 / 10.0)
_GATE_FLOOR = 10.0 ** (-50.0 / 10.0)
# A difference under this is not noticed between two sentences.
_DEAD_ZONE_DB = 1.0
# As many voiced windows as this (0.5 s) make an estimate half trusted: sentences begin louder than they end.
_HALF_TRUST = 25
# The reference remembers about this many voiced windows (10 s).
_MEMORY = 500
# Slow enough not to be heard while somebody speaks.
_SLEW_DB_PER_S = 4.0


class Leveler:
    """Brings each segment gently towards the loudness of the utterance so far, within +-`max_db`.

    Call `start_segment` before each segment. Nothing is delayed: a segment begins with a gain guessed from the first
    samples fed, trusted the more the longer they sound, and slides as more is known. The first segment passes bit for
    bit. Lengths never change.
    """

    def __init__(self, rate_hz: int, max_db: float = 3.0) -> None:
        self._rate_hz = rate_hz
        self._max_db = max_db
        self._window = max(1, frames_in(_WINDOW_MS, rate_hz))
        self._partial = _EMPTY
        self._loudest = 0.0
        self._reference = 0.0
        self._reference_weight = 0
        self._power_in = 0.0
        self._power_out = 0.0
        self._voiced = 0
        self.gain_db = 0.0

    def start_segment(self) -> None:
        """Begin the next segment; what the last one sounded like joins the reference."""
        if self._voiced:
            weight = self._reference_weight
            self._reference = (self._reference * weight + self._power_out) / (weight + self._voiced)
            self._reference_weight = min(weight + self._voiced, _MEMORY)
        self._partial = _EMPTY
        self._power_in = self._power_out = 0.0
        self._voiced = 0
        self.gain_db = 0.0

    def feed(self, samples: Samples) -> Samples:
        """Take the segment's next samples, give as many back."""
        fed = finite(samples)
        if not fed.size:
            return fed
        opening = not self._voiced
        power, voiced = self._measure(fed)
        self._power_in += power
        self._voiced += voiced
        before = self.gain_db
        if self._reference_weight and self._voiced:
            wanted = self._wanted_db()
            step = _SLEW_DB_PER_S * fed.size / self._rate_hz
            self.gain_db = wanted if opening else before + min(step, max(-step, wanted - before))
        gain = 10.0 ** (self.gain_db / 20.0)
        self._power_out += power * gain * gain
        if self.gain_db == 0.0 and before == 0.0:
            return fed
        if opening or before == self.gain_db:
            return fed * np.float32(gain)
        return fed * np.linspace(10.0 ** (before / 20.0), gain, fed.size, dtype=np.float32)

    def _measure(self, fed: Samples) -> tuple[float, int]:
        """Give the summed mean squares of the voiced windows that are complete now, and their count."""
        joined = np.concatenate((self._partial, fed)) if self._partial.size else fed
        whole = joined.size - joined.size % self._window
        self._partial = joined[whole:].copy()
        if not whole:
            return 0.0, 0
        windows = joined[:whole].reshape(-1, self._window)
        powers = np.einsum("ij,ij->i", windows, windows).astype(np.float64) / self._window
        self._loudest = max(self._loudest, float(powers.max()))
        voiced = powers[powers > max(_GATE_FLOOR, self._loudest * _GATE_RANGE)]
        return float(voiced.sum()), int(voiced.size)

    def _wanted_db(self) -> float:
        """Give the gain for what is known of this segment."""
        difference = 10.0 * math.log10(self._reference * self._voiced / self._power_in)
        trusted = difference * self._voiced / (self._voiced + _HALF_TRUST)
        noticed = max(0.0, abs(trusted) - _DEAD_ZONE_DB)
        return math.copysign(min(self._max_db, noticed), trusted)
