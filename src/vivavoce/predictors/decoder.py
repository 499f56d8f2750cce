"""Sound that came encoded, from a server that gives PCM to nobody."""

from __future__ import annotations

import io

import numpy as np

from ..audio import Samples, finite
from ..errors import PredictorFailed
from .sound import checked_rate

__all__ = ["ENCODED", "decoded"]

ENCODED = frozenset(
    f"audio/{name}" for name in ("mpeg", "mp3", "ogg", "opus", "flac", "x-flac", "aac", "aacp", "mp4", "x-m4a", "webm")
)
"""The content types that FFmpeg has to read."""


def decoded(clip: bytes) -> tuple[Samples, int]:
    """The mono samples of a whole clip in any usual container, and their rate. Blocks. Raises PredictorFailed."""
    import av

    pieces: list[Samples] = []
    rate_hz = 0
    try:
        with av.open(io.BytesIO(clip), "r") as container:
            resampler = av.AudioResampler(format="flt", layout="mono")
            for frame in [*container.decode(audio=0), None]:
                for mono in resampler.resample(frame):
                    rate_hz = mono.sample_rate
                    pieces.append(mono.to_ndarray().astype(np.float32).reshape(-1))
    except (av.FFmpegError, ValueError, IndexError) as error:
        raise PredictorFailed(f"The predictor's sound cannot be read ({type(error).__name__}).") from None
    if not pieces:
        raise PredictorFailed("The predictor gave no sound.")
    return finite(np.concatenate(pieces)), checked_rate(rate_hz)
