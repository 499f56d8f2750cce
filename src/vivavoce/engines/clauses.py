"""Which clauses of a sentence are made together, so that sound starts early and never runs dry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .reading import Reading

__all__ = ["Pace", "early_pieces", "with_last"]

# Shorter pieces sound rushed in this family of models, and shorter readings are made in one go.
_SHORTEST_PIECE, _SHORTEST_CUT = 10, 36
# Share of the sound ahead that the next piece may take to make.
_MARGIN = 0.8
_LEARN = 0.25


@dataclass(slots=True)
class Pace:
    """How fast a model works here: seconds of work and of sound for each symbol, learned from what it made."""

    work_s: float = 0.012
    sound_s: float = 0.055

    def learn(self, symbols: int, work_s: float, sound_s: float) -> None:
        """Take one more piece into account."""
        if symbols:
            self.work_s += _LEARN * (work_s / symbols - self.work_s)
            self.sound_s += _LEARN * (sound_s / symbols - self.sound_s)


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
            ahead_s += len(piece.symbols) * (pace.sound_s - (pace.work_s if first else 0.0))
        first = last


def _next_end(first: int, total: int, ends: list[int], ahead_s: float, pace: Pace) -> int:
    left = [end for end in (*ends, total) if end - first >= _SHORTEST_PIECE]
    if not left:
        return total
    in_time = [end for end in left if (end - first) * pace.work_s <= ahead_s * _MARGIN]
    return in_time[-1] if in_time else left[0]


def with_last(pieces: Iterable[Reading]) -> Iterator[tuple[Reading, bool]]:
    """Each piece that has something to say, and whether it is the last."""
    held: Reading | None = None
    for piece in pieces:
        if piece.silent:
            continue
        if held is not None:
            yield held, False
        held = piece
    if held is not None:
        yield held, True
