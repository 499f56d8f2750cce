"""Times of day in English words."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import ONES, cardinal, decimal

__all__ = ["clock", "time_of_day"]

HALF = r"[ ]?(?P<half>[AaPp])(?:\.[ ]?[Mm]\.|\.?[Mm](?![A-Za-z]))"
CLOCK = re.compile(
    r"(?P<hour>[01]?[0-9]|2[0-4])(?P<sep>:|\.(?=[0-5][0-9][ ]?[AaPp]\.?[Mm]))(?P<minute>[0-5][0-9])(?![0-9])"
    rf"(?::(?P<second>[0-5][0-9])(?![0-9:]))?(?:{HALF})?(?P<zone>[ ]?(?:UTC|GMT)(?![A-Za-z]))?"
    r"(?:[ ]?[-–—][ ]?(?P<hour2>[01]?[0-9]|2[0-4]):(?P<minute2>[0-5][0-9])(?![0-9:])"
    r"(?:[ ]?(?P<half2>[AaPp])(?:\.[ ]?[Mm]\.|\.?[Mm](?![A-Za-z])))?)?"
)
HOUR = re.compile(rf"(?P<hour>1[0-2]|0?[1-9])(?:[ ]?[-–—][ ]?(?P<to>1[0-2]|0?[1-9]))?{HALF}")
HALVES = re.compile(
    r"(1[0-2]|0?[1-9])[ ]?([AaPp])\.?[Mm]\.?[ ]?[-–—][ ]?(1[0-2]|0?[1-9])[ ]?([AaPp])\.?[Mm](?:\.|(?![A-Za-z]))"
)
OCLOCK = re.compile(r"(1[0-2]|[1-9])[ ]?o['’]clock\b", re.IGNORECASE)
ELAPSED = re.compile(r"([0-9]{1,2}):([0-5][0-9]):([0-5][0-9])[.,]([0-9]{1,3})(?![0-9])")
COMPOSED = re.compile(
    r"(?=[0-9]{1,3}(?:d|h|m|min)[ ]?[0-9]{1,2}(?:h|m|min|s)(?![A-Za-z0-9]))(?:([0-9]{1,3})d[ ]?)?(?:([0-9]{1,3})h[ ]?)?"
    r"(?:([0-9]{1,3})m(?:in)?[ ]?)?(?:([0-9]{1,3})s)?(?![A-Za-z0-9])"
)
DURATION = re.compile(r"([0-9]{1,4})h[ ]?([0-5]?[0-9])(?:m|min)?(?![A-Za-z0-9])")


def clock(hour: int, minute: int, half: str = "") -> str:
    """`9:05` is `nine oh five`, `14:00` is `fourteen hundred`, `7:00 pm` is `seven p.m.`."""
    if half:
        tail = f" {half.lower()}.m."
        if minute == 0:
            return cardinal(hour) + tail
        return f"{cardinal(hour)} {_minutes(minute)}{tail}"
    if minute == 0:
        return f"{cardinal(hour)} o'clock" if 1 <= hour <= 12 else f"{cardinal(hour)} hundred"
    return f"{cardinal(hour)} {_minutes(minute)}"


def _minutes(minute: int) -> str:
    return f"oh {ONES[minute]}" if minute < 10 else cardinal(minute)


def _some(count: str, name: str) -> str:
    return f"{cardinal(int(count))} {name}{'' if int(count) == 1 else 's'}"


def time_of_day(source: Source, at: int) -> Hit | None:
    """`7:45 a.m.`, `14:30`, `7pm`, `9:00-17:30`, `7-9 pm`."""
    text = source.text
    if match := ELAPSED.match(text, at):
        words = f"{_some(match[1], 'hour')} {_some(match[2], 'minute')} {decimal(f'{match[3]}.{match[4]}')} seconds"
        return Hit(match.end(), words, "time")
    if match := COMPOSED.match(text, at):
        counts = zip(match.groups(), ("day", "hour", "minute", "second"), strict=True)
        return Hit(match.end(), " ".join(_some(count, name) for count, name in counts if count), "time")
    if match := CLOCK.match(text, at):
        hour, minute, half = int(match["hour"]), int(match["minute"]), match["half"] or ""
        words = clock(hour, minute, half)
        if match["second"]:
            seconds = int(match["second"])
            words = f"{words} and {cardinal(seconds)} second{'' if seconds == 1 else 's'}" if seconds else words
        if match["zone"]:
            words += " U T C" if "UTC" in match["zone"] else " G M T"
        if match["hour2"]:
            words += f" to {clock(int(match['hour2']), int(match['minute2']), match['half2'] or '')}"
        return Hit(match.end(), words, "time")
    if match := HALVES.match(text, at):
        first, last = (f"{cardinal(int(match[n]))} {match[n + 1].lower()}.m." for n in (1, 3))
        return Hit(match.end(), f"{first} to {last}", "time")
    if match := HOUR.match(text, at):
        tail = f" {match['half'].lower()}.m."
        upto = f" to {cardinal(int(match['to']))}" if match["to"] else ""
        return Hit(match.end(), cardinal(int(match["hour"])) + upto + tail, "time")
    if match := OCLOCK.match(text, at):
        return Hit(match.end(), f"{cardinal(int(match[1]))} o'clock", "time")
    if match := DURATION.match(text, at):
        hours, minutes = int(match[1]), int(match[2])
        said = (
            f"{cardinal(hours)} hour{'' if hours == 1 else 's'} {cardinal(minutes)} minute{'' if minutes == 1 else 's'}"
        )
        return Hit(match.end(), said, "time")
    return None
