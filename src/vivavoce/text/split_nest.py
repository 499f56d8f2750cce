"""Quotations and parentheses, which keep their sentences together."""

from __future__ import annotations

from .split_marks import NESTS, OPENERS, PARTNERS
from .split_stops import WAIT

__all__ = ["Nest", "after_closing", "turn", "will_close"]

# One that is longer than this, or never closed, keeps nothing together.
_NEST_CHARS = 200
_DEPTH = 8
_ALWAYS_OPENS = "([{（「『【《〈“„«"

Nest = tuple[tuple[str, int], ...]  # what is open: each mark, and where it stands


def turn(nest: Nest, text: str, start: int, at: int) -> Nest:
    """What is open behind the mark at `at`, in the sentence that begins at `start`."""
    mark = text[at]
    if nest and mark in PARTNERS[nest[-1][0]]:
        return nest if mark == "’" and text[at + 1 : at + 2].isalnum() else nest[:-1]
    if mark not in PARTNERS or len(nest) >= _DEPTH:
        return nest
    before = text[at - 1] if at > start else " "
    if mark == '"':
        opens = before.isspace() or before in OPENERS or before in "-–—/"
    else:
        opens = mark in _ALWAYS_OPENS or not before.isalnum()
    return (*nest, (mark, at)) if opens else nest


def after_closing(nest: Nest, closers: str) -> Nest:
    """What is still open behind those closing marks."""
    for mark in closers:
        if nest and mark in PARTNERS[nest[-1][0]]:
            nest = nest[:-1]
    return nest


def will_close(opened: tuple[str, int], text: str, after: int, final: bool) -> int:
    """1 where what is open is closed behind `after` in time, 0 where it is not, WAIT while it may be."""
    mark, place = opened
    end = place + _NEST_CHARS
    match = NESTS[mark].search(text, after, end)
    if match is None:
        return WAIT if len(text) < end and not final else 0
    if mark == "‘" and match.end() == len(text) and not final:
        return WAIT
    return int(match.group() in PARTNERS[mark])
