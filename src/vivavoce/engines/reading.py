"""How a phrase is pronounced: model symbols, and which of them belong to which word."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from .base import WordTime

__all__ = ["PUNCTUATION", "Reading", "WordSymbols", "word_times"]

PUNCTUATION = frozenset(';:,.!?—…"“”() ')
_CLAUSE_ENDS = frozenset(";:,.!?—…")


@dataclass(frozen=True, slots=True)
class WordSymbols:
    """The characters `[start, end)` of a phrase are spoken as the symbols `[first, last)` of a reading."""

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The symbols of a phrase in the model's alphabet, punctuation included, and its words in order."""

    symbols: str
    words: tuple[WordSymbols, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether there is nothing to say but pauses."""
        return all(symbol in PUNCTUATION for symbol in self.symbols)

    def keep(self, alphabet: Container[str]) -> Reading:
        """Drop the symbols that the model does not know, and the words that have none left."""
        new_index, kept = [0], []
        for symbol in self.symbols:
            if symbol in alphabet:
                kept.append(symbol)
            new_index.append(len(kept))
        words = (WordSymbols(w.start, w.end, new_index[w.first], new_index[w.last]) for w in self.words)
        return Reading("".join(kept), tuple(w for w in words if w.first < w.last))

    def cut(self, first: int, last: int) -> Reading:
        """The symbols `[first, last)` as a reading of their own; outer white space is left out.

        A word that is cut in two belongs to the part that it begins in.
        """
        while first < last and self.symbols[first] == " ":
            first += 1
        while last > first and self.symbols[last - 1] == " ":
            last -= 1
        words = tuple(
            WordSymbols(w.start, w.end, w.first - first, min(w.last, last) - first)
            for w in self.words
            if first <= w.first < last
        )
        return Reading(self.symbols[first:last], words)

    def clause_ends(self) -> list[int]:
        """Where the reading may be cut between clauses: positions just after punctuation that a space follows."""
        return [
            index + 1
            for index in range(len(self.symbols) - 1)
            if self.symbols[index] in _CLAUSE_ENDS and self.symbols[index + 1] == " "
        ]

    def pieces(self, limit: int) -> Iterator[Reading]:
        """Cut into readings of at most `limit` symbols: after a clause, else between words, else anywhere."""
        ends = self.clause_ends()
        first = 0
        while len(self.symbols) - first > limit:
            reach = first + limit
            last = max((end for end in ends if first < end <= reach), default=0)
            last = last or self.symbols.rfind(" ", first + 1, reach + 1)
            last = last if last > first else reach
            yield self.cut(first, last)
            first = last
        yield self.cut(first, len(self.symbols))


def word_times(reading: Reading, ends_ms: Sequence[float]) -> tuple[WordTime, ...]:
    """When each word is heard, from the time at which each symbol ends.

    `ends_ms[i]` is the end of the model's input `i`; input 0 is the pad before the first symbol, so symbol `k` lasts
    from `ends_ms[k]` to `ends_ms[k + 1]`.
    """
    return tuple(WordTime(w.start, w.end, float(ends_ms[w.first]), float(ends_ms[w.last])) for w in reading.words)
