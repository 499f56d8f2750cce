"""What a rule answers when it recognizes something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Hit", "Rule", "Source"]


class Hit(NamedTuple):
    """The rule took the characters up to `end` and says `words` for them."""

    end: int
    words: str
    rule: str
    ipa: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The text that rules look at.

    `shouting` is true where a whole sentence is written in capitals, `mute` where there are only signs to see.
    """

    text: str
    british: bool = False
    shouting: bool = False
    mute: bool = False


Rule = Callable[[Source, int], Hit | None]
"""A rule looks at the text from a position on and answers a hit or None; it never looks further than a fixed bound."""
