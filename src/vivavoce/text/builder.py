"""Puts parts together: the words of a text with their spaces, and where each came from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .rules.ssml import PLAIN, Style
from .spoken import Part, Spoken

__all__ = ["Builder"]

SIMPLE = frozenset(",.;?!:")
CLOSING_QUOTES = frozenset('")”»’」』）')


class Builder:
    """Collects the parts of one text in source order.

    `origin` and `style` belong to the stretch that is being read; `spaced` tells that white space was just passed.
    `tight` languages put no space between words by themselves.
    """

    __slots__ = ("_glue", "_wordy", "length", "origin", "out", "parts", "spaced", "style", "tight")

    def __init__(self, tight: bool = False) -> None:
        self.out: list[str] = []
        self.parts: list[Part] = []
        self.length = 0
        self.origin: Sequence[int] = ()
        self.style = PLAIN
        self.spaced = False
        self.tight = tight
        self._glue = True
        self._wordy = False

    def enter(self, origin: Sequence[int], style: Style) -> None:
        """Go on with another stretch of the source."""
        self.origin = origin
        self.style = style

    def run(self, text: str, at: int, plain: re.Pattern[str], special: frozenset[str]) -> int:
        """Add plain words and the simple punctuation between them for as long as they last.

        Group 1 of `plain` is the word after any spaces; a word in `special` ends the run. Answers where it ended.
        """
        match, out, parts, origin = plain.match, self.out, self.parts, self.origin
        rate, language, voice = self.style.rate, self.style.language, self.style.voice
        length, glue, found = self.length, self._glue, match(text, at)
        first = at
        while found is not None:
            start, end = found.span(1)
            word = found[1]
            if "’" in word:
                word = word.replace("’", "'")
            if word.lower() in special:
                break
            if glue:
                glue = False
            else:
                out.append(" ")
                length += 1
            out.append(word)
            after = length + len(word)
            last = origin[end - 1] + 1
            parts.append(Part(origin[start], last, word, "plain", length, after, 0, None, rate, language, voice))
            length, at = after, end
            self._wordy = True
            mark = text[end : end + 2]
            if mark and mark[0] in SIMPLE and mark[1:] in ("", " ") and text[end + 2 : end + 3] != ".":
                mark = mark[0]
                out.append(mark)
                here = origin[end]
                parts.append(
                    Part(here, here + 1, mark, "punctuation", length, length + 1, 0, None, rate, language, voice)
                )
                length, at = length + 1, end + 1
                self._wordy = False
            found = match(text, at)
        if at > first:
            self.length, self._glue, self.spaced = length, False, False
        return at

    def word(self, start: int, end: int, words: str, rule: str, ipa: str | None = None) -> None:
        """Add a word, or several, set off by spaces; `start` and `end` count in the stretch."""
        if self._glue or (self.tight and not self.spaced):
            prefix = 0
        else:
            self.out.append(" ")
            prefix = 1
        self._add(start, end, words, rule, prefix, ipa)
        self._glue = False
        self._wordy = True

    def close(self, start: int, end: int, mark: str, rule: str = "punctuation") -> None:
        """Add punctuation that leans on the word before it."""
        self._add(start, end, mark, rule, 0)
        self._glue = not self.length
        self._wordy = mark in CLOSING_QUOTES

    def suffix(self, start: int, end: int, words: str, rule: str) -> None:
        """Add letters that belong to the word before them (`'s`)."""
        self._add(start, end, words, rule, 0)
        self._glue = False
        self._wordy = True

    def open(self, start: int, end: int, mark: str) -> None:
        """Add punctuation that leans on the word after it."""
        prefix = 0
        if not self._glue and not (self.tight and not self.spaced):
            self.out.append(" ")
            prefix = 1
        self._add(start, end, mark, "punctuation", prefix)
        self._glue = True

    def silent(self, start: int, end: int, rule: str) -> None:
        """Add a stretch of the source for which nothing is said."""
        self._add(start, end, "", rule, 0)

    def wait(self, start: int, end: int, rule: str, pause_ms: int) -> None:
        """Add a pause; here the offsets are those of the source."""
        self.parts.append(Part(start, end, "", rule, self.length, self.length, pause_ms))

    def announce(self, start: int, end: int, words: str, rule: str) -> None:
        """Add words of our own for a piece of markup; the offsets are those of the source."""
        self.enter(range(end + 1), PLAIN)
        if not words:
            self.silent(start, end, rule)
            return
        if self.wordy:
            self.out.append(",")
            self.length += 1
        self.word(start, end, f"{words}.", rule)
        self._wordy = False

    def line_end(self, at: int) -> None:
        """A line that was said on its own is over: it ends like a sentence."""
        if self.wordy and not self.dotted:
            self.close(at, at + 1, "。" if self.tight else ".", "line")
        self.spaced = True

    @property
    def wordy(self) -> bool:
        """Whether the last thing said was a word and not punctuation."""
        return self._wordy

    @property
    def dotted(self) -> bool:
        """Whether what was said last ends in a dot of its own (`p.m.`), which can also end the sentence."""
        return bool(self.out) and self.out[-1].endswith(".")

    def attach(self) -> None:
        """The next word follows without a space."""
        self._glue = True

    def quote_opens(self) -> bool:
        """Whether a straight quotation mark at this place opens."""
        return self.spaced or self._glue

    def done(self) -> Spoken:
        """Everything, in source order."""
        return Spoken("".join(self.out), tuple(self.parts))

    def _add(self, start: int, end: int, words: str, rule: str, prefix: int, ipa: str | None = None) -> None:
        at = self.length + prefix
        self.length = at + len(words)
        if words:
            self.out.append(words)
            self.spaced = False
        origin, style = self.origin, self.style
        if style is PLAIN:
            part = Part(origin[start], origin[end - 1] + 1, words, rule, at, self.length, 0, ipa)
        else:
            part = Part(
                origin[start],
                origin[end - 1] + 1,
                words,
                rule,
                at,
                self.length,
                0,
                ipa,
                style.rate,
                style.language,
                style.voice,
            )
        self.parts.append(part)
