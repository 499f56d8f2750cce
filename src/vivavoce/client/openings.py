"""Markup that is still open at some point of a text. Pure."""

from __future__ import annotations

import re

__all__ = ["Openings"]

# The elements that may hold several sentences and change how they sound (docs/text.md).
_TAG = re.compile(r"<(/)?(voice|lang|prosody|say-as)\b([^<>]*)>", re.IGNORECASE)
_LONGEST_TAG = 2_000
_DEEPEST = 32


class Openings:
    """Reads a text piece by piece, and knows the tags that whoever goes on behind it has to open again."""

    def __init__(self) -> None:
        self._open: list[tuple[str, str]] = []
        self._begun = ""

    @property
    def tags(self) -> str:
        """Those tags as they were written, the outermost first."""
        return "".join(tag for _, tag in self._open)

    def feed(self, text: str) -> None:
        """More of the text."""
        if not self._begun and "<" not in text:
            return
        text = self._begun + text
        for tag in _TAG.finditer(text):
            self._take(tag)
        begun = text.rfind("<")
        is_open = begun >= 0 and ">" not in text[begun:] and len(text) - begun < _LONGEST_TAG
        self._begun = text[begun:] if is_open else ""

    def _take(self, tag: re.Match[str]) -> None:
        closing, name = tag[1], tag[2].lower()
        if closing:
            at = next((at for at in reversed(range(len(self._open))) if self._open[at][0] == name), None)
            if at is not None:
                del self._open[at:]
        elif not tag[3].endswith("/") and len(self._open) < _DEEPEST:
            self._open.append((name, tag[0]))
