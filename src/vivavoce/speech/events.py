"""What an utterance asks for, and what it tells while it is spoken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..engines.base import Origin, Samples
from ..text import Lexicon, Segment, Spoken

__all__ = ["Audio", "Event", "Finished", "Outcome", "SegmentEnd", "SegmentStart", "Timeline", "Utterance", "Word"]

Outcome = Literal["ok", "cancelled", "client_gone", "shed", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """How a text is to be spoken. `voice` is a real voice (aliases are resolved before), `speed` 0.25 to 4.0."""

    voice: str
    language: str = "en"
    speed: float = 1.0
    rate_hz: int = 24_000
    lexicon: Lexicon | None = None
    name_emoji: bool = False
    instruct: str = ""
    """The voice's design, for predictors that can follow one."""
    offset: int = 0
    """Where the text begins in the whole of which it is the rest; every span and word counts from the whole's start."""
    join_short: bool = True
    opening_rest_ms: float = 0.0
    """The silence before its first sound, which leaves no earlier than that: the pause that the whole has there."""


@dataclass(frozen=True, slots=True)
class Word:
    """One whole word of the original text, `[start, end)` in code points, heard from `start_ms` to `end_ms`.

    Times count from the first sample of the utterance and include every pause. `exact` is false where the engine could
    not tell and the time was estimated.
    """

    text: str
    start: int
    end: int
    start_ms: float
    end_ms: float
    exact: bool


@dataclass(frozen=True, slots=True)
class SegmentStart:
    """A segment's turn to be heard has come; `spoken` is what will be said for it."""

    index: int
    segment: Segment
    spoken: Spoken


@dataclass(frozen=True, slots=True)
class Audio:
    """Sound to play next: mono float32 samples at the utterance's rate, and the words known up to now.

    Words are told no later than the audio in which they end.
    """

    samples: Samples
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class SegmentEnd:
    """A segment is spoken: how long it sounds, how long it took to make, how long it waited for slots, and where."""

    index: int
    audio_ms: float
    synthesis_ms: float
    waited_ms: float = 0.0
    origin: Origin | None = None


@dataclass(slots=True)
class Timeline:
    """When things happened, in ms of the injected clock; None where they have not."""

    received_ms: float
    admitted_ms: float | None = None
    first_segment_ms: float | None = None
    slot_ms: float | None = None
    first_audio_ms: float | None = None
    leading_silence_ms: float = 0.0
    underruns: int = 0
    retries: int = 0
    ended_ms: float | None = None
    audio_ms: float = 0.0
    synthesis_ms: float = 0.0
    segments: list[SegmentEnd] = field(default_factory=list)

    @property
    def ttfa_ms(self) -> float | None:
        """Time to first audio, from the moment the utterance was received."""
        return None if self.first_audio_ms is None else self.first_audio_ms - self.received_ms

    @property
    def perceived_ttfa_ms(self) -> float | None:
        """TTFA and the silence that the sound begins with."""
        return None if self.ttfa_ms is None else self.ttfa_ms + self.leading_silence_ms

    @property
    def rtf(self) -> float | None:
        """Synthesis time over audio time."""
        return self.synthesis_ms / self.audio_ms if self.audio_ms else None


@dataclass(frozen=True, slots=True)
class Finished:
    """The utterance is over; nothing follows."""

    outcome: Outcome
    timeline: Timeline


Event = SegmentStart | Audio | SegmentEnd | Finished
