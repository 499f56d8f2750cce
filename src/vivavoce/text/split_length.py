"""Where a sentence that is too long to be spoken at once is cut."""

from __future__ import annotations

import re
import unicodedata

from .split_marks import HAN, TWICE

__all__ = ["cut", "overrun", "weigh"]

_STRONG = re.compile(r"(?:[;:](?=\s)|\s[—–-](?=\s)|—|；|：|⸺|[!?…。！？][\"'”’)\]」』]*(?=\s))[\"'”’)\]」』]*\s*")
_COMMA = re.compile(r"(?:[,،؛;](?=\s)|[、，؛])[\"'”’)\]」』]*\s*")
_SPACE = re.compile(r"(?<![\d.(\[+$€£¥])\s+(?![\d)\],.;:!?%°€])")
_ANY_SPACE = re.compile(r"\s+")
_ATOM = re.compile(
    r"<[A-Za-z/!?][^<>]{0,400}>|\[[^\[\]\n]{0,80}\](?:\([^()\s]{0,200}\))?|`[^`\n]{1,200}`|[a-z]{2,8}://\S{1,300}|[^\s@]{1,64}@\S{1,200}"
)
_RUN = re.compile(r"[A-Za-z0-9À-ʯ.'’_-]+")


def weigh(text: str, start: int, end: int) -> int:
    """How long a stretch of text is in Latin letters: Chinese takes three for a character, kana and Hangul two."""
    piece = text[start:end]
    if piece.isascii():
        return end - start
    return end - start + len(TWICE.findall(piece)) + 2 * len(HAN.findall(piece))


def overrun(text: str, start: int, limit: int) -> int:
    """The first place where more than `limit` letters' worth of text lies behind `start`, or -1."""
    end = min(len(text), start + limit)
    if weigh(text, start, end) <= limit:
        return end if len(text) > end else -1
    low, high = start, end
    while low < high:
        middle = (low + high + 1) // 2
        if weigh(text, start, middle) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def cut(text: str, start: int, over: int) -> int:
    """Where to cut `[start, over)`: behind a clause, else at a space, else where no character is torn.

    The last fifth is left alone where it can be, so that what remains is not a word or two.
    """
    least = start + (over - start) * 3 // 10
    most = start + (over - start) * 4 // 5
    piece = text[start:over]
    atoms = [match.span() for match in _ATOM.finditer(text, start, over)] if any(c in piece for c in "<[`@/") else []
    for pattern in (_STRONG, _COMMA, _SPACE):
        places = [
            match.end()
            for match in pattern.finditer(text, least, over)
            if match.end() < over and not any(begin < match.end() < end for begin, end in atoms)
        ]
        if early := [place for place in places if place <= most]:
            return early[-1]
        if places:
            return places[0]
    spaces = [match.end() for match in _ANY_SPACE.finditer(text, start + 1, over) if match.end() < over]
    if spaces and spaces[-1] >= least:
        return spaces[-1]
    return _between_characters(text, start, over)


def _between_characters(text: str, start: int, over: int) -> int:
    """The last place up to `over` that tears no Latin word, number, emoji or combined character."""
    run = next((match for match in _RUN.finditer(text, max(start, over - 64), over) if match.end() == over), None)
    place = run.start() if run and run.start() > start and not _RUN.match(text, run.start() - 1, run.start()) else over
    for back in range(place, max(start, place - 64), -1):
        if not _joined(text, back):
            return back
    return place


def _joined(text: str, at: int) -> bool:
    if at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if after in "\u200d\ufe0e\ufe0f\u20e3ー々" or before == "\u200d" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if "\udc00" <= after <= "\udfff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if "\U0001f1e6" <= after <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff":
        return True
    return unicodedata.category(after).startswith("M") or unicodedata.combining(before) == 9
