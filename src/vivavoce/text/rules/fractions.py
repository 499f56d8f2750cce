"""Fractions in English words."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import cardinal, decimal, ordinal
from .units import AFTER_FRACTION, FRACTIONS, NOT_SPACED, UNITS

__all__ = ["fraction", "spoken_fraction"]

GLYPH = re.compile(rf"([0-9]{{1,9}})?[ ]?([{''.join(FRACTIONS)}])")
SLASHED = re.compile(
    r"(?:([0-9]{1,3})[ -])?([0-9]{1,3})[/⁄]([0-9]{1,3})(?:(?<=[3-9])(?:rd|th)s?|(?<=2)nds?)?(?![0-9/A-Za-z]|[.,][0-9])"
)
MARKED = re.compile(r"([0-9]{1,3}\.[0-9]{1,2})/(5|10|20|100)(?![0-9A-Za-z/]|[.,][0-9])")
AROUND_THE_CLOCK = re.compile(r"24/7(?:/365)?(?![0-9/])")
COUNTED_BEFORE = re.compile(
    r"\b(?:step|page|part|slide|chapter|question|attempt|level|day|week|round|lesson|item|stage|phase|try|track)[ ]$",
    re.I,
)
SIMPLE = frozenset({2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 32, 64, 100})


def spoken_fraction(upper: int, lower: int) -> str:
    """`3/4` is `three quarters`, `5/17` is `five over seventeen`."""
    if lower not in SIMPLE or upper > lower * 2:
        return f"{cardinal(upper)} over {cardinal(lower)}"
    name = {2: "half", 4: "quarter"}.get(lower) or ordinal(lower)
    if upper == 1:
        return f"one {name}"
    return f"{cardinal(upper)} {'halves' if lower == 2 else name + 's'}"


def _mixed(whole: str, part: str) -> str:
    part = part.replace("one half", "a half").replace("one quarter", "a quarter")
    return f"{cardinal(int(whole))} and {part}"


def fraction(source: Source, at: int) -> Hit | None:
    """`½`, `2½`, `3/4`, `1 1/2`, `1/2 tsp`, and `24/7`."""
    hit = _fraction(source.text, at)
    if hit is None or not (unit := AFTER_FRACTION.match(source.text, hit.end)):
        return hit
    name = unit["unit"]
    if name in NOT_SPACED and name not in ("in", "ct"):
        return hit
    if name == "in" and source.text[unit.end() : unit.end() + 1].isspace():
        return hit
    one, many = UNITS[name]
    return Hit(unit.end(), f"{hit.words} {many if ' and ' in hit.words or ' over ' in hit.words else one}", "unit")


def _fraction(text: str, at: int) -> Hit | None:
    if match := MARKED.match(text, at):
        return Hit(match.end(), f"{decimal(match[1])} out of {cardinal(int(match[2]))}", "fraction")
    if match := AROUND_THE_CLOCK.match(text, at):
        said = "twenty-four seven" + (" three sixty-five" if match.group().endswith("365") else "")
        return Hit(match.end(), said, "fraction")
    if (match := GLYPH.match(text, at)) and (match[1] or match.start(2) == at):
        part = FRACTIONS[match[2]]
        return Hit(match.end(), _mixed(match[1], part) if match[1] else part, "fraction")
    match = SLASHED.match(text, at)
    if match is None or int(match[3]) == 0:
        return None
    if match.group() in ("9/11", "7/7", "20/20"):
        return Hit(match.end(), f"{cardinal(int(match[2]))} {cardinal(int(match[3]))}", "fraction")
    if int(match[2]) + int(match[3]) == 100 and int(match[3]) > 9 and not match[1]:
        return Hit(match.end(), f"{cardinal(int(match[2]))} {cardinal(int(match[3]))}", "fraction")
    if match[2] == match[3] and not match[1]:
        return Hit(match.end(), f"{cardinal(int(match[2]))} out of {cardinal(int(match[3]))}", "fraction")
    if not match[1] and int(match[2]) <= int(match[3]) and COUNTED_BEFORE.search(text, max(0, at - 12), at):
        return Hit(match.end(), f"{cardinal(int(match[2]))} of {cardinal(int(match[3]))}", "fraction")
    part = spoken_fraction(int(match[2]), int(match[3]))
    if match[1] and " over " in part:
        return None
    return Hit(match.end(), _mixed(match[1], part) if match[1] else part, "fraction")
