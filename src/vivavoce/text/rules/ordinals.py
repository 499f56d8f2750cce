"""First, second, third; and decades."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import cardinal, ordinal, year

__all__ = ["decade", "ordinal_number", "plural", "short_decade"]

ORDINAL = re.compile(r"([0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,15})(?:st|nd|rd|th|ST|ND|RD|TH)(?![A-Za-z0-9])")
SPAN = re.compile(r"([0-9]{1,3})(?:st|nd|rd|th)?[ ]?[-–—][ ]?([0-9]{1,3})(?:st|nd|rd|th)(?![0-9A-Za-z])")
DECADE = re.compile(r"([0-9]{3}0)['’]?s(?![A-Za-z0-9])")
DECADES = re.compile(r"([0-9]{3}0)['’]?s?[-–—]['’]?([0-9]{3}0|[1-9]0)['’]?s(?![A-Za-z0-9])")
SHORT_DECADE = re.compile(r"['’‘]([0-9]0)s(?![A-Za-z0-9])")
BARE_DECADE = re.compile(r"([0-9]0)['’]?s(?![A-Za-z0-9])")
AGE_BEFORE = re.compile(r"\b(?:his|her|their|my|your|our|the|early|mid|late|and|to|in)[ -]$", re.IGNORECASE)
SHORT_YEAR = re.compile(r"['’‘]([0-9]{2})(?![A-Za-z0-9])")


def ordinal_number(source: Source, at: int) -> Hit | None:
    """`21st` is `twenty-first`."""
    if match := SPAN.match(source.text, at):
        return Hit(match.end(), f"{ordinal(int(match[1]))} to {ordinal(int(match[2]))}", "range")
    match = ORDINAL.match(source.text, at)
    if match is None:
        return None
    return Hit(match.end(), ordinal(int(match[1].replace(",", ""))), "ordinal")


def plural(words: str) -> str:
    """`nineteen ninety` is `nineteen nineties`, `six` is `sixes`."""
    if words.endswith("y"):
        return words[:-1] + "ies"
    return words + ("es" if words.endswith(("x", "s")) else "s")


def short_decade(source: Source, at: int) -> Hit | None:
    """`90s` is `nineties`, where it is clear that no seconds are meant."""
    match = BARE_DECADE.match(source.text, at)
    if match is None:
        return None
    value = int(match[1])
    return Hit(match.end(), plural(cardinal(value)) if value else "two thousands", "decade")


def decade(source: Source, at: int) -> Hit | None:
    """`1990s` is `nineteen nineties`, `'90s` is `nineties`, `'99` is `ninety-nine`."""
    text = source.text
    if match := DECADES.match(text, at):
        last = plural(year(int(match[2]))) if len(match[2]) == 4 else plural(cardinal(int(match[2])))
        return Hit(match.end(), f"{plural(year(int(match[1])))} to {last}", "range")
    if match := DECADE.match(text, at):
        return Hit(match.end(), plural(year(int(match[1]))), "decade")
    if SHORT_DECADE.match(text, at):
        return short_decade(source, at + 1)
    if AGE_BEFORE.search(text, max(0, at - 7), at) and (hit := short_decade(source, at)):
        return hit
    if match := SHORT_YEAR.match(text, at):
        value = int(match[1])
        return Hit(match.end(), cardinal(value) if value > 9 else f"oh {cardinal(value)}", "year")
    return None
