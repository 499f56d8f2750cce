"""One response, one encoder: samples become the bytes of a format."""

from __future__ import annotations

from typing import Protocol

from .containers import ContainerEncoder
from .formats import FORMATS, Format, format_named
from .pcm import Samples, silence, to_pcm16
from .stretch import TimeStretch
from .wav import wav_header

__all__ = ["Encoder", "PcmEncoder", "WavEncoder", "encoder_for", "preload"]


class Encoder(Protocol):
    """Turns the sound of one response into bytes; the bytes of all calls, one after the other, are the file.

    Streamed, bytes leave as they are made. Not streamed, everything comes from `finish`, with exact lengths inside.
    `close` frees everything at any moment and is safe to call again; `finish` closes too. After either, `encode` raises
    ValueError. Blocking, and not for two threads at a time.
    """

    format: Format
    rate_hz: int
    carried_rate_hz: int

    def encode(self, samples: Samples) -> bytes:
        """Take mono float samples at `rate_hz`, give the bytes that are ready (maybe none)."""
        ...

    def finish(self) -> bytes:
        """End the sound: give the remaining bytes. A second call gives none."""
        ...

    def close(self) -> None:
        """Let go of everything without finishing, as when a client leaves."""
        ...


class PcmEncoder:
    """Bare s16le samples: no header, no trailer."""

    def __init__(self, known: Format, rate_hz: int, streamed: bool) -> None:
        self.format = known
        self.rate_hz = rate_hz
        self.carried_rate_hz = known.carried_rate_hz(rate_hz)
        self._streamed = streamed
        self._whole: list[bytes] = []
        self._open = True

    def encode(self, samples: Samples) -> bytes:
        """Give the samples as bytes, at once when streamed."""
        if not self._open:
            raise ValueError("the encoder is closed")
        pcm = to_pcm16(samples)
        if self._streamed:
            return pcm
        self._whole.append(pcm)
        return b""

    def finish(self) -> bytes:
        """Give the whole when it was not streamed."""
        pcm = b"".join(self._whole)
        self.close()
        return pcm

    def close(self) -> None:
        """Let go of what was collected."""
        self._open = False
        self._whole = []


class WavEncoder:
    """RIFF/WAVE, s16le mono: one header, then nothing but samples.

    Not streamed, both lengths are exact. Streamed, both are 0xFFFFFFFF, for they are not known when the header leaves,
    and the last byte sent is the last sample: nothing is patched or added later.
    """

    def __init__(self, known: Format, rate_hz: int, streamed: bool) -> None:
        self._pcm = PcmEncoder(known, rate_hz, streamed)
        self._streamed = streamed
        self._header_due = True
        self.format = known
        self.rate_hz = rate_hz
        self.carried_rate_hz = self._pcm.carried_rate_hz

    def encode(self, samples: Samples) -> bytes:
        """Give the samples as bytes, the header before the first."""
        pcm = self._pcm.encode(samples)
        if not pcm or not self._header_due:
            return pcm
        self._header_due = False
        return wav_header(self.rate_hz, None) + pcm

    def finish(self) -> bytes:
        """Give the whole file when it was not streamed; only the header when there was no sound."""
        pcm = self._pcm.finish()
        if not self._header_due:
            return pcm
        self._header_due = False
        return wav_header(self.rate_hz, len(pcm)) + pcm

    def close(self) -> None:
        """Let go of what was collected."""
        self._header_due = False
        self._pcm.close()


def encoder_for(format: str, rate_hz: int, streamed: bool) -> Encoder:
    """Give a new encoder for one response, for samples at `rate_hz`.

    `format` is a name from `FORMATS`. Raises UnsupportedFormat for another name and OutOfRange for a rate outside 8 to
    48 kHz. A rate the format cannot carry is resampled inside (`carried_rate_hz`).
    """
    known = format_named(format)
    if known.name == "pcm":
        return PcmEncoder(known, rate_hz, streamed)
    if known.name == "wav":
        return WavEncoder(known, rate_hz, streamed)
    return ContainerEncoder(known, rate_hz, streamed)


def preload() -> None:
    """Load the codec, filter and resampling libraries now and run each once, so that no request waits for them."""
    tenth = silence(100.0, 22_050)
    TimeStretch(22_050, 1.5).feed(tenth)
    for name in FORMATS:
        encoder = encoder_for(name, 22_050, streamed=True)
        encoder.encode(tenth)
        encoder.finish()
