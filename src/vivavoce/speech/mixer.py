"""Phrases from engines become one stream of sound at one rate."""

from __future__ import annotations

import numpy as np

from ..audio import Joiner, Leveler, Limiter, Resampler, Trimmer, silence
from ..engines.base import Samples

__all__ = ["Mixer"]

_NOTHING: Samples = np.zeros(0, np.float32)


class Mixer:
    """Trims, fades, resamples, levels and joins the phrases of one utterance, and limits their peaks.

    Call `begin` before each phrase, `feed` with its samples, `end` after it, `rest` for silence between phrases, and
    `finish` once at the end. Everything returned is mono float32 at `rate_hz`, to be played in that order.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._limiter = Limiter(rate_hz)
        self._leveler = Leveler(rate_hz)
        self._frames = 0
        self._began_at_frame = 0
        self._trimmer = Trimmer(rate_hz)
        self._joiner = Joiner(rate_hz)
        self._resampler = Resampler(rate_hz, rate_hz)

    @property
    def position_ms(self) -> float:
        """How much sound has been made, in ms; the next sample is heard then."""
        return self._frames * 1000 / self._rate_hz

    @property
    def origin_ms(self) -> float:
        """Where the current phrase's first sample, before trimming, lies in the utterance."""
        return self._began_at_frame * 1000 / self._rate_hz - self._trimmer.lead_cut_ms

    def begin(self, from_hz: int) -> None:
        """Start a phrase whose samples come at `from_hz`."""
        self._began_at_frame = self._frames
        self._trimmer = Trimmer(from_hz)
        self._joiner = Joiner(from_hz)
        self._resampler = Resampler(from_hz, self._rate_hz)
        self._leveler.start_segment()

    def feed(self, samples: Samples) -> Samples:
        """Take the phrase's next samples."""
        return self._speech(self._resampler.feed(self._joiner.feed(self._trimmer.feed(samples))))

    def end(self) -> Samples:
        """End the phrase; its trailing silence is dropped."""
        rest = np.concatenate((self._joiner.feed(self._trimmer.flush()), self._joiner.end()))
        return self._speech(np.concatenate((self._resampler.feed(rest), self._resampler.flush())))

    def rest(self, duration_ms: float) -> Samples:
        """Silence between phrases."""
        return self._out(silence(duration_ms, self._rate_hz))

    def finish(self) -> Samples:
        """The last few ms that the limiter kept back."""
        return self._limiter.flush()

    def _speech(self, samples: Samples) -> Samples:
        return self._out(self._leveler.feed(samples))

    def _out(self, samples: Samples) -> Samples:
        if not samples.size:
            return _NOTHING
        self._frames += samples.size
        return self._limiter.feed(samples)
