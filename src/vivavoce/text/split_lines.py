"""Where lines end sentences: headings, list items, table rows, verses; and where they are only wrapped."""

from __future__ import annotations

import re

from .abbreviations import SentenceRules
from .split_marks import BREAKS, OPENERS
from .split_stops import NO, WAIT, spoken_after

__all__ = ["Marker", "line_ends", "next_marker"]

# A line this short, with a capital on the next, is a title, a verse or an address; prose is wrapped later.
_VERSE_CHARS = 45

_LINE_BREAK = re.compile(rf"\s*[{BREAKS}]")
_EMPTY_LINE = re.compile(r"(?:\r\n|[\n\r\x85\u2028])[^\S\n\r\x85\u2028]*[\n\r\x85\u2028]|\u2029")
_NEW_BLOCK = re.compile(r"[ \t]*(?:[-*+•⁃‣◦▪●○–—][ \t]|\d{1,3}[.)][ \t]|#{1,6}[ \t]|>|\||```|~~~)")
_MAYBE_BLOCK = re.compile(r"[ \t]*(?:[-*+•⁃‣◦▪●○–—]|\d{1,3}[.)]?|#{1,6}|`{1,2}|~{1,2})?\Z")
_OWN_LINE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\|)")
_ITEM = re.compile(r"[ \t]*(?:[-*+•⁃‣◦▪●○][ \t]|\d{1,3}[.)][ \t])")

_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")

Marker = tuple[str, str]  # what numbers the item ("3", "c"), and what follows the number (".", ")", ".)")


def line_ends(text: str, start: int, at: int, final: bool, rules: SentenceRules) -> int:
    """Where the next sentence begins if the line break at `at` ends one, or NO, WAIT, HOLD."""
    after = _LINE_BREAK.match(text, at).end()  # type: ignore[union-attr]
    lead = spoken_after(text, after, final)
    if lead < 0 or lead == len(text):
        return lead
    if _EMPTY_LINE.search(text, at, lead):
        return after
    if not final and _MAYBE_BLOCK.match(text, after):
        return WAIT
    if _NEW_BLOCK.match(text, after):
        return after
    line = text[max(start, at - 200) : at].rstrip()
    line = line[max(line.rfind(mark) for mark in "\n\r\u2028") + 1 :]
    if _OWN_LINE.match(line):
        return after
    letter = text[lead]
    if not line or line[-1] in ".!?…,;-،、，；" or letter.islower():
        return NO
    if line[-1] in ":：":
        return after
    if _ITEM.match(line):
        return NO if text[after] in " \t" else after
    last = line.split()[-1].lower().strip(OPENERS)
    if len(line) >= _VERSE_CHARS or last in rules.open_words:
        return NO
    return after if letter.isalnum() else NO


def next_marker(label: str, style: str, known: Marker | None, heads: bool, text: str, at: int) -> Marker | None:
    """The list marker that `label` is, standing before `at`, or None where it is none.

    It is one at the head of a sentence (`heads`), `1` behind a colon, or where it continues `known`.
    """
    digits = label.isdigit()
    if not label.isascii() or not (digits or label in _ROMANS or (len(label) == 1 and label.isalpha())):
        return None
    if heads:
        return (label, style) if digits or style != "." or label.islower() else None
    before = text[max(0, at - len(label) - 24) : at - len(label)].rstrip()
    if int(label, 36) == 1 and before.endswith((":", "：")):
        return (label, style)
    if known is None or known[1] != style:
        return None
    return (label, style) if label in _following(known[0]) else None


def _following(label: str) -> tuple[str, ...]:
    """What numbers the next item: `4` after `3`, `c` after `b`, `ii` or `j` after `i`."""
    if label.isdigit():
        return (str(int(label) + 1),)
    letters = (chr(ord(label) + 1),) if len(label) == 1 else ()
    return letters + _ROMANS[_ROMANS.index(label) + 1 :][:1] if label in _ROMANS else letters
