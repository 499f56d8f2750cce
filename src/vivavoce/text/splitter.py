"""Text that arrives in pieces becomes segments that can be spoken."""

from __future__ import annotations

from .abbreviations import sentence_rules
from .segment import Segment
from .split_length import cut, weigh
from .split_marks import SPEAKABLE
from .split_markup import FENCE
from .split_scanner import Scanner
from .split_stops import HOLD, NO

__all__ = ["Splitter"]

MAX_CHARS = 280
# Shorter neighbours are spoken together, about two seconds of speech.
_SHORT_CHARS = 30
# A short sentence does not wait for a neighbour longer than this.
_JOINED_CHARS = 150
# Stands for whatever may follow a pause: words that could be a name and begin no sentence.
_NEXT_SENTENCE = " Qzx qzx"


class Splitter:
    """Cut a text into sentences while it arrives; however it is cut into pieces, the segments are the same.

    A segment leaves as soon as the characters behind it make its end certain, the white space behind a sentence going
    with it. Segments follow each other without gap or overlap and hold every character fed. Each has something to
    speak; only a text that has nothing at all gives one segment without, when it is flushed.

    `language` is a BCP 47 tag; one without rules of its own is read by the common ones. With `join_short`, sentences
    under about two seconds join the next in their paragraph, the first of a text never; without, each is a segment.
    A sentence over `max_chars` (letters of Latin script; a Chinese character counts three, kana and Hangul two) is
    cut behind a clause, else at a space, else between two characters; never in a number, address, tag or code fence.
    With `eager`, the first segment may end behind a clause of three words.

    Work is linear in the text. Memory holds one segment, or an open code fence, or a run of what cannot be spoken.
    """

    def __init__(
        self, language: str = "en", join_short: bool = True, *, max_chars: int = MAX_CHARS, eager: bool = False
    ) -> None:
        self.language = language
        self.join_short = join_short
        self.max_chars = max(20, max_chars)
        self.eager = eager
        self._scanner = Scanner(sentence_rules(language), self.max_chars)
        self._pending: list[str] = []
        self._pending_tail = ""
        self._waits_for = 0
        self._base = 0  # offset of the scanner's text in everything fed
        self._from = 0  # where the next segment begins in the scanner's text
        self._begin_text()

    def _begin_text(self) -> None:
        self._first = True
        self._scanner.eager = self.eager
        self._scanner.restart(self._from)

    def feed(self, piece: str) -> list[Segment]:
        """Take the next characters; give the segments that are now certain."""
        if not piece or not self._wakes(piece):
            return []
        self._scanner.text += "".join(self._pending) + piece if self._pending else piece
        self._pending.clear()
        return self._advance(False)

    def flush(self) -> list[Segment]:
        """End the text and give what is left of it. What is fed afterwards is a new text; offsets go on counting."""
        self._scanner.text += "".join(self._pending)
        self._pending.clear()
        self._waits_for = 0
        segments = self._advance(True)
        if self._from < len(self._scanner.text):
            self._emit(segments, len(self._scanner.text))
            self._forget()
        self._begin_text()
        return segments

    def pause(self) -> list[Segment]:
        """Give also what ends a sentence as it stands, because the writer has paused; the text goes on afterwards.

        What only looks like an end (`Mr.`, `the U.S.`, `at 3.`, an open quotation, tag or fence) still waits. Where
        and whether one pauses shows in the segments, unlike where one cuts the pieces.
        """
        scanner = self._scanner
        scanner.text += "".join(self._pending)
        self._pending.clear()
        self._pending_tail = scanner.text[1 - len(scanner.fence) :] if scanner.fence else ""
        segments: list[Segment] = []
        if self._from < scanner.start:
            self._emit(segments, scanner.start)
        if not scanner.text[-2:-1].isdigit() or scanner.text[-1] != ".":
            end = scanner.imagine(_NEXT_SENTENCE)
            if scanner.start < end <= len(scanner.text):
                self._waits_for = 0
                self._emit(segments, end)
                scanner.begin(end)
        self._forget()
        return segments

    def _wakes(self, piece: str) -> bool:
        """Whether the piece can change anything; if not, it is only kept."""
        if self._waits_for == HOLD:
            wakes = SPEAKABLE.search(piece) is not None
        elif self._waits_for == FENCE:
            fence = self._scanner.fence
            tail = self._pending_tail + piece
            wakes = fence in tail
            self._pending_tail = tail[1 - len(fence) :]
        else:
            return True
        if not wakes:
            self._pending.append(piece)
        return wakes

    def _advance(self, final: bool) -> list[Segment]:
        scanner = self._scanner
        segments: list[Segment] = []
        while scanner.start < len(scanner.text):
            end = scanner.next_end(final)
            if self._from < scanner.start and max(end, scanner.at) > self._from + _JOINED_CHARS:
                self._emit(segments, scanner.start)
            if end == NO:
                end = self._cut(final)
            if end < 0:
                self._waits_for = end
                self._pending_tail = scanner.text[1 - len(scanner.fence) :] if end == FENCE else ""
                break
            self._end_sentence(segments, end)
        self._forget()
        return segments

    def _cut(self, final: bool) -> int:
        """Where a sentence over the limit is cut; held while nothing behind it can be spoken."""
        scanner = self._scanner
        end = cut(scanner.text, scanner.measured_from, scanner.over)
        if SPEAKABLE.search(scanner.text, end):
            return end
        return len(scanner.text) if final else HOLD

    def _end_sentence(self, segments: list[Segment], end: int) -> None:
        scanner = self._scanner
        self._waits_for = 0
        joins = self.join_short and not self._first and scanner.text[end - 1] != "\n"
        if not joins or weigh(scanner.text, self._from, end) >= _SHORT_CHARS:
            self._emit(segments, end)
        scanner.begin(end)

    def _emit(self, segments: list[Segment], end: int) -> None:
        text, start, base = self._scanner.text, self._from, self._base
        segments.append(Segment(text[start:end], base + start, base + end))
        self._from = end
        if self._first:
            self._first = False
            self._scanner.be_patient()

    def _forget(self) -> None:
        self._scanner.forget(self._from)
        self._base += self._from
        self._from = 0
