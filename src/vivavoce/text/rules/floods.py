"""The same few signs over and over: said in one go, so that no input takes more than linear time."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import ONES

__all__ = ["flood"]

SHORTEST = 80
REPEATED = re.compile(r"(\S{1,4}?)\1{30}")
WHOLE = re.compile(r"(\S{1,4}?)\1{30,}+")
SPOKEN = {ord("0") + value: f" {name} " for value, name in enumerate(ONES[:10])}


def flood(source: Source, at: int) -> Hit | None:
    """Dozens of repetitions of up to four signs: letters and digits one by one, the rest not at all."""
    text = source.text
    if len(text) - at < SHORTEST or not text[at] == text[at + 12] == text[at + 24]:  # 12 is a multiple of 1 to 4
        return None
    match = REPEATED.match(text, at)
    if match is None or match[1].isalpha():
        return None
    match = WHOLE.match(text, at) or match
    unit = "".join(character if character.isalnum() and character.isascii() else " " for character in match[1])
    once = " ".join(unit.translate(SPOKEN).split())
    count = (match.end() - at) // len(match[1])
    return Hit(match.end(), " ".join([once] * count) if once else "", "repetition")
