"""How long a voice rests between segments."""

from __future__ import annotations

from dataclasses import dataclass

from ..text import Segment, Splitter

__all__ = ["Pauses"]

_CLAUSE_ENDS = frozenset(",;:—–、，；：،؛")
_CLOSERS = "\"'”’»)]}」』）】*_`"
# Enough on both sides to tell whether a sentence ends between them.
_AROUND_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Pauses:
    """Rests between segments at speed 1.0, in ms; calibrated on hibari's and Kokoro's own pauses inside one run."""

    sentence_ms: float = 300.0
    clause_ms: float = 160.0
    paragraph_ms: float = 600.0
    word_ms: float = 30.0

    def after(self, segment: Segment) -> float:
        """The rest that follows a segment, told from its last characters."""
        tail = segment.text[len(segment.text.rstrip()) :]
        if tail.count("\n") > 1:
            return self.paragraph_ms
        if "\n" in tail:
            return self.sentence_ms
        last = segment.text.rstrip().rstrip(_CLOSERS)[-1:]
        if last in _CLAUSE_ENDS:
            return self.clause_ms
        return self.word_ms if last.isalnum() and tail == " " and len(segment.text) > 100 else self.sentence_ms

    def between(self, before: str, text: str, language: str) -> float:
        """The rest where `text` goes on behind `before`, which was spoken already; 0 within a clause."""
        before = before[-_AROUND_CHARACTERS:]
        splitter = Splitter(language, join_short=False)
        segments = splitter.feed(before + text[:_AROUND_CHARACTERS])
        segments += splitter.flush() if text.strip() else splitter.pause()
        for segment in segments:
            if segment.end == len(before):
                return self.after(segment)
        last = before.rstrip().rstrip(_CLOSERS)[-1:]
        is_clause = last in _CLAUSE_ENDS and (before[-1:].isspace() or not last.isascii())
        return self.clause_ms if is_clause else 0.0
