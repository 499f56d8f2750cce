"""Where a waveform is silent, and whether the word times agree."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Pause", "pauses"]

HOP_MS, WINDOW_MS = 5, 20
# Below loud speech (the 95th percentile of the level) by this much nothing of a word is heard.
QUIET_DB = 40.0


@dataclass(frozen=True, slots=True)
class Pause:
    """A silence inside speech; `overlap_ms` is how much of it lies inside the word that claims most of it."""

    start_ms: float
    end_ms: float
    overlap_ms: float

    @property
    def length_ms(self) -> float:
        """How long it lasts."""
        return self.end_ms - self.start_ms

    @property
    def between_words(self) -> bool:
        """Whether words own no more of it than two frames of the models' clock (25 ms) at its edges."""
        return self.overlap_ms <= 50.0


def pauses(
    samples: npt.NDArray[np.float32], rate_hz: int, words: Sequence[tuple[float, float]], least_ms: float = 100.0
) -> list[Pause]:
    """The silences of at least `least_ms` after the first sound and before the last, against words' (start, end) in ms."""
    quiet = _quiet(samples, rate_hz)
    loud = np.flatnonzero(~quiet)
    found = []
    for before, after in itertools.pairwise(loud):
        # A window counts for its middle; the silence is where no window with sound reaches.
        start_ms, end_ms = before * HOP_MS + WINDOW_MS, after * HOP_MS
        if end_ms - start_ms >= least_ms:
            overlaps = [min(end_ms, word_end) - max(start_ms, word_start) for word_start, word_end in words]
            found.append(Pause(start_ms, end_ms, max(0.0, *overlaps, 0.0)))
    return found


def _quiet(samples: npt.NDArray[np.float32], rate_hz: int) -> npt.NDArray[np.bool_]:
    """For each hop whether the window that starts there is quiet."""
    hop, window = rate_hz * HOP_MS // 1000, rate_hz * WINDOW_MS // 1000
    if len(samples) < window:
        return np.ones(0, np.bool_)
    energy = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64) ** 2, window)[::hop].mean(axis=1)
    limit = np.percentile(energy, 95) * 10 ** (-QUIET_DB / 10)
    quiet: npt.NDArray[np.bool_] = energy < limit
    return quiet
