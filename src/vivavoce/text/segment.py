"""The piece of text that is synthesized at once."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Segment"]


@dataclass(frozen=True, slots=True)
class Segment:
    """One sentence or clause, with its place in everything that was fed.

    `text` is exactly the fed characters `[start, end)`, white space included, counted in code points. The segments of
    one text follow each other without gap or overlap.
    """

    text: str
    start: int
    end: int
