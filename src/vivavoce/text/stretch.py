"""What is left of a text when its markup is taken off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .rules.ssml import Style

__all__ = ["Stretch", "Wait"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Words in one style. `origin[i]` is where `text[i]` stands in the source; one more entry gives the end."""

    text: str
    origin: Sequence[int]
    style: Style


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause, or words that markup itself says, for the source `[start, end)`."""

    start: int
    end: int
    rule: str
    pause_ms: int = 0
    words: str = ""
