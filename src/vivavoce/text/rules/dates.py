"""Dates in English words."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import ordinal, year
from .times import clock

__all__ = ["date", "named_date"]

MONTHS = str.split("January February March April May June July August September October November December")
SHORT = {name[:3]: name for name in MONTHS} | {"Sept": "September"} | {name: name for name in MONTHS}
SHORT |= {short.upper(): name for short, name in SHORT.items()}
DAYS = str.split("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
SHORT_DAYS = {name[:3]: name for name in DAYS} | {name: name for name in DAYS}
SHORT_DAYS |= {"Tues": "Tuesday", "Thur": "Thursday", "Thurs": "Thursday"}
# Short forms that are nothing else in English, so that they need no day or year beside them.
CLEAR = frozenset(str.split("Feb Aug Sept Oct Nov Dec"))
STARTS = frozenset(name[:3] for name in (*MONTHS, *DAYS))
MONTH = "|".join(sorted(SHORT, key=len, reverse=True))
DAY = "|".join(sorted(SHORT_DAYS, key=len, reverse=True))
SUFFIX = r"(?:st|nd|rd|th)?"
YEAR = r"(?:1[0-9]{3}|20[0-9]{2})(?![0-9]|[.,:/][0-9]|%)"
ISO = re.compile(
    r"([0-9]{4})[-/]([01]?[0-9])[-/]([0-3]?[0-9])(?:[T ]([0-2]?[0-9]):([0-5][0-9])(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?(?![0-9A-Za-z-])"
)
SLASHED = re.compile(r"([0-3]?[0-9])([/.-])([0-3]?[0-9])\2([0-9]{4}|[0-9]{2})(?![0-9A-Za-z/-]|\.[0-9])")
DAY_FIRST = re.compile(
    rf"([0-3]?[0-9]){SUFFIX}(?:[ ]?[-–—][ ]?([0-3]?[0-9]){SUFFIX})?(?:[ ]of)?[ -](?P<month>{MONTH})(?![A-Za-z])(?P<dot>\.(?=[ ]?[0-9,]))?(?:,?[ -](?P<year>{YEAR}))?"
)
MONTH_FIRST = re.compile(
    rf"(?P<month>{MONTH})(?P<dot>\.?)[ ](?P<day>[0-3]?[0-9])(?![0-9]|[.,:/%][0-9]|%)(?:st|nd|rd|th)?(?![A-Za-z])"
    rf"(?:[ ]?[-–—][ ]?(?P<to>[0-3]?[0-9])(?![0-9]|[.,:/][0-9]){SUFFIX}(?![A-Za-z]))?(?:,?[ ](?P<year>{YEAR}))?"
)
MONTH_YEAR = re.compile(
    rf"(?P<month>{MONTH})(?P<dot>\.?)(?P<gap>,?[ ]|[ ]?[-’'])(?P<year>{YEAR}|[0-9]{{2}}(?![0-9A-Za-z]|[.,:/%][0-9]|%))"
)
MONTH_RANGE = re.compile(
    rf"(?P<first>{MONTH})\.?[ ]?[-–—/][ ]?(?P<last>{MONTH})(?![A-Za-z])(?:\.(?=[ ]?[0-9]))?(?:,?[ ](?P<year>{YEAR}))?"
)
DAY_RANGE = re.compile(rf"(?P<first>{DAY})\.?[ ]?[-–—/][ ]?(?P<last>{DAY})(?![A-Za-z])")
DAY_NAME = re.compile(rf"(?P<day>{DAY})(?P<dot>\.?)(?=,?[ ](?:[0-3]?[0-9](?:st|nd|rd|th)?\b|(?:{MONTH})(?![A-Za-z])))")
CLEAR_MONTH = re.compile(
    rf"(?P<month>{'|'.join(sorted(CLEAR, key=len, reverse=True))})(?![A-Za-z'’-])(?P<dot>\.(?=[ ][a-z0-9]|,))?"
)


def _day(text: str) -> int | None:
    value = int(text)
    return value if 1 <= value <= 31 else None


def _said(month: str, day: int, then: str = "", to: str = "") -> str:
    words = f"{month} {ordinal(day)}" + (f" to {ordinal(int(to))}" if to else "")
    return f"{words}, {year(int(then))}" if then else words


def date(source: Source, at: int) -> Hit | None:
    """A date that starts with a digit: ISO, slashed, or the day before the month."""
    text = source.text
    if match := ISO.match(text, at):
        month, day = int(match[2]), int(match[3])
        if 1 <= month <= 12 and 1 <= day <= 31:
            words = _said(MONTHS[month - 1], day, match[1])
            if match[4]:
                words += f", {clock(int(match[4]), int(match[5]))}"
            return Hit(match.end(), words, "date")
    if match := SLASHED.match(text, at):
        first, second, sep = int(match[1]), int(match[3]), match[2]
        day_first = first > 12 or (second <= 12 and (sep == "." or source.british))
        day, month = (first, second) if day_first else (second, first)
        if 1 <= month <= 12 and 1 <= day <= 31:
            full = match[4] if len(match[4]) == 4 else f"{'19' if int(match[4]) > 49 else '20'}{match[4]}"
            return Hit(match.end(), _said(MONTHS[month - 1], day, full), "date")
    match = DAY_FIRST.match(text, at)
    if match is None or _day(match[1]) is None:
        return None
    words = ordinal(int(match[1])) + (f" to {ordinal(int(match[2]))}" if match[2] else "")
    article = "" if text[max(0, at - 4) : at].lower() == "the " else "the "
    words = f"{article}{words} of {SHORT[match['month']]}"
    return Hit(match.end(), f"{words}, {year(int(match['year']))}" if match["year"] else words, "date")


def named_date(source: Source, at: int) -> Hit | None:
    """A date that starts with a letter: `May 3rd`, `Oct-Dec 2024`, `Mon-Fri`, `Sept. 2021`."""
    text = source.text
    if text[at : at + 3].capitalize() not in STARTS:
        return None
    if match := MONTH_RANGE.match(text, at):
        words = f"{SHORT[match['first']]} to {SHORT[match['last']]}"
        return Hit(match.end(), f"{words} {year(int(match['year']))}" if match["year"] else words, "date")
    if match := DAY_RANGE.match(text, at):
        return Hit(match.end(), f"{SHORT_DAYS[match['first']]} to {SHORT_DAYS[match['last']]}", "date")
    if (match := MONTH_FIRST.match(text, at)) and (day := _day(match["day"])) is not None:
        return Hit(match.end(), _said(SHORT[match["month"]], day, match["year"] or "", match["to"] or ""), "date")
    if match := MONTH_YEAR.match(text, at):
        return _month_year(match)
    if match := DAY_NAME.match(text, at):
        return Hit(match.end(), SHORT_DAYS[match["day"]], "date") if match["day"] in SHORT_DAYS else None
    if match := CLEAR_MONTH.match(text, at):
        return Hit(match.end(), SHORT[match["month"]], "date")
    return None


def _month_year(match: re.Match[str]) -> Hit | None:
    if len(match["year"]) == 2:
        if match["gap"].strip() not in ("'", "’", "-"):
            return None
        return Hit(match.end(), f"{SHORT[match['month']]} {year(2000 + int(match['year']))}", "date")
    return Hit(match.end(), f"{SHORT[match['month']]} {year(int(match['year']))}", "date")
