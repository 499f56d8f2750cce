"""Telephone numbers, digit by digit in their groups."""

from __future__ import annotations

import re

from .hit import Hit, Source
from .numbers import digits

__all__ = ["long_digits", "phone", "serial"]

END = r"(?![0-9A-Za-z]|[-.][0-9])"
INTERNATIONAL = re.compile(rf"\+[0-9]{{1,3}}(?:[ .-]?\([0-9]{{1,5}}\))?(?:[ .-]?[0-9]{{1,12}}){{1,6}}{END}")
AREA = re.compile(rf"(?:1[ .-]?)?\([0-9]{{2,5}}\)[ .-]?[0-9]{{3,4}}[ .-]?[0-9]{{3,6}}{END}")
DASHED = re.compile(rf"(?:1[.-])?[0-9]{{3}}([.-])[0-9]{{3}}\1[0-9]{{4}}{END}|[0-9]{{3}}-[0-9]{{4}}{END}")
SPACED = re.compile(
    rf"(?:0[0-9](?:[ .][0-9]{{2}}){{4}}|0[0-9]{{2,4}}[ ][0-9]{{3,4}}[ ][0-9]{{3,4}}|[2-9][0-9]{{2}}[ ][0-9]{{3}}[ ][0-9]{{4}}){END}"
)
EXTENSION = re.compile(r"[ ,]{0,2}(?:ext\.?|x)[ ]?([0-9]{1,6})(?![0-9A-Za-z])", re.IGNORECASE)
CARD = re.compile(rf"[0-9]{{4}}(?:[ -][0-9]{{4}}){{2,4}}{END}")
SOCIAL = re.compile(rf"[0-9]{{3}}-[0-9]{{2}}-[0-9]{{4}}{END}")
GROUP = re.compile(r"[0-9]+")
DIALED = re.compile(r"\*[0-9]{2,4}#?(?![0-9*#A-Za-z])|#[0-9]{2,4}#(?![0-9*#A-Za-z])")
VANITY = re.compile(r"1-([0-9]{3})-([A-Z]{4,12})(?![A-Za-z0-9])")
SERIAL = re.compile(rf"[0-9]{{1,12}}(?:-[0-9]{{1,12}}){{2,8}}{END}|[0-9]{{5}}-[0-9]{{4}}{END}")
LONG = re.compile(r"[0-9]{10,}+(?!,[0-9]|\.[0-9])")


def phone(source: Source, at: int) -> Hit | None:
    """`(555) 123-4567` is `five five five, one two three, four five six seven`."""
    text = source.text
    if (code := DIALED.match(text, at)) and not text[at - 1 : at].isalnum():
        signs = {"*": "star", "#": "hash"}
        return Hit(code.end(), " ".join(signs.get(sign) or digits(sign) for sign in code.group()), "phone")
    if text[at] == "+":
        match = INTERNATIONAL.match(text, at)
        if match is None or sum(map(str.isdigit, match.group())) < 7:
            return None
    else:
        match = AREA.match(text, at) or DASHED.match(text, at) or SPACED.match(text, at)
        if vanity := VANITY.match(text, at):
            area = "eight hundred" if vanity[1] == "800" else digits(vanity[1])
            return Hit(vanity.end(), f"one, {area}, {vanity[2].lower()}", "phone")
    if match is None:
        match = CARD.match(text, at) or SOCIAL.match(text, at)
        return Hit(match.end(), _groups(match.group()), "digits") if match else None
    words, end = _groups(match.group()), match.end()
    if extension := EXTENSION.match(text, end):
        words, end = f"{words}, extension {digits(extension[1])}", extension.end()
    return Hit(end, ("plus " if text[at] == "+" else "") + words, "phone")


def serial(source: Source, at: int) -> Hit | None:
    """Groups tied by hyphens that are a name: `978-3-16-148410-0`, the postcode `78701-1234`."""
    match = SERIAL.match(source.text, at)
    return Hit(match.end(), _groups(match.group()), "digits") if match else None


def _groups(text: str) -> str:
    groups = GROUP.findall(text)
    return ", ".join(digits(piece) for group in groups for piece in _pieces(group))


def _pieces(group: str) -> list[str]:
    """Ten digits without a break are said as three, three and four."""
    if len(group) == 10:
        return [group[:3], group[3:6], group[6:]]
    if len(group) == 11 and group[0] == "1":
        return [group[0], group[1:4], group[4:7], group[7:]]
    if len(group) > 6:
        return [group[index : index + 3] for index in range(0, len(group), 3)]
    return [group]


def long_digits(source: Source, at: int) -> Hit | None:
    """More digits than a person counts are read one by one, in groups."""
    match = LONG.match(source.text, at)
    if match is None:
        return None
    number = match.group()
    return Hit(match.end(), _groups(number) if len(number) < 20 else digits(number), "digits")
