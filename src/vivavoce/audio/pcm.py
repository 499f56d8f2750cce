"""PCM in whole frames: 16-bit little-endian mono on the wire, float32 in [-1, 1] inside."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["FRAME_BYTES", "FrameAligner", "Samples", "finite", "frames_in", "from_pcm16", "silence", "to_pcm16"]

Samples = npt.NDArray[np.float32]

FRAME_BYTES = 2
_LOUDEST_DOWN, _LOUDEST_UP = np.float32(-1.0), np.float32(32767.0 / 32768.0)


def finite(samples: npt.ArrayLike) -> Samples:
    """Give the samples as a contiguous, flat float32 array in which NaN is silence and infinities are full scale."""
    array: Samples = np.ascontiguousarray(samples, dtype=np.float32).reshape(-1)
    if array.size and not np.isfinite(array).all():
        array = np.nan_to_num(array, nan=0.0, posinf=1.0, neginf=-1.0)
    return array


def to_pcm16(samples: npt.ArrayLike) -> bytes:
    """Turn float samples into s16le bytes, two a sample; what is over full scale is clipped, never wrapped.

    The inverse of `from_pcm16` for every 16-bit value.
    """
    scaled = np.clip(finite(samples), _LOUDEST_DOWN, _LOUDEST_UP)
    scaled *= np.float32(32768.0)
    np.rint(scaled, out=scaled)
    return scaled.astype("<i2").tobytes()


def from_pcm16(pcm: bytes | bytearray | memoryview) -> Samples:
    """Turn s16le bytes into float32 samples in [-1, 1). Raises ValueError for half a sample (see FrameAligner)."""
    if len(pcm) % FRAME_BYTES:
        raise ValueError(f"{len(pcm)} bytes are not whole 16-bit samples")
    samples: Samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32) * np.float32(1.0 / 32768.0)
    return samples


def frames_in(duration_ms: float, rate_hz: int) -> int:
    """Count the whole frames nearest to a duration; a negative duration has none."""
    return max(0, int(duration_ms * rate_hz / 1000.0 + 0.5))


def silence(duration_ms: float, rate_hz: int) -> Samples:
    """Give that much silence in whole frames."""
    return np.zeros(frames_in(duration_ms, rate_hz), dtype=np.float32)


class FrameAligner:
    """Makes whole frames of bytes that were cut anywhere.

    `feed` keeps a started frame back until its rest comes; `flush` drops one that never does and counts its bytes in
    `dropped_bytes`. No odd byte ever leaves.
    """

    def __init__(self, frame_bytes: int = FRAME_BYTES) -> None:
        if frame_bytes < 1:
            raise ValueError("a frame has at least one byte")
        self._frame_bytes = frame_bytes
        self._carry = b""
        self.dropped_bytes = 0

    def feed(self, data: bytes | bytearray | memoryview) -> bytes:
        """Take bytes, give the whole frames that are complete now."""
        joined = self._carry + bytes(data) if self._carry else bytes(data)
        whole = len(joined) - len(joined) % self._frame_bytes
        self._carry = joined[whole:]
        return joined[:whole]

    def flush(self) -> int:
        """End the stream; give how many bytes were left over and dropped."""
        dropped = len(self._carry)
        self._carry = b""
        self.dropped_bytes += dropped
        return dropped
