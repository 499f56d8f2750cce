"""Text that arrives in pieces becomes segments that can be spoken."""

from __future__ import annotations

import re

from .segment import Segment

__all__ = ["Splitter"]

_END = re.compile(r"[.!?…]+[\"'”’»)\]]*\s+(?=\S)|[。！？]+[」』”）]*(?=\S)|\n\s*\n(?=\S)")


class Splitter:
    """Cut a text into sentences while it arrives; the way it is cut into pieces changes nothing."""

    def __init__(self, language: str = "en", join_short: bool = True) -> None:
        self.language = language
        self.join_short = join_short
        self._text = ""
        self._start = 0

    def feed(self, piece: str) -> list[Segment]:
        """Take the next characters; give the segments that are now certain."""
        self._text += piece
        segments: list[Segment] = []
        start = 0
        for match in _END.finditer(self._text):
            segments.append(Segment(self._text[start : match.end()], self._start + start, self._start + match.end()))
            start = match.end()
        self._text = self._text[start:]
        self._start += start
        return segments

    def flush(self) -> list[Segment]:
        """End the text; give what is left."""
        if not self._text:
            return []
        last = Segment(self._text, self._start, self._start + len(self._text))
        self._text = ""
        self._start = last.end
        return [last]
