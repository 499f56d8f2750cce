"""The marks of Markdown: what stands at a line's start, links, tables."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["FENCE", "Block", "Link", "block", "emphasis", "in_path", "link"]

FENCE = re.compile(r"(`{3,10}|~{3,10})(?!`|~)([^\s`]{0,40})[ \t]{0,20}(?=\n|$)")
INDENT = re.compile(r"[ \t]{0,12}")
HEADING = re.compile(r"#{1,6}(?:[ \t]+|(?=\n|$))")
QUOTE = re.compile(r">[ \t]?")
BULLET = re.compile(r"[-*+•‣◦●▪][ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
NUMBERED = re.compile(r"[0-9]{1,3}[.)][ \t]+(?=\S)")
RULE = re.compile(
    r"(?:-[ \t]?){3,200}[ \t]*(?=\n|$)|(?:\*[ \t]?){3,200}[ \t]*(?=\n|$)|(?:_[ \t]?){3,200}[ \t]*(?=\n|$)|={3,200}[ \t]*(?=\n|$)"
)
SEPARATOR = re.compile(
    r"\|?[ \t]{0,8}:?-{2,100}:?[ \t]{0,8}(?:\|[ \t]{0,8}:?-{1,100}:?[ \t]{0,8}){0,60}\|?[ \t]*(?=\n|$)"
)
ROW = re.compile(r"\|(?=[^\n]{0,2000}\|)[ \t]*")
DEFINITION = re.compile(r"\[[^\[\]\n]{1,100}\]:[ \t]+\S{1,2000}(?:[ \t]+\"[^\"\n]{0,200}\")?[ \t]*(?=\n|$)")
LINK = re.compile(
    r"(!)?\[([^\[\]\n]{0,500})\](?:\([ \t]?<?([^()\s<>]{0,2000}(?:\([^()\s]{0,200}\)[^()\s<>]{0,200})?)>?(?:[ \t]+(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'))?[ \t]?\)"
    r"|\[[^\[\]\n]{0,100}\])"
)
CITED = re.compile(r"(?<=[.,;:!?\"”’)\]])\[[0-9]{1,3}(?:[ ]?[,–-][ ]?[0-9]{1,3}){0,8}\](?!\()")
FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,40}\]:?")
DIALED = re.compile(r"\*[0-9]{2,4}#?(?![0-9*#A-Za-z])(?![^*\n]{0,200}\*)")
OPERANDS = re.compile(r"[A-Za-z0-9]\*[A-Za-z0-9](?![A-Za-z0-9*])")
CHECK = re.compile(r"\[[ xX]\](?=\s)")
AUTOLINK = re.compile(
    r"<((?:[A-Za-z][A-Za-z0-9+.-]{1,20}:[^\s<>]{1,2000})|(?:[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,200}))>"
)


class Block(NamedTuple):
    """What a line starts with: its end, whether the line is said on its own, whether it is a row or nothing at all."""

    end: int
    apart: bool
    row: bool = False


class Link(NamedTuple):
    """The words of a link or an image, and the end of it all."""

    start: int
    stop: int
    end: int


def block(text: str, at: int) -> Block:
    """The marks at the start of the line at `at`."""
    start, apart, row = at, False, False
    for _ in range(8):
        at = INDENT.match(text, at).end()  # type: ignore[union-attr]
        if match := RULE.match(text, at) or (SEPARATOR.match(text, at) if "|" in text[at : at + 200] else None):
            return Block(match.end(), True)
        if match := DEFINITION.match(text, at):
            return Block(match.end(), True)
        if (match := QUOTE.match(text, at)) or (match := HEADING.match(text, at) or BULLET.match(text, at)):
            at, apart = match.end(), True
        elif match := ROW.match(text, at):
            at, apart, row = match.end(), True, True
            break
        else:
            break
    if NUMBERED.match(text, at):
        apart = True
    return Block(at if apart or row else start, apart, row)


def link(text: str, at: int) -> Link | None:
    """A link, an image or a reference: only its words are said."""
    match = LINK.match(text, at)
    return Link(match.start(2), match.end(2), match.end()) if match else None


def emphasis(text: str, start: int, end: int) -> bool:
    """Whether the run of `*`, `_` or `~` at `[start, end)` is markup and not a sign."""
    mark = text[start]
    before, after = text[start - 1 : start], text[end : end + 1]
    if end - start > 3:
        return True
    if mark == "~":
        return end - start == 2
    if mark == "_":
        return (
            end - start < 4 and not (before.isalnum() and after.isalnum()) and not (before in "/@.#_" and before != "")
        )
    if end - start == 1 and mark == "*" and DIALED.match(text, start) and not before.strip():
        return False
    if before.isdigit() and (after.isdigit() or after in ("(", "-")) and end - start < 3:
        return False
    if end - start == 1 and mark == "*" and _operands(text, start):
        return False
    blank = (not before or before.isspace()) and (not after or after.isspace())
    return not blank


def _operands(text: str, at: int) -> bool:
    """Whether the sign at `at` stands between two single letters or digits, as in `a*b`."""
    return OPERANDS.match(text, max(0, at - 1)) is not None and not text[max(0, at - 2) : max(0, at - 1)].isalnum()


def in_path(text: str, at: int) -> bool:
    """Whether the backslash at `at` stands in a Windows path, where it escapes nothing."""
    window = text[max(0, at - 200) : at]
    if not window or window[-1].isspace():
        return False
    before = window.rsplit(None, 1)[-1]
    return (
        ":\\" in before
        or before.startswith("\\\\")
        or (before[-1] == ":" and before[-2:-1].isalpha() and len(before) < 4)
    )
