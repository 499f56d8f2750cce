"""Which clauses of a sentence are made together, so that sound starts early and never runs dry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .reading import Reading

__all__ = ["Pace", "early_pieces", "with_next"]

# Shorter pieces sound rushed in this family of models, and shorter readings are made in one go.
_SHORTEST_PIECE, _SHORTEST_CUT = 10, 36
# Share of the sound ahead that the next piece may take to make.
_MARGIN = 0.8
_LEARN = 0.25
# How much longer than usual the next piece may take, and how much of the whole sentence's time the first sound may.
_CAUTION, _FIRST_SHARE = 1.3, 0.52
# A piece costs as much as if it had so many more symbols.
_PIECE_COST = 8


@dataclass(slots=True)
class Pace:
    """How fast a model works here: seconds of work and of sound for each symbol, learned from what it made."""

    work_s: float = 0.010
    sound_s: float = 0.055

    def learn(self, symbols: int, work_s: float, sound_s: float) -> None:
        """Take one more piece into account."""
        if symbols:
            self.work_s += _LEARN * (work_s / (symbols + _PIECE_COST) - self.work_s)
            self.sound_s += _LEARN * (sound_s / symbols - self.sound_s)

    def takes_s(self, symbols: int) -> float:
        """How long a piece of so many symbols takes to make."""
        return (symbols + _PIECE_COST) * self.work_s

    def hold_s(self, work_s: float, sound_s: float, first: int, following: int, total: int) -> float:
        """How long to hold a first piece back, so that its sound lasts until the next piece is made.

        The first took `work_s` and sounds for `sound_s`; it has `first`, the next has `following` of the sentence's
        `total` symbols. The first sound still leaves in 0.52 of the time that the whole sentence would take.
        """
        missing_s = self.takes_s(following) * _CAUTION - sound_s
        whole_s = min(self.takes_s(total), work_s * (total + _PIECE_COST) / (first + _PIECE_COST))
        room_s = whole_s * _FIRST_SHARE - work_s
        return max(0.0, min(missing_s, room_s))


def early_pieces(reading: Reading, pace: Pace, limit: int) -> Iterator[Reading]:
    """Cut a sentence at its clauses: the first alone, then as much together as is made before the sound runs out.

    No piece has more than `limit` symbols. `pace` is read again for every piece.
    """
    total = len(reading.symbols)
    if total < _SHORTEST_CUT:
        yield from reading.pieces(limit)
        return
    ends = [end for end in reading.clause_ends() if _SHORTEST_PIECE <= end <= total - _SHORTEST_PIECE]
    first, ahead_s = 0, 0.0
    while first < total:
        last = _next_end(first, total, ends, ahead_s, pace)
        for piece in reading.cut(first, last).pieces(limit):
            yield piece
            ahead_s += len(piece.symbols) * pace.sound_s - (pace.takes_s(len(piece.symbols)) if first else 0.0)
        first = last


def _next_end(first: int, total: int, ends: list[int], ahead_s: float, pace: Pace) -> int:
    left = [end for end in (*ends, total) if end - first >= _SHORTEST_PIECE]
    if not left:
        return total
    in_time = [end for end in left if pace.takes_s(end - first) <= ahead_s * _MARGIN]
    return in_time[-1] if in_time else left[0]


def with_next(pieces: Iterable[Reading]) -> Iterator[tuple[Reading, Reading | None]]:
    """Each piece that has something to say, and the one after it."""
    held: Reading | None = None
    for piece in pieces:
        if piece.silent:
            continue
        if held is not None:
            yield held, piece
        held = piece
    if held is not None:
        yield held, None
