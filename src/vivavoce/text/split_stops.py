"""What stands around a stop: the word before it, and what is spoken next."""

from __future__ import annotations

import re

from .abbreviations import SentenceRules
from .split_marks import BULLETS, LEAD, OPENERS, SPEAKABLE

__all__ = ["HOLD", "NO", "WAIT", "Stop", "begins", "next_word", "spoken_after", "token_before"]

NO = -1  # the sentence goes on
WAIT = -2  # more characters will tell
HOLD = -3  # only a character that can be spoken will tell

_BEFORE = OPENERS + BULLETS
# More markup than this in one place is treated as if it were spoken.
_LEAD_CHARS = 1000
_TAG_CHARS = 400
# A longer word is no word that is looked for.
_WORD_CHARS = 24
_WORD = re.compile(rf"[^\W\d_]{{1,{_WORD_CHARS}}}")


class Stop:
    """A run of stops at `[at, run)` with its closing marks up to `after`, in the sentence that begins at `start`."""

    __slots__ = ("after", "at", "final", "run", "start", "text")

    def __init__(self, text: str, start: int, at: int, run: int, after: int, final: bool) -> None:
        self.text = text
        self.start = start
        self.at = at
        self.run = run
        self.after = after
        self.final = final


def token_before(text: str, start: int, at: int) -> str:
    """The characters up to `at` since the last white space, without opening marks; at most 48."""
    piece = text[max(start, at - 48) : max(start, at)]
    if not piece or piece[-1].isspace():
        return ""
    return piece.split()[-1].lstrip(_BEFORE)


def spoken_after(text: str, at: int, final: bool) -> int:
    """The next place that can be spoken, tags and pauses passed over; the end of a `final` text, else WAIT or HOLD."""
    if text[at : at + 1].isalnum():
        return at
    if not SPEAKABLE.search(text, at):
        return len(text) if final else HOLD
    spoken = LEAD.match(text, at, at + _LEAD_CHARS).end()  # type: ignore[union-attr]
    if final:
        return spoken
    if spoken == len(text):
        return HOLD
    opened = spoken > at and text[spoken - 1] in "<[/"
    return WAIT if opened and len(text) - spoken < _TAG_CHARS else spoken


def next_word(stop: Stop, at: int) -> str | int:
    """The letters at `at`, none where there is no letter, or WAIT while the word may still grow."""
    word = _WORD.match(stop.text, at)
    end = word.end() if word else at
    if end == len(stop.text) and end - at < _WORD_CHARS and not stop.final:
        return WAIT
    return word.group() if word else ""


def begins(stop: Stop, at: int, rules: SentenceRules) -> int:
    """1 for a word that begins sentences, NO for another, WAIT while it is not whole."""
    word = next_word(stop, at)
    if isinstance(word, int):
        return WAIT
    if len(word) == 1 and stop.text[at + 1 : at + 2] == ".":
        return NO  # an initial
    return 1 if word.lower() in rules.starters else NO
