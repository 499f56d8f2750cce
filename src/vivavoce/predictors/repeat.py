"""A job that broke off is made again, and the listener hears neither a gap nor a word twice."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from ..audio import Resampler, Samples
from ..engines.base import Chunk, Origin, WordTime

__all__ = ["Take"]

_NOTHING: Samples = np.zeros(0, np.float32)
# Long enough to tell one voice's vowel from another's, short enough to hold for every stream.
_TAIL_MS = 60.0
_ALIKE = 0.02
_QUIET = 0.003
_BEFORE_WORD_MS = 25.0
_SEAM_MS = 5.0


class Take:
    """What a listener was given of one job.

    `feed` passes chunks on. After `again` the next chunks are those of another predictor that speaks the same job from
    its beginning; of these only what was not given is passed on. Where the second speech is the same, to the sample, it
    goes on at that sample; where it is another, it goes on at the first word that was not heard whole. Times and words
    go on as if nothing had happened, at the first speech's rate.
    """

    __slots__ = ("_cut", "_frames", "_recent", "_recent_frames", "_words", "rate_hz")

    def __init__(self) -> None:
        self.rate_hz = 0
        self._frames = 0
        self._recent: deque[Samples] = deque()
        self._recent_frames = 0
        self._words: list[WordTime] = []
        self._cut: _Cut | None = None

    def again(self) -> None:
        """The job begins anew."""
        if self._frames:
            tail = np.concatenate(self._recent)[-self._tail_frames :]
            self._cut = _Cut(self.rate_hz, self._frames, tail, tuple(self._words))

    def feed(self, chunk: Chunk) -> Chunk | None:
        """Take the next chunk, give what the listener has not had of it; None where that is nothing."""
        return self._given(chunk if self._cut is None else self._cut.feed(chunk))

    def finish(self) -> Chunk | None:
        """The end of the job: what was held back to find the cut."""
        return None if self._cut is None else self._given(self._cut.finish())

    @property
    def _tail_frames(self) -> int:
        return int(self.rate_hz * _TAIL_MS / 1000)

    def _given(self, chunk: Chunk | None) -> Chunk | None:
        """Note what the listener has now."""
        if chunk is None:
            return None
        self.rate_hz = self.rate_hz or chunk.rate_hz
        frames = len(chunk.samples)
        if frames:
            self._frames += frames
            self._recent.append(chunk.samples)
            self._recent_frames += frames
            while self._recent_frames - len(self._recent[0]) >= self._tail_frames and len(self._recent) > 1:
                self._recent_frames -= len(self._recent.popleft())
        self._words += chunk.words
        return chunk


class _Cut:
    """Finds where a second speech goes on, and passes on what lies behind."""

    def __init__(self, rate_hz: int, frames: int, tail: Samples, words: tuple[WordTime, ...]) -> None:
        self._rate_hz = rate_hz
        self._frames = frames
        self._tail = tail
        given_ms = frames * 1000 / rate_hz
        self._heard_until = max((word.end for word in words if word.end_ms <= given_ms), default=0)
        self._told_until = max((word.end for word in words), default=0)
        self._resampler: Resampler | None = None
        self._held: list[Samples] = []
        self._words: list[WordTime] = []
        self._shift_ms: float | None = None
        self._origin: Origin | None = None
        self._is_seam = True

    def feed(self, chunk: Chunk) -> Chunk | None:
        """Take the second speech's next chunk."""
        if self._resampler is None:
            self._resampler = Resampler(chunk.rate_hz or self._rate_hz, self._rate_hz)
        self._origin = chunk.origin or self._origin
        return self._more(self._resampler.feed(chunk.samples), chunk.words, is_over=False)

    def finish(self) -> Chunk | None:
        """The second speech is over."""
        return self._more(self._resampler.flush() if self._resampler else _NOTHING, (), is_over=True)

    def _more(self, samples: Samples, words: tuple[WordTime, ...], *, is_over: bool) -> Chunk | None:
        if self._shift_ms is not None:
            return self._passed(samples, words, is_last=is_over)
        self._held.append(samples)
        self._words += words
        held = np.concatenate(self._held)
        skipped = self._place(held, is_over=is_over)
        if skipped is None:
            return None
        self._shift_ms = (self._frames - skipped) * 1000 / self._rate_hz
        self._held = []
        return self._passed(held[skipped:], tuple(self._words), is_last=is_over)

    def _place(self, held: Samples, *, is_over: bool) -> int | None:
        """How many frames of the second speech are left out; None where more of it is needed to tell."""
        if len(held) < self._frames and not is_over:
            return None
        if self._is_same(held):
            self._is_seam = False
            return self._frames
        if not self._told_until:
            return min(self._frames, len(held))
        ahead = [word for word in self._words if word.start >= self._heard_until]
        if not ahead:
            return len(held) if is_over else None
        behind_ms = max((word.end_ms for word in self._words if word.end <= self._heard_until), default=0.0)
        from_ms = max(behind_ms, ahead[0].start_ms - _BEFORE_WORD_MS)
        return min(int(from_ms * self._rate_hz / 1000), len(held))

    def _is_same(self, held: Samples) -> bool:
        """Whether the second speech is the first one over again, by the last sound that was given."""
        ours, theirs = self._tail, held[self._frames - len(self._tail) : self._frames]
        if len(theirs) < len(ours):
            return False
        loudness = float(np.sqrt(np.mean(np.square(ours))))
        return loudness > _QUIET and float(np.sqrt(np.mean(np.square(ours - theirs)))) < _ALIKE * loudness

    def _passed(self, samples: Samples, words: tuple[WordTime, ...], *, is_last: bool) -> Chunk | None:
        """What goes on to the listener, on the first speech's time line."""
        shift_ms = self._shift_ms or 0.0
        new = tuple(
            replace(word, start_ms=word.start_ms + shift_ms, end_ms=word.end_ms + shift_ms)
            for word in words
            if word.start >= self._told_until
        )
        if not len(samples) and not new:
            return None
        origin, self._origin = self._origin, None
        if self._is_seam and len(samples):
            self._is_seam = False
            samples = self._joined(samples)
        return Chunk(samples, new, is_last=is_last, rate_hz=self._rate_hz, origin=origin)

    def _joined(self, samples: Samples) -> Samples:
        """The samples, led over from the last one that was given, so that the seam does not click."""
        frames = min(int(self._rate_hz * _SEAM_MS / 1000), len(samples))
        step = float(self._tail[-1]) - float(samples[0])
        joined = samples.copy()
        joined[:frames] += step * np.linspace(1.0, 0.0, frames, dtype=np.float32)
        return joined
