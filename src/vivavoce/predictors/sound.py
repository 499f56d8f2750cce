"""Sound in a predictor's reply: bytes, cut anywhere, become mono float32 samples. Pure."""

from __future__ import annotations

import struct

import numpy as np

from ..audio import FrameAligner, Samples, from_pcm16, read_wav
from ..errors import BadRequest, PredictorFailed

__all__ = ["MAX_RATE_HZ", "MIN_RATE_HZ", "SoundReader", "checked_rate"]

MIN_RATE_HZ, MAX_RATE_HZ = 4_000, 384_000
_NOTHING: Samples = np.zeros(0, np.float32)
_MAX_HEADER_BYTES = 65_536
_WAV_MARKS, _OTHER_MARKS = (b"RIFF", b"RF64"), (b"OggS", b"fLaC", b"ID3")
_PCM, _EXTENSIBLE = 0x0001, 0xFFFE
# No phrase sounds for hours: lengths from here on are what writers put who do not know theirs.
_UNKNOWN_BYTES = 1_000_000_000


def checked_rate(rate_hz: object) -> int:
    """A sample rate that a predictor told. Raises PredictorFailed where it cannot be one."""
    if isinstance(rate_hz, bool) or not isinstance(rate_hz, int) or not MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ:
        raise PredictorFailed("The predictor told a sample rate that cannot be one.")
    return rate_hz


class SoundReader:
    """Reads s16le samples, or WAV files where they announce themselves: no header is ever heard as sound.

    A WAV file streams while it holds 16-bit PCM and is read whole where it holds anything else. Several files behind
    one another are one sound. Several `channels`, of raw samples or in a file, become one. `rate_hz` is what the header
    says, once it is there. Half a sample at the end is dropped and counted in `dropped_bytes`.
    """

    def __init__(self, rate_hz: int, channels: int = 1) -> None:
        self.rate_hz = rate_hz
        self._channels = channels
        self._aligner = FrameAligner(2 * channels)
        self._start: bytes | None = b""
        self._wav: _WavReader | None = None

    @property
    def dropped_bytes(self) -> int:
        """How many bytes belonged to no whole sample."""
        return self._aligner.dropped_bytes

    def feed(self, data: bytes) -> Samples:
        """Take bytes, give the samples that are whole. Raises PredictorFailed for a file that cannot be read."""
        if self._start is not None:
            self._start += data
            if len(self._start) < 4 and any(mark.startswith(self._start) for mark in (*_WAV_MARKS, *_OTHER_MARKS)):
                return _NOTHING
            data, self._start = self._start, None
            if data.startswith(_OTHER_MARKS):
                raise PredictorFailed("The predictor sent an encoded file where samples were asked for.")
            if data.startswith(_WAV_MARKS):
                self._wav = _WavReader()
        if self._wav is None:
            return self._samples(data)
        samples = self._wav.feed(data)
        self.rate_hz = self._wav.rate_hz or self.rate_hz
        return samples

    def finish(self) -> Samples:
        """The end of the reply: what a WAV file gave only whole. Raises PredictorFailed where it was cut short."""
        if self._wav is not None:
            samples = self._wav.finish()
            self.rate_hz = self._wav.rate_hz or self.rate_hz
            return samples
        samples = self._samples(self._start or b"")
        self._start = None
        self._aligner.flush()
        return samples

    def _samples(self, data: bytes) -> Samples:
        return _mixed(from_pcm16(self._aligner.feed(data)), self._channels)


class _WavReader:
    """Walks the chunks of WAV files; the samples of 16-bit PCM leave while they come."""

    def __init__(self) -> None:
        self.rate_hz = 0
        self._held = bytearray()
        self._aligner = FrameAligner()
        self._channels = 1
        self._is_whole = False
        self._riff_bytes = 0
        self._sound_left = 0
        self._skip_left = 0

    def feed(self, data: bytes) -> Samples:
        """Take bytes, give samples."""
        self._held += data
        if self._is_whole:
            return _NOTHING
        pieces: list[Samples] = []
        while self._step(pieces):
            pass
        if self._is_whole or not pieces:
            return _NOTHING
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def finish(self) -> Samples:
        """The end: the whole file, where it was not streamed."""
        if self._is_whole or not self.rate_hz:
            try:
                samples, self.rate_hz = read_wav(bytes(self._held))
            except BadRequest as error:
                raise PredictorFailed(f"The predictor's sound cannot be read: {error.message}.") from None
            return samples
        if 0 < self._sound_left < _UNKNOWN_BYTES:
            raise PredictorFailed(f"The predictor's sound was cut short by {self._sound_left} bytes.")
        return _NOTHING

    def _step(self, pieces: list[Samples]) -> bool:
        """Read the next piece of the walk; false where more bytes are needed."""
        held = self._held
        if self._sound_left:
            taken = bytes(held[: self._sound_left])
            del held[: len(taken)]
            self._sound_left -= 0 if self._sound_left >= _UNKNOWN_BYTES else len(taken)
            if taken:
                pieces.append(self._samples(taken))
            return bool(taken)
        if self._skip_left:
            skipped = min(self._skip_left, len(held))
            del held[:skipped]
            self._skip_left -= skipped
            return skipped > 0
        return len(held) >= 8 and self._chunk()

    def _chunk(self) -> bool:
        """Read the head of one chunk; false where more bytes are needed."""
        held = self._held
        name, size = struct.unpack_from("<4sI", held)
        if name in (b"RIFF", b"RF64"):
            self._riff_bytes = size
            if not self._rest_is_streamed():
                return False
            del held[:12]
        elif name == b"data":
            # A writer that streams may leave 0 in both lengths; a file that is really empty says so in the outer one.
            unknown = size >= _UNKNOWN_BYTES or (size == 0 and not 0 < self._riff_bytes < _UNKNOWN_BYTES)
            self._sound_left = _UNKNOWN_BYTES if unknown else size
            self._skip_left = 0 if unknown else size % 2
            del held[:8]
        else:
            self._skip_left = 8 + size + size % 2
        return True

    def _rest_is_streamed(self) -> bool:
        """Read the fmt chunk that lies ahead; false where it is not there yet, or where the file must come whole."""
        at = self._held.find(b"fmt ", 12)
        if at < 0 or len(self._held) < at + 24:
            if len(self._held) > _MAX_HEADER_BYTES:
                raise PredictorFailed("The predictor's sound has a header without an end.")
            return False
        tag, channels, rate_hz, _, _, bits = struct.unpack_from("<HHIIHH", self._held, at + 8)
        is_streamed = tag in (_PCM, _EXTENSIBLE) and bits == 16 and 1 <= channels <= 64
        if self.rate_hz and not (is_streamed and rate_hz == self.rate_hz):
            raise PredictorFailed("The predictor's sound changes its form half-way.")
        if not is_streamed:
            self._is_whole = True
            return False
        self.rate_hz = checked_rate(rate_hz)
        self._channels = channels
        self._aligner = FrameAligner(2 * channels)
        return True

    def _samples(self, data: bytes) -> Samples:
        return _mixed(from_pcm16(self._aligner.feed(data)), self._channels)


def _mixed(samples: Samples, channels: int) -> Samples:
    """Interleaved channels as one."""
    if channels == 1:
        return samples
    mixed: Samples = samples.reshape(-1, channels).mean(axis=1, dtype=np.float32)
    return mixed
