"""A text taken apart as it would be spoken, as plain data."""

from __future__ import annotations

from typing import Any

from ..text import Lexicon, Part
from ..text.explain import explain

__all__ = ["explanation"]


def explanation(text: str, language: str, lexicon: Lexicon | None, *, name_emoji: bool = False) -> dict[str, Any]:
    """The same as `POST /v1/text/explain` answers."""
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
