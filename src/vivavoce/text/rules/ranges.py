"""Ranges and scores: from one number to another."""

from __future__ import annotations

import re

from .dates import MONTHS
from .hit import Hit, Source
from .numbers import NUMBER, decimal, digits, year

__all__ = ["number_range"]

YEARS = re.compile(r"((?:1[0-9]|20)[0-9]{2})[ ]?[-–—/][ ]?((?:1[0-9]|20)[0-9]{2}|[0-9]{2})(?![0-9A-Za-z]|[-/.][0-9])")
MONTH_OF = re.compile(r"(0?[1-9]|1[0-2])/((?:19|20)[0-9]{2})(?![0-9A-Za-z]|[-/.][0-9])")
NUMBERS = re.compile(rf"({NUMBER})(?:-|[ ]?[–—][ ]?)({NUMBER})(?![0-9]|[-/][0-9]|[ ]?=)")
BOOK_BEFORE = re.compile(
    r"\b(?:Psalms?|Genesis|Gen\.?|Exodus|Isaiah|Matthew|Mark|Luke|John|Acts|Romans|Corinthians|Hebrews|James|Peter|Proverbs|"
    r"Job|Ruth|Kings|Samuel|Revelation|Surah?|Quran)[ ]$"
)
VERSES = re.compile(r"([0-9]{1,3}):([0-9]{1,3})[-–]([0-9]{1,3})(?![0-9:])")
RATIO = re.compile(r"([0-9]{1,4}):([0-9]{1,4})(?![0-9:])")


def number_range(source: Source, at: int) -> Hit | None:
    """`5–7` is `five to seven`, `1990-95` is `nineteen ninety to ninety-five`, `16:9` is `sixteen to nine`."""
    text = source.text
    if match := YEARS.match(text, at):
        first, last = match[1], match[2]
        if len(last) == 4 or int(last) > int(first[2:]):
            second = year(int(last)) if len(last) == 4 else decimal(last)
            return Hit(match.end(), f"{year(int(first))} to {second}", "range")
        if 1 <= int(last) <= 12 and text[match.start(2) - 1] == "-":
            return Hit(match.end(), f"{MONTHS[int(last) - 1]} {year(int(first))}", "date")
    if match := MONTH_OF.match(text, at):
        return Hit(match.end(), f"{MONTHS[int(match[1]) - 1]} {year(int(match[2]))}", "date")
    if match := NUMBERS.match(text, at):
        if len(match[2]) > 2 and match[2][0] == "0" and match[2].isdigit():
            return Hit(match.end(), f"{digits(match[1])}, {digits(match[2])}", "digits")
        between = " " if match.group() in ("50-50", "60-40", "70-30", "80-20", "90-10") else " to "
        return Hit(match.end(), f"{decimal(match[1])}{between}{decimal(match[2])}", "range")
    if match := RATIO.match(text, at):
        if (verses := VERSES.match(text, at)) and BOOK_BEFORE.search(text, max(0, at - 16), at):
            chapter, first, last = (decimal(number) for number in verses.groups())
            return Hit(verses.end(), f"{chapter} {first} to {last}", "verse")
        if BOOK_BEFORE.search(text, max(0, at - 16), at):
            return Hit(match.end(), f"{decimal(match[1])} {decimal(match[2])}", "verse")
        return Hit(match.end(), f"{decimal(match[1])} to {decimal(match[2])}", "ratio")
    return None
