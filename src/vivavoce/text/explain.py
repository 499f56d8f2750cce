"""What would be said for a text, segment by segment, and the rule behind each word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .lexicon import Lexicon
from .normalizer import Normalizer
from .segment import Segment
from .splitter import Splitter
from .spoken import Part, Spoken

__all__ = ["Explained", "explain", "explanation"]


@dataclass(frozen=True, slots=True)
class Explained:
    """One segment and what is said for it; the spans of `spoken.parts` count in the whole text, not in the segment."""

    segment: Segment
    spoken: Spoken


def explain(
    text: str, language: str = "en", lexicon: Lexicon | None = None, *, name_emoji: bool = False
) -> list[Explained]:
    """Split and normalize a text as an utterance is, and keep every reason. Never raises on any text."""
    splitter = Splitter(language=language)
    normalizer = Normalizer(language, lexicon, name_emoji)
    found: list[Explained] = []
    for segment in (*splitter.feed(text), *splitter.flush()):
        spoken = normalizer.speak(segment.text)
        parts = tuple(
            part._replace(start=part.start + segment.start, end=part.end + segment.start) for part in spoken.parts
        )
        found.append(Explained(segment, Spoken(spoken.text, parts)))
    return found


def explanation(text: str, language: str, lexicon: Lexicon | None, *, name_emoji: bool = False) -> dict[str, Any]:
    """The same as plain data, as `POST /v1/text/explain` and `vivavoce explain --json` give it."""
    segments = [
        {
            "start": told.segment.start,
            "end": told.segment.end,
            "text": told.segment.text,
            "spoken": told.spoken.text,
            "parts": [_part(text, part) for part in told.spoken.parts],
        }
        for told in explain(text, language, lexicon, name_emoji=name_emoji)
    ]
    return {"object": "text.explanation", "language": language, "segments": segments}


def _part(text: str, part: Part) -> dict[str, Any]:
    """A part with its place in the whole text; what is not set is left out."""
    told: dict[str, Any] = {
        "start": part.start,
        "end": part.end,
        "source": text[part.start : part.end],
        "words": part.words,
        "rule": part.rule,
    }
    optional = {"pause_ms": part.pause_ms, "ipa": part.ipa, "language": part.language, "voice": part.voice}
    told |= {name: value for name, value in optional.items() if value}
    return told | ({"rate": part.rate} if part.rate != 1.0 else {})
