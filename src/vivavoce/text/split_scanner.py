"""Finds, in text that is still arriving, where its sentences end."""

from __future__ import annotations

import re
from copy import copy

from .abbreviations import SentenceRules
from .split_ends import ends, ends_plainly
from .split_length import overrun
from .split_lines import Marker, line_ends, next_marker
from .split_marks import (
    BREAKS,
    BULLETS,
    CLAUSE_MARKS,
    CLOSERS,
    FIRM,
    GAP,
    OPEN_TAIL,
    OPENERS,
    PARTNERS,
    RUN,
    SPACED_DOTS,
    SPEAKABLE,
    is_wide,
)
from .split_markup import Markup, code, tag
from .split_nest import Nest, after_closing, turn, will_close
from .split_stops import HOLD, NO, WAIT, Stop, spoken_after

__all__ = ["Scanner"]

_PHRASE_CHARS = 40
_EAGER_WORDS = 3
_LEAD_CHARS = 16

_SPACES = " \xa0\u202f"
_NEWLINES = frozenset(BREAKS)
_STOPS = frozenset("….!?‥‼⁇⁈⁉" + FIRM)
_PLAIN = frozenset(".!?。！？")
_CLOSING = frozenset("".join(PARTNERS.values()))
# What counts in front of the first character that can be spoken.
_LEADING = frozenset(PARTNERS) | frozenset("<`~")
_CLAUSES = frozenset(CLAUSE_MARKS + "—")
_LABEL_CHARS = 4  # `viii`
_BEFORE_LABEL = frozenset(OPENERS + BULLETS + BREAKS + " \t\xa0")
_STYLES = re.compile(r"\.\)|[.)]")


class Scanner:
    """Holds the text that is not yet spoken for, and where in it the search stands.

    `text` may grow at its end between calls; `start` is where the sentence begins, `measured_from` where its length
    counts from (behind what cannot be spoken and the last code fence). No sentence ends before `at` any more. `fence`
    is what closes the code fence that is open when `next_end` says FENCE.
    """

    __slots__ = (
        "_candidate", "_marker", "_nest", "_spoken", "at", "eager", "fence", "max_chars", "measured_from", "over",
        "rules", "start", "text",
    )  # fmt: skip

    def __init__(self, rules: SentenceRules, max_chars: int) -> None:
        self.rules = rules
        self.max_chars = max_chars
        self.text = ""
        self.eager = False
        self.fence = ""
        self.restart(0)

    def restart(self, start: int) -> None:
        """Start a new text at `start`; its first sentence may end behind a clause where `eager` is set."""
        self._marker: Marker | None = None
        self._candidate = self.rules.eager_candidate if self.eager else self.rules.candidate
        self.begin(start)

    def begin(self, start: int) -> None:
        """Start the next sentence at `start`."""
        self.start = start
        self.measured_from = start
        self.over = -1
        self.at = start
        self._spoken = -1
        self._nest: Nest = ()

    def be_patient(self) -> None:
        """From now on end sentences only, no clauses."""
        self.eager = False
        self._candidate = self.rules.candidate

    def forget(self, chars: int) -> None:
        """Drop that many characters from the head of the text; they must lie before `start`."""
        if not chars:
            return
        self.text = self.text[chars:]
        self.start -= chars
        self.measured_from -= chars
        self.at -= chars
        self._spoken = max(-1, self._spoken - chars)
        self._nest = tuple((mark, at - chars) for mark, at in self._nest)

    def imagine(self, following: str) -> int:
        """What `next_end` would say if that text came next, with nothing changed; never behind the text there is."""
        other = copy(self)
        other.text += following
        return min(other.next_end(False), len(self.text))

    def next_end(self, final: bool) -> int:
        """Where the sentence ends: a place in `text`, `NO` where it is longer than `max_chars`, or what it waits for.

        After NO, the limit lies at `over`.
        """
        text = self.text
        if self._spoken < 0:
            first = SPEAKABLE.search(text, self.at)
            if first is None:
                self.at = max(self.start, len(text) - _LEAD_CHARS)
                return len(text) if final else HOLD
            self._spoken = self.measured_from = first.start()
            self.at = max(self.start, self._spoken - _LEAD_CHARS)
        self.over = -1
        measured = self.measured_from
        bound = measured + self.max_chars // 3  # no text up to there is too long, whatever its script
        while True:
            match = self._candidate.search(text, self.at, bound)
            if match is not None:
                at = match.start()
                if text[at] in _PLAIN and not self._nest and at > self._spoken:
                    plain = ends_plainly(text, self.start, at, self.rules)
                    if plain != NO:
                        return plain
                verdict = self._judge(at, final)
                if verdict != NO:
                    return verdict
                if measured != self.measured_from:
                    measured = self.measured_from
                    bound = measured + self.max_chars // 3
                    self.over = -1
            elif bound >= len(text):
                self.at = len(text)
                return self.at if final else WAIT
            elif self.over >= measured:
                return NO
            else:
                self.over = overrun(text, measured, self.max_chars)
                bound = self.over + 1 if self.over >= 0 else len(text)

    def _judge(self, at: int, final: bool) -> int:
        text = self.text
        mark = text[at]
        if at < self._spoken and mark not in _LEADING:
            self.at = at + 1
            return NO
        if mark in _STOPS or (mark in self.rules.extra_stops and self._extra(at, final)) or text[at : at + 2] == "፡፡":
            return self._stop(at, final)
        if mark in _NEWLINES:
            return self._line(at, final)
        if mark in "`~":
            return self._markup(code(text, self.start, at, self.rules.inline_code, final), final)
        if mark == "፡" and at + 1 == len(text) and not final:
            return WAIT
        if mark == "<":
            return self._markup(tag(text, at, final), final)
        if mark == " ":
            return self._phrase(at, final)
        if mark in BULLETS:
            return self._bullet(at, final)
        if self.eager and mark in _CLAUSES:
            return self._clause(at, final)
        if mark == ")" and not self._nest and (verdict := self._item(at, final)) != NO:
            return verdict
        if mark == "’" and at + 1 == len(text) and not final:
            return WAIT
        if mark in PARTNERS or mark in _CLOSING:
            self._nest = turn(self._nest, text, self.start, at)
        if self.at <= at:
            self.at = at + 1
        return NO

    # Stops ---------------------------------------------------------------------------------------------------------

    def _extra(self, at: int, final: bool) -> bool:
        """Whether a mark that ends sentences in this language only (`:` in Armenian) stands behind a word."""
        after = self.text[at + 1 : at + 2]
        return not after or after.isspace() or after in "\"'”»)"

    def _stop(self, at: int, final: bool) -> int:
        text = self.text
        if text[at] == "." and (verdict := self._item(at, final)) != NO:
            return verdict
        if self.at > at:
            return NO
        run = self._run(at)
        after = CLOSERS.match(text, run).end()  # type: ignore[union-attr]
        opening = text.find("“", run, after)
        if opening >= 0 and not (self._nest and "“" in PARTNERS[self._nest[-1][0]]):
            if opening + 1 == len(text) and not final:
                return WAIT
            if text[opening + 1 : opening + 2].isalnum():
                after = opening  # it opens the next sentence
        if self._nest and self._nest[-1][0] == "«" and text[after : after + 1] in _SPACES:
            if after + 1 >= len(text) and not final:
                return WAIT
            if text[after + 1 : after + 2] == "»":
                after = CLOSERS.match(text, after + 1).end()  # type: ignore[union-attr]
        if not final and (after == len(text) or (text[after] != " " and OPEN_TAIL.match(text, after))):
            return WAIT
        nest = after_closing(self._nest, text[run:after]) if after > run else self._nest
        while nest:
            closed = will_close(nest[-1], text, after, final)
            if closed == WAIT:
                return WAIT
            if closed:
                self._nest = nest
                self.at = after
                return NO
            nest = nest[:-1]
        verdict = ends(Stop(text, self.start, at, run, after, final), self.rules)
        if verdict == NO:
            self._nest = nest
            self.at = after
        return verdict

    def _run(self, at: int) -> int:
        text = self.text
        if text[at] == "." and (at == self.start or text[at - 1].isspace()) and (dots := SPACED_DOTS.match(text, at)):
            return dots.end()
        run = RUN.match(text, at)
        return run.end() if run else at + (2 if text[at] == "፡" else 1)

    def _item(self, at: int, final: bool) -> int:
        """Handle a stop that belongs to a list marker: `2.`, `2)`, `2.)` or `b.` among others."""
        text = self.text
        place = at
        while place > self.start and at - place <= _LABEL_CHARS and text[place - 1].isalnum():
            place -= 1
        if place == at or at - place > _LABEL_CHARS:
            return NO
        if place > self.start and text[place - 1] not in _BEFORE_LABEL:
            return NO
        label = text[place:at]
        style = _STYLES.match(text, at).group()  # type: ignore[union-attr]
        after = at + len(style)
        head = place <= self._spoken
        marker = next_marker(label, style, self._marker, head, text, at)
        if marker is None:
            return NO
        if after >= len(text):
            return NO if final else WAIT
        if not text[after].isspace():
            return NO
        if head:
            self._marker = marker
            self.at = after
            return NO
        spoken = spoken_after(text, after, final)
        if spoken < 0:
            return WAIT
        if spoken == len(text) or not text[place - 1].isspace() or not text[spoken].isalpha():
            return NO
        return place

    # Everything else -----------------------------------------------------------------------------------------------

    def _line(self, at: int, final: bool) -> int:
        verdict = line_ends(self.text, self.start, at, final, self.rules)
        if verdict == NO:
            self.at = at + 1
        return verdict

    def _breaks(self, place: int, final: bool) -> int:
        """End the sentence at `place` once something behind it can be spoken."""
        spoken = spoken_after(self.text, place, final)
        return place if 0 <= spoken < len(self.text) else spoken

    def _bullet(self, at: int, final: bool) -> int:
        if self.text[at - 1].isspace():
            return self._breaks(at, final)
        self.at = at + 1
        return NO

    def _phrase(self, at: int, final: bool) -> int:
        """A space between two Thai or Lao letters ends a phrase; they have no other stop."""
        text = self.text
        if at + 1 == len(text) and not final:
            return WAIT
        between = "\u0e01" <= text[at - 1] <= "\u0eff" and "\u0e01" <= text[at + 1 : at + 2] <= "\u0eff"
        if between and at - self.start >= _PHRASE_CHARS:
            return self._breaks(at + 1, final)
        self.at = at + 1
        return NO

    def _clause(self, at: int, final: bool) -> int:
        text = self.text
        after = CLOSERS.match(text, at + 1).end()  # type: ignore[union-attr]
        if not final and (after == len(text) or OPEN_TAIL.match(text, after)):
            return WAIT
        gap = GAP.match(text, after).end()  # type: ignore[union-attr]
        said = text[self.start : at]
        enough = len(said) >= 6 if said and is_wide(said[-1]) else len(said.split()) >= _EAGER_WORDS
        date = text[at - 1].isdigit() and text[gap : gap + 1].isdigit()  # `May 3, 2026`
        if self._nest or not enough or date or (gap == after and text[at] not in "、，；："):
            self.at = at + 1
            return NO
        return self._breaks(gap, final)

    def _markup(self, found: Markup, final: bool) -> int:
        if found.verdict != NO:
            self.fence = found.fence
            return found.verdict
        if found.breaks and found.after > self._spoken:
            return self._breaks(GAP.match(self.text, found.after).end(), final)  # type: ignore[union-attr]
        self.at = found.after
        if found.fence:
            self.measured_from = found.after
        return NO
