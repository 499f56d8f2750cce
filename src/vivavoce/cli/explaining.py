"""A text taken apart as it would be spoken."""

from __future__ import annotations

from typing import Any

from ..text import Lexicon, Normalizer, Part, Segment, Splitter

__all__ = ["explanation"]


def explanation(text: str, language: str, lexicon: Lexicon | None, *, name_emoji: bool = False) -> dict[str, Any]:
    """The same as `POST /v1/text/explain` answers."""
    splitter, normalizer = Splitter(language), Normalizer(language, lexicon, name_emoji=name_emoji)
    segments = []
    for segment in (*splitter.feed(text), *splitter.flush()):
        spoken = normalizer.speak(segment.text)
        place = {"start": segment.start, "end": segment.end, "text": segment.text, "spoken": spoken.text}
        segments.append({**place, "parts": [_part(segment, part) for part in spoken.parts]})
    return {"object": "text.explanation", "language": language, "segments": segments}


def _part(segment: Segment, part: Part) -> dict[str, Any]:
    told: dict[str, Any] = {
        "start": segment.start + part.start,
        "end": segment.start + part.end,
        "source": segment.text[part.start : part.end],
        "words": part.words,
        "rule": part.rule,
    }
    optional = {"pause_ms": part.pause_ms, "ipa": part.ipa, "language": part.language, "voice": part.voice}
    told |= {name: value for name, value in optional.items() if value}
    return told | ({"rate": part.rate} if part.rate != 1.0 else {})
