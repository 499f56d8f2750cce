"""What a client wants to be spoken, and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from ..audio import RATES_HZ
from ..errors import UnsupportedFormat
from .events import Utterance
from .messages import Framing, Resume, Synthesize
from .pauses import Pauses
from .resume import Resumed

__all__ = ["Ask", "ask_of", "framing_of", "resumed_ask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One utterance as it was asked for over a WebSocket; None leaves the choice to the server.

    `generation` numbers the utterances of a connection. With `streamed`, more text follows. `resumed` is how an
    interrupted utterance was spoken, when this is the rest of it.
    """

    generation: int
    request_id: str
    text: str = ""
    streamed: bool = False
    voice: str | None = None
    model: str | None = None
    language: str | None = None
    instruct: str = ""
    speed: float = 1.0
    rate_hz: int = 24_000
    format: str = "pcm"
    framing: Framing = "raw"
    word_timestamps: bool = False
    lead_ms: float | None = None
    resumed: Utterance | None = None

    def saying(self, text: str, streamed: bool) -> Self:
        """The same with that text."""
        return replace(self, text=text, streamed=streamed)


def ask_of(message: Synthesize, request_id: str, generation: int) -> Ask:
    """What a `synthesize` asks for, without its text. Raises UnsupportedFormat."""
    rate_hz = 24_000 if message.sample_rate is None else message.sample_rate
    if rate_hz not in RATES_HZ:
        known = ", ".join(str(rate) for rate in RATES_HZ)
        raise UnsupportedFormat(f"sample_rate must be one of {known} Hz.", param="sample_rate")
    return Ask(
        generation=generation,
        request_id=request_id,
        voice=message.voice or None,
        model=message.model or None,
        language=message.language or None,
        instruct=message.instruct or "",
        speed=1.0 if message.speed is None else message.speed,
        rate_hz=rate_hz,
        format=message.format or "pcm",
        framing=message.framing or "raw",
        word_timestamps=bool(message.word_timestamps),
        lead_ms=message.lead_ms,
    )


def resumed_ask(message: Resume, resumed: Resumed, request_id: str, generation: int) -> Ask:
    """What a `resume` asks for, without its text: the token's own settings, from a place in the whole on.

    It begins with as much of the pause there as the listener has not had.
    """
    utterance = resumed.utterance
    pause_ms = Pauses().between(message.before or "", message.text or "", utterance.language) / utterance.speed
    left_ms = max(0.0, pause_ms - (message.silence_ms or 0.0))
    utterance = replace(utterance, offset=message.offset, opening_rest_ms=left_ms)
    return Ask(
        generation=generation,
        request_id=request_id,
        voice=resumed.voice_asked or None,
        language=utterance.language,
        instruct=utterance.instruct,
        speed=utterance.speed,
        rate_hz=utterance.rate_hz,
        format=resumed.format,
        framing=framing_of(resumed),
        word_timestamps=resumed.word_timestamps,
        resumed=utterance,
    )


def framing_of(resumed: Resumed) -> Framing:
    """How the frames of an interrupted utterance were told apart."""
    return "header" if resumed.framing == "header" else "raw"
