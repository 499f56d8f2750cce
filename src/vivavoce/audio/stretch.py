"""Faster or slower speech at the same pitch."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import OutOfRange
from .pcm import Samples, finite

__all__ = ["MAX_SPEED", "MIN_SPEED", "TimeStretch"]

MIN_SPEED = 0.25
MAX_SPEED = 4.0

_EMPTY: Samples = np.zeros(0, dtype=np.float32)
_PAD_STEPS = 40


class TimeStretch:
    """Speaks `speed` times as fast while it streams, through FFmpeg's atempo; n samples become round(n / speed).

    For engines that have no speed of their own. Speed 1 passes through untouched. About 0.1 s (0.2 s under 0.5 and over
    2, where two filters follow each other) stays back until more comes or `flush`; nothing is shifted. After `flush` a
    new stream may begin. Raises OutOfRange outside 0.25 to 4.
    """

    def __init__(self, rate_hz: int, speed: float) -> None:
        if not MIN_SPEED <= speed <= MAX_SPEED:
            raise OutOfRange(f"speed {speed} is not between {MIN_SPEED} and {MAX_SPEED}", param="speed")
        self.speed = speed
        self._rate_hz = rate_hz
        self._graph: Any = None
        self._frames_in = 0
        self._frames_out = 0

    @property
    def identity(self) -> bool:
        """Whether nothing is changed."""
        return self.speed == 1.0

    def feed(self, samples: Samples) -> Samples:
        """Take samples, give those that are ready."""
        fed = finite(samples)
        if self.identity or not fed.size:
            return fed
        if self._graph is None:
            self._graph = self._build()
        out = self._run(fed)
        self._frames_in += fed.size
        return self._emit(out, self._due())

    def flush(self) -> Samples:
        """End the stream: give the rest, to the exact total length."""
        if self._graph is None:
            return _EMPTY
        due = self._due()
        pieces: list[Samples] = []
        missing = due - self._frames_out
        # Silence pushes the last sound through; what the silence itself becomes is cut off.
        pad = np.zeros(self._rate_hz // 5, dtype=np.float32)
        for _ in range(_PAD_STEPS):
            if missing <= 0:
                break
            piece = self._emit(self._run(pad), due)
            pieces.append(piece)
            missing -= piece.size
        pieces.append(np.zeros(max(0, missing), dtype=np.float32))
        self._graph = None
        self._frames_in = self._frames_out = self._position = 0
        return np.concatenate(pieces)

    def _due(self) -> int:
        return math.floor(self._frames_in / self.speed + 0.5)

    def _emit(self, out: Samples, due: int) -> Samples:
        """Give samples up to the length that is due."""
        out = out[: max(0, due - self._frames_out)]
        self._frames_out += out.size
        return out

    def _build(self) -> Any:
        import av.filter

        # One atempo beyond a factor of two leaves samples out instead of blending them, below one half it refuses.
        inside = 0.5 <= self.speed <= 2.0
        factors = [self.speed] if inside else [math.sqrt(self.speed)] * 2
        graph = av.filter.Graph()
        graph.link_nodes(
            graph.add_abuffer(
                sample_rate=self._rate_hz, format="flt", layout="mono", time_base=Fraction(1, self._rate_hz)
            ),
            *[graph.add("atempo", f"{factor:.9f}") for factor in factors],
            graph.add("abuffersink"),
        ).configure()
        self._position = 0
        return graph

    def _run(self, samples: Samples) -> Samples:
        import av

        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="flt", layout="mono")
        frame.sample_rate = self._rate_hz
        frame.time_base = Fraction(1, self._rate_hz)
        frame.pts = self._position
        self._position += samples.size
        self._graph.push(frame)
        pieces: list[Samples] = []
        while True:
            try:
                pieces.append(self._graph.pull().to_ndarray().reshape(-1))
            except (av.BlockingIOError, av.EOFError):
                break
        return np.concatenate(pieces) if pieces else _EMPTY
