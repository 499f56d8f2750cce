"""The audio formats that leave the house."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import OutOfRange, UnsupportedFormat
from .resampler import MAX_RATE_HZ, MIN_RATE_HZ

__all__ = ["FORMATS", "Format", "format_named"]


@dataclass(frozen=True, slots=True)
class Format:
    """A format by its wire name: what HTTP calls it, what its files end in, and the rates it can carry.

    Empty `rates_hz` means every rate from 8 to 48 kHz. Sound at another rate is resampled on the way in, to the next
    higher rate the format carries, so that nothing is lost and no request fails for its rate.
    """

    name: str
    content_type: str
    extension: str
    lossless: bool
    rates_hz: tuple[int, ...] = ()

    def carried_rate_hz(self, rate_hz: int) -> int:
        """Give the rate that sound of `rate_hz` has inside this format. Raises OutOfRange outside 8 to 48 kHz."""
        if not MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ:
            raise OutOfRange(
                f"sample rate {rate_hz} Hz is not between {MIN_RATE_HZ} and {MAX_RATE_HZ} Hz", param="sample_rate"
            )
        return next((carried for carried in self.rates_hz if carried >= rate_hz), rate_hz)


_MPEG_RATES_HZ = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_OPUS_RATES_HZ = (8_000, 12_000, 16_000, 24_000, 48_000)

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        known.name: known
        for known in (
            Format("mp3", "audio/mpeg", "mp3", lossless=False, rates_hz=_MPEG_RATES_HZ),
            # Ogg, not bare Opus packets, and the type says so.
            Format("opus", "audio/ogg; codecs=opus", "ogg", lossless=False, rates_hz=_OPUS_RATES_HZ),
            Format("aac", "audio/aac", "aac", lossless=False, rates_hz=_MPEG_RATES_HZ),
            Format("flac", "audio/flac", "flac", lossless=True),
            Format("wav", "audio/wav", "wav", lossless=True),
            Format("pcm", "audio/pcm", "pcm", lossless=True),
        )
    }
)


def format_named(name: str) -> Format:
    """Give the format of that name. Raises UnsupportedFormat, which lists the names there are."""
    known = FORMATS.get(name)
    if known is None:
        raise UnsupportedFormat(
            f"audio format {name!r} is not one of {', '.join(sorted(FORMATS))}", param="response_format"
        )
    return known
