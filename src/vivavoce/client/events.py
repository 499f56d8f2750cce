"""What a client hears of the utterance that it asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Audio", "Done", "Event", "Queued", "Resumed", "Segment", "SegmentEnded", "Started", "Word", "Words"]


@dataclass(frozen=True, slots=True)
class Queued:
    """It waits for its turn: how many are before it, when it may start, and when the server gives up on it."""

    position: int
    expected_ms: float | None
    budget_ms: float | None


@dataclass(frozen=True, slots=True)
class Started:
    """Its turn has come; sound will be mono s16le PCM at `rate_hz`. Comes once."""

    request_id: str
    rate_hz: int


@dataclass(frozen=True, slots=True)
class Segment:
    """The stretch `[start, end)` of the text, in code points, is heard next; `spoken` is what is said for it.

    When speech went on elsewhere in the midst of one, its rest is a segment of its own.
    """

    index: int
    start: int
    end: int
    text: str
    spoken: str


@dataclass(frozen=True, slots=True)
class Word:
    """One word of the text, `[start, end)` in code points, heard from `start_ms` to `end_ms` of the utterance.

    `exact` is false where the engine could not tell and the time was estimated.
    """

    text: str
    start: int
    end: int
    start_ms: float
    end_ms: float
    exact: bool


@dataclass(frozen=True, slots=True)
class Words:
    """Words that begin in the sound that comes next. Each word of the text is told exactly once."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Audio:
    """Sound to play next: mono s16le PCM, whole samples; it begins `start_ms` after the utterance's first sample."""

    pcm: bytes
    start_ms: float


@dataclass(frozen=True, slots=True)
class SegmentEnded:
    """A segment is spoken whole: how long it sounds, what it took to make, and where that was."""

    index: int
    audio_ms: float
    synthesis_ms: float
    rtf: float | None = None
    waited_ms: float = 0.0
    endpoint: str = ""
    tier: str = ""
    node: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """Speech went on after a connection, a server or a predictor was lost.

    The text goes on at `offset` (code points), the sound at `at_ms`; `reason` is the code of what was lost, `resumes`
    counts how often that has happened to this utterance.
    """

    offset: int
    at_ms: float
    reason: str
    resumes: int


@dataclass(frozen=True, slots=True)
class Done:
    """It is over, and nothing follows.

    `outcome` is `ok` or `cancelled`; whatever else can become of an utterance is raised. Sound, retries and underruns
    are the whole utterance's; `heard_ms` is what the listener had heard when the server ended, `timeline` what the
    server told of the last connection, in ms since it received the request.
    """

    outcome: str
    audio_ms: float
    audio_bytes: int
    resumes: int = 0
    ttfa_ms: float | None = None
    perceived_ttfa_ms: float | None = None
    rtf: float | None = None
    heard_ms: float | None = None
    underruns: int = 0
    retries: int = 0
    timeline: Mapping[str, float | None] = field(default_factory=dict)


Event = Queued | Started | Segment | Words | Audio | SegmentEnded | Resumed | Done
