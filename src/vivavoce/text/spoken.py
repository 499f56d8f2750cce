"""What will be said for a piece of text, and where each word of it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Part", "Spoken"]


class Part(NamedTuple):
    """A stretch of the source and the words spoken for it.

    `[start, end)` is the span in the source text, in code points; `[out_start, out_end)` is where `words` stands in
    `Spoken.text`. `rule` names what decided (`plain`, `currency`, `pause`, …). A part that only waits has empty
    `words` and a `pause_ms`; one for markup or a dropped character has empty `words` and no pause. `ipa` overrides the
    pronunciation, `rate` multiplies the speed, `language` and `voice` are set where markup asked for another one.
    """

    start: int
    end: int
    words: str
    rule: str
    out_start: int
    out_end: int
    pause_ms: int = 0
    ipa: str | None = None
    rate: float = 1.0
    language: str | None = None
    voice: str | None = None


@dataclass(frozen=True, slots=True)
class Spoken:
    """The words of one text, ready for any engine.

    `text` is what is said, without markup; `parts` are in source order, cover every character of the source that is
    not plain white space between words, and point both ways.
    """

    text: str
    parts: tuple[Part, ...]

    @property
    def silent(self) -> bool:
        """Whether no engine needs to be called: there is no letter and no digit to say."""
        return not any(character.isalnum() for character in self.text)
