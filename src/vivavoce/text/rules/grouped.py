"""Numbers whose thousands are set apart as elsewhere in the world: `1 000 000`, `1'000`, `1.000.000`, `1.234,50`."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import decimal
from .units import AFTER_FRACTION, NOT_SPACED, plural_of

__all__ = ["grouped"]

END = r"(?![0-9]|[.,'’:/-][0-9])"
GROUPED = re.compile(
    rf"[1-9][0-9]{{0,2}}(?:(?:[ ][0-9]{{3}}){{1,4}}|(?:['’][0-9]{{3}}){{1,4}}|(?:\.[0-9]{{3}}){{2,4}})(?:,([0-9]{{1,2}}))?{END}"
    rf"|[1-9][0-9]{{0,2}}(?:\.[0-9]{{3}}),([0-9]{{1,2}}){END}"
)
MARKS = re.compile("[ .'’]")


def grouped(source: Source, at: int) -> Hit | None:
    """A space divides a number only where thousands are round (`25 000`); other groups could be a name."""
    match = GROUPED.match(source.text, at)
    if match is None or (at and source.text[at - 1] in ".,:/-" and source.text[at - 2 : at - 1].isdigit()):
        return None
    whole = match.group().partition(",")[0]
    if " " in whole and not whole.endswith(" 000"):
        return None
    part = match[1] or match[2]
    words, end = decimal(MARKS.sub("", whole) + (f".{part}" if part else "")), match.end()
    unit = AFTER_FRACTION.match(source.text, end)
    if unit is None or unit["unit"] in NOT_SPACED or len(unit["unit"]) == 1:
        return Hit(end, words, "number")
    return Hit(unit.end(), f"{words} {plural_of(unit['unit'], None)}", "unit")
