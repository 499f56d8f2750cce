"""Words tied by hyphens and slashes, and any word that no other rule claimed."""

from __future__ import annotations

import re

from .capitals import WORDS
from .hit import Hit, Source
from .initialisms import is_spelled, mixed, upper_word
from .numbers import label, plain_number
from .ordinals import decade, ordinal_number, plural, short_decade
from .units import PER, POWERS, UNITS

__all__ = ["compound", "slash", "word"]

LETTERS = "A-Za-zÀ-ÖØ-öø-ÿ\u0100-\u024f\u1e00-\u1eff"
PIECE = rf"(?:[0-9]{{1,6}}(?:\.[0-9]{{1,6}}){{1,3}}|[{LETTERS}0-9]{{1,40}})"
COMPOUND = re.compile(rf"{PIECE}(?:[-‐‑]{PIECE}){{1,8}}(?:['’]s)?(?![{LETTERS}0-9_@])")
WORD = re.compile(rf"[{LETTERS}]++(?:['’][{LETTERS}]++)*+")
CAMEL_TAIL = re.compile(r"([A-Za-z][a-z]{2,20})([A-Z]{2,8})(s)?")
QUARTERS = re.compile(r"([QH])([1-4])[-–—]\1?([1-4])(?![A-Za-z0-9])")
COUNTED = re.compile("[0-9]{1,3}s")
LEFT = re.compile(r"([A-Za-z]{1,20})$")
RIGHT = re.compile(r"/[ ]?([A-Za-z]{1,12})([²³]|\^[23])?(?![A-Za-z0-9_-]|\.[A-Za-z0-9])(?:\.(?=,|[ ][a-z]))?")
MANY = frozenset(str.split("people children men women inhabitants"))
COUNT_BEFORE = re.compile(r"[0-9%](?:[ ]?[A-Za-z]{1,12})?$")
DIVIDED = re.compile(r"[0-9)] $")
NUMBER_NEXT = re.compile(r"/[ ]?[0-9(]")


def compound(source: Source, at: int) -> Hit | None:
    """`COVID-19`, `F-16`, `3-year-old`, `T-shirt`, `mid-1990s`: each piece by its own rule, one word in all."""
    if quarters := QUARTERS.match(source.text, at):
        letter, first, last = quarters.groups()
        return Hit(quarters.end(), f"{letter} {label(first)} to {letter} {label(last)}", "range")
    match = COMPOUND.match(source.text, at)
    if match is None:
        return None
    whole = match.group()
    tail = "'s" if whole[-2:] in ("'s", "’s") else ""
    pieces = re.split("[-‐‑]", whole.removesuffix("’s").removesuffix("'s"))
    if all(piece.replace(".", "").isdigit() for piece in pieces):
        return None
    if any(len(piece) > 1 and piece.isalpha() and piece.isupper() and is_spelled(piece) for piece in pieces):
        return None  # the letters are said by their own rule, which knows their sound
    said = [_piece(piece, source.shouting) for piece in pieces]
    same = said[1:] == pieces[1:] and (said[0] == pieces[0] or pieces[0][0].isdigit())
    joined = ("-" if same and all(" " not in piece for piece in said) else " ").join(said)
    return Hit(match.end(), joined + tail, "plain" if joined + tail == whole else "compound")


def _piece(piece: str, shouting: bool) -> str:
    alone = Source(piece, shouting=shouting)
    if "." in piece:
        return " point ".join(label(number) for number in piece.split("."))
    if COUNTED.fullmatch(piece) and not short_decade(alone, 0):
        return plural(label(piece[:-1]))
    if piece.isdigit():
        hit = plain_number(alone, 0)
        return hit.words if hit and hit.rule == "year" else label(piece)
    for rule in (ordinal_number, decade, short_decade, mixed) if any(map(str.isdigit, piece)) else (upper_word,):
        hit = rule(alone, 0)
        if hit is not None and hit.end == len(piece):
            return hit.words
    return piece


def per(source: Source, at: int) -> Hit | None:
    """`litres/day` is `litres per day`, `$3/user/month` is `three dollars per user per month`."""
    text = source.text
    right = RIGHT.match(text, at) if text[at] == "/" else None
    if right is None or right[1] not in PER or (len(right[1]) == 1 and right[1].isupper()):
        return None
    left = LEFT.search(text, max(0, at - 20), at)
    plural_left = left is not None and (left[1].endswith("s") or left[1] in UNITS or left[1] in PER or left[1] in MANY)
    if not plural_left and not COUNT_BEFORE.search(text, max(0, at - 20), at):
        return None
    power = POWERS.get(right[2] or "", "")
    return Hit(right.end(), f"per {power}{PER[right[1]]}", "rate")


def _paired(text: str, at: int) -> bool:
    """Whether the slash stands between two short names in capitals: `A/B`, `TCP/IP`."""
    left, right = LEFT.search(text, max(0, at - 20), at), RIGHT.match(text, at)
    return all(side is not None and side[1].isupper() and len(side[1]) < 5 for side in (left, right))


def slash(source: Source, at: int) -> Hit | None:
    """A slash divides numbers, stands between two letters unheard, and is named between other words."""
    text = source.text
    if text[at] != "/":
        return None
    if DIVIDED.search(text, max(0, at - 3), at) and NUMBER_NEXT.match(text, at):
        return Hit(at + 1, "divided by", "math")
    if text[at - 1 : at].isspace() or not at or text[at + 1 : at + 2].isspace() or _paired(text, at):
        return Hit(at + 1, "", "slash")
    return Hit(at + 1, "slash", "slash")


def word(source: Source, at: int) -> Hit | None:
    """Any other word stays as it is; capitals at the end of a name are spelled (`OpenAI`)."""
    match = WORD.match(source.text, at)
    if match is None:
        return None
    text = match.group()
    camel = CAMEL_TAIL.fullmatch(text)
    if camel and camel[2] not in WORDS and is_spelled(camel[2]):
        return Hit(at + camel.end(1), camel[1], "plain")
    if source.shouting and len(text) > 1 and text.isupper():
        return Hit(match.end(), text.lower().replace("’", "'"), "capitals")
    said = text.replace("’", "'")
    return Hit(match.end(), said, "plain")
