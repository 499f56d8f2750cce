"""Text becomes the words that are said."""

from __future__ import annotations

import re

from .lexicon import Lexicon
from .spoken import Part, Spoken

__all__ = ["Normalizer", "speak"]

TOKEN = re.compile(r"\S+")


def speak(text: str, language: str = "en", lexicon: Lexicon | None = None) -> Spoken:
    """What will be said for one text, and where each word came from. Never raises on any input."""
    return Normalizer(language, lexicon).speak(text)


class Normalizer:
    """Speaks the segments of one utterance in order; markup left open in one stays open in the next."""

    def __init__(self, language: str = "en", lexicon: Lexicon | None = None, name_emoji: bool = False) -> None:
        self.language = language
        self.lexicon = lexicon
        self.name_emoji = name_emoji

    def speak(self, segment_text: str) -> Spoken:
        """The words of the next segment; spans count within `segment_text`."""
        parts: list[Part] = []
        out = ""
        for match in TOKEN.finditer(segment_text):
            out += " " if out else ""
            word = match.group()
            parts.append(Part(match.start(), match.end(), word, "plain", len(out), len(out) + len(word)))
            out += word
        return Spoken(out, tuple(parts))
