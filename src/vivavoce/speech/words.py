"""From the words an engine spoke back to the words the author wrote."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ..engines.base import WordTime
from ..text import Part, Spoken
from .events import Word

__all__ = ["WordTracker"]


@dataclass(slots=True)
class _Unit:
    """One word of the source and the stretch of spoken text that says it."""

    start: int
    end: int
    out_start: int
    out_end: int
    kept: tuple[int, int] | None = None
    """The stretch of the source that a rule took as a whole: nothing of it is punctuation around a word."""
    begun_ms: float | None = None
    heard_ms: float = 0.0
    exact: bool = True
    told: bool = False


class WordTracker:
    """Follows one segment: spoken words in, whole original words out, each once, as soon as its end is known."""

    def __init__(self, source: str, spoken: Spoken, offset: int = 0) -> None:
        self._source = source
        self._spoken = spoken
        self._offset = offset
        self._told = 0

    @cached_property
    def _units(self) -> list[_Unit]:
        """Found when the first word is heard: the first sound does not wait for it."""
        return list(_units(self._source, self._spoken))

    @cached_property
    def _starts(self) -> list[int]:
        return [unit.out_start for unit in self._units]

    def feed(self, words: Iterable[WordTime], out_start: int, at_ms: float) -> Iterator[Word]:
        """Place the words of the phrase that starts at `out_start` of the spoken text and at `at_ms` of the utterance."""
        for word in words:
            begin, end = out_start + word.start, out_start + word.end
            for index in range(max(bisect_right(self._starts, begin) - 1, 0), bisect_right(self._starts, end - 1)):
                unit = self._units[index]
                if unit.told or unit.out_end <= begin:
                    continue
                start_ms = max(0.0, at_ms + word.start_ms)
                unit.begun_ms = start_ms if unit.begun_ms is None else min(unit.begun_ms, start_ms)
                unit.heard_ms = max(unit.heard_ms, start_ms, at_ms + word.end_ms)
                unit.exact = unit.exact and word.exact
                yield from self._tell_before(index)
                if end >= unit.out_end:
                    yield self._tell(unit)

    def flush(self) -> Iterator[Word]:
        """The words that were begun and never seen to end."""
        yield from self._tell_before(len(self._units))

    def _tell_before(self, index: int) -> Iterator[Word]:
        for unit in self._units[self._told : index]:
            if unit.begun_ms is not None and not unit.told:
                yield self._tell(unit)
        self._told = max(self._told, index)

    def _tell(self, unit: _Unit) -> Word:
        unit.told = True
        start, end = unit.start, unit.end
        begun_ms = unit.begun_ms or 0.0
        return Word(
            self._source[start:end], start + self._offset, end + self._offset, begun_ms, unit.heard_ms, unit.exact
        )


def _units(source: str, spoken: Spoken) -> Iterator[_Unit]:
    """Whole words of the source: what white space separates, or what one rule turned into several spoken words."""
    current: _Unit | None = None
    for piece in _pieces(source, spoken):
        glued = current is not None and not any(c.isspace() for c in source[current.end : piece.start])
        if current is not None and glued and piece.start >= current.end:
            current.end, current.out_end = piece.end, piece.out_end
            kept = [bounds for bounds in (current.kept, piece.kept) if bounds]
            current.kept = (kept[0][0], kept[-1][1]) if kept else None
            continue
        if current is not None:
            yield from _tidy(source, spoken, current)
        current = piece
    if current is not None:
        yield from _tidy(source, spoken, current)


def _pieces(source: str, spoken: Spoken) -> Iterator[_Unit]:
    for part in spoken.parts:
        if not part.words.strip():
            continue
        if _verbatim(source, part):
            position = 0
            for word in part.words.split():
                position = part.words.index(word, position)
                yield _Unit(
                    part.start + position,
                    part.start + position + len(word),
                    part.out_start + position,
                    part.out_start + position + len(word),
                )
                position += len(word)
        else:
            said = any(c.isalnum() for c in part.words)
            kept = (part.start, part.end) if said else None
            yield _Unit(part.start, part.end, part.out_start, part.out_end, kept)


def _verbatim(source: str, part: Part) -> bool:
    return source[part.start : part.end] == part.words


def _tidy(source: str, spoken: Spoken, unit: _Unit) -> Iterator[_Unit]:
    """Leave out what is neither said nor written as a word: punctuation around it, and units of nothing else."""
    said = spoken.text[unit.out_start : unit.out_end]
    if not any(c.isalnum() for c in said):
        return
    while not spoken.text[unit.out_end - 1].isalnum():
        unit.out_end -= 1
    first, last = unit.kept or (unit.end, unit.start)
    start, end = unit.start, unit.end
    while end > last and end > start and not source[end - 1].isalnum():
        end -= 1
    while start < first and start < end and not source[start].isalnum():
        start += 1
    if start < end:
        unit.start, unit.end = start, end
    yield unit
