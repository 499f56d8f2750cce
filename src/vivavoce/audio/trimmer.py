"""Silence before and after speech."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .pcm import Samples, finite, frames_in

__all__ = ["Trimmer"]

_EMPTY: Samples = np.zeros(0, dtype=np.float32)

# Half a pitch period of a low voice: short enough to place an onset, long enough to be no single sample.
_WINDOW_MS = 5.0
# A voice that is quiet throughout keeps its soft sounds: they lie within this of its loudest window.
_RANGE_DB = 45.0
_FLOOR_DB = -75.0


class Trimmer:
    """Cuts the silence around one segment while it streams.

    Leading silence is dropped at once, up to `keep_lead_ms` before the first sound; after a sound `keep_tail_ms` go
    out, and longer silence waits until another sound follows (then it was a pause and is kept) or `flush` (then it is
    dropped). Silence is a 5 ms window whose RMS is under `threshold_db` dBFS, or further down for a voice that is
    quiet throughout. The margins keep soft consonants, which begin and end under any threshold. Output is always one
    contiguous piece of the input. `lead_cut_ms` is what word times must be moved back by; it is final with the first
    samples that come out. One trimmer serves one segment.
    """

    def __init__(
        self, rate_hz: int, keep_lead_ms: float = 25.0, keep_tail_ms: float = 60.0, threshold_db: float = -55.0
    ) -> None:
        self._rate_hz = rate_hz
        self._window = max(1, frames_in(_WINDOW_MS, rate_hz))
        self._keep_lead = frames_in(keep_lead_ms, rate_hz)
        self._keep_tail = frames_in(keep_tail_ms, rate_hz)
        self._threshold_db = threshold_db
        self._threshold = _power(threshold_db)
        self._loudest = 0.0
        self._partial = _EMPTY
        self._held: list[Samples] = []
        self._tail_left = 0
        self.started = False
        self.lead_cut_frames = 0
        self.tail_cut_frames = 0

    @property
    def lead_cut_ms(self) -> float:
        """How much was cut before the first sample that came out."""
        return self.lead_cut_frames * 1000.0 / self._rate_hz

    @property
    def tail_cut_ms(self) -> float:
        """How much was cut after the last sample that came out; 0 before `flush`."""
        return self.tail_cut_frames * 1000.0 / self._rate_hz

    def feed(self, samples: Samples) -> Samples:
        """Take samples, give those that are sure to be heard."""
        fed = finite(samples)
        joined = np.concatenate((self._partial, fed)) if self._partial.size else fed
        whole = joined.size - joined.size % self._window
        self._partial = joined[whole:].copy()
        body = joined[:whole]
        if not whole:
            return _EMPTY
        windows = body.reshape(-1, self._window)
        powers = np.einsum("ij,ij->i", windows, windows).astype(np.float64) / self._window
        return self._take(body, powers, self._window)

    def flush(self) -> Samples:
        """End the segment: give what the last window still holds, drop the silence after it."""
        body, self._partial = self._partial, _EMPTY
        out = _EMPTY
        if body.size:
            out = self._take(body, np.square(body, dtype=np.float64).mean(keepdims=True), body.size)
        held = sum(piece.size for piece in self._held)
        self._held.clear()
        if self.started:
            self.tail_cut_frames = held
        else:
            self.lead_cut_frames += held
        return out

    def _take(self, body: Samples, powers: npt.NDArray[np.float64], window: int) -> Samples:
        """Sort whole windows into heard and held; `powers` has one mean square a window."""
        self._loudest = max(self._loudest, float(powers.max()))
        if self._loudest > self._threshold:
            self._threshold = min(self._threshold, max(_power(_FLOOR_DB), self._loudest * _power(-_RANGE_DB)))
        loud = np.flatnonzero(powers > self._threshold)
        if not loud.size:
            return self._rest(body)
        held = sum(piece.size for piece in self._held)
        joined = np.concatenate((*self._held, body)) if self._held else body
        begin = 0
        if not self.started:
            self.started = True
            begin = max(0, held + int(loud[0]) * window - self._keep_lead)
            self.lead_cut_frames += begin
        heard = held + (int(loud[-1]) + 1) * window
        end = min(joined.size, heard + self._keep_tail)
        self._tail_left = heard + self._keep_tail - end
        self._held = [joined[end:].copy()] if end < joined.size else []
        return joined[begin:end]

    def _rest(self, body: Samples) -> Samples:
        """Take windows without sound: before the first sound keep a margin, after one give the tail and hold on."""
        if self.started:
            out, kept = body[: self._tail_left], body[self._tail_left :]
            self._tail_left -= out.size
            if kept.size:
                self._held.append(kept.copy())
            return out
        joined = np.concatenate((*self._held, body))
        cut = max(0, joined.size - self._keep_lead)
        self.lead_cut_frames += cut
        self._held = [joined[cut:].copy()]
        return _EMPTY


def _power(decibels: float) -> float:
    """Give the mean square of a level in dBFS."""
    return float(10.0 ** (decibels / 10.0))
