"""Tags and code in a text: each is passed over whole."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .split_marks import BREAKS, TAG
from .split_stops import NO, WAIT

__all__ = ["FENCE", "Markup", "code", "tag"]

FENCE = -4  # only the end of a code fence will tell

_CODE_CHARS = 200
_ELEMENT_CHARS = 400

_ENDING_TAG = re.compile(r"(?:/(?:p|s|li|h[1-6]|div|tr|blockquote|speak)|br\s*/?)\s*\Z", re.IGNORECASE)
_WHOLE_TAG = re.compile(r"(say-as|sub|phoneme|w)\b[^<>]*(?<!/)\Z", re.IGNORECASE)
_OPEN_TAG = re.compile(r"<(?:[A-Za-z/!?][^<>]{0,400})?\Z")
_LINE_LEFT = re.compile(r"[ \t]*(?:\r\n|[\n\r])")
_LINE_OPEN = re.compile(r"[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class Markup:
    """What was found: it reaches to `after` where `verdict` is NO, else it is not whole yet.

    `breaks` says that a sentence ends with it; `fence` is the mark of a code fence.
    """

    verdict: int
    after: int = 0
    breaks: bool = False
    fence: str = ""


def tag(text: str, at: int, final: bool) -> Markup:
    """The tag at `at`, with its content where that is said as one (`sub`, `say-as`, `phoneme`)."""
    match = TAG.match(text, at)
    if match is None:
        return Markup(WAIT) if not final and _OPEN_TAG.match(text, at) else Markup(NO, at + 1)
    after = match.end()
    if _ENDING_TAG.match(match[1]):
        return Markup(NO, after, breaks=True)
    whole = _WHOLE_TAG.match(match[1])
    if whole is None:
        return Markup(NO, after)
    end = text.find(f"</{whole[1]}>", after, after + _ELEMENT_CHARS)
    if end < 0 and len(text) < after + _ELEMENT_CHARS and not final:
        return Markup(WAIT)
    return Markup(NO, end + len(whole[1]) + 3 if end >= 0 else after)


def code(text: str, start: int, at: int, inline: bool, final: bool) -> Markup:
    """The code that backticks or tildes at `at` open: a fence, or on one line (`inline`) between single backticks."""
    mark = text[at]
    after = _behind(text, at)
    if after == len(text) and not final:
        return Markup(WAIT)
    ticks = text[at:after]
    if len(ticks) >= 3 and (mark == "`" or at == start or text[at - 1] in BREAKS):
        return _fence(text, start, at, ticks, final)
    if not inline or mark == "~":
        return Markup(NO, after)
    end = text.find(ticks, after, after + _CODE_CHARS)
    line = text.find("\n", after, after + _CODE_CHARS)
    if end < 0 and line < 0 and len(text) < after + _CODE_CHARS and not final:
        return Markup(WAIT)
    return Markup(NO, end + len(ticks) if end >= 0 and (line < 0 or end < line) else after)


def _fence(text: str, start: int, at: int, ticks: str, final: bool) -> Markup:
    """A code fence is one atom; one that stands on its own lines is a sentence of its own."""
    end = text.find(ticks, at + len(ticks))
    if end < 0:
        return Markup(NO, len(text)) if final else Markup(FENCE, fence=ticks)
    after = _behind(text, end)
    if not final and _LINE_OPEN.match(text, after):
        return Markup(WAIT)
    own_line = text[max(text.rfind("\n", start, at) + 1, start) : at].strip() == ""
    line = _LINE_LEFT.match(text, after) if own_line else None
    return Markup(NO, line.end(), breaks=True, fence=ticks) if line else Markup(NO, after, fence=ticks)


def _behind(text: str, at: int) -> int:
    after = at
    while after < len(text) and text[after] == text[at]:
        after += 1
    return after
