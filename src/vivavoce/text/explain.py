"""What would be said for a text, segment by segment, and the rule behind each word."""

from __future__ import annotations

from dataclasses import dataclass

from .lexicon import Lexicon
from .normalizer import Normalizer
from .segment import Segment
from .splitter import Splitter
from .spoken import Spoken

__all__ = ["Explained", "explain"]


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
