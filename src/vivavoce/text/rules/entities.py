"""HTML entities."""

from __future__ import annotations

import re
from html import unescape

__all__ = ["entity"]

ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ue000-\uf8ff\u200b\u200e\u200f\ufeff\xad]")


def entity(text: str, at: int) -> tuple[int, str] | None:
    """Where the entity ends and the character it stands for."""
    match = ENTITY.match(text, at)
    if match is None:
        return None
    meant = unescape(match.group())
    if meant == match.group():
        return None
    return match.end(), " " if meant in ("\xa0", "\n", "\u2003", "\u2002", "\u2009") else CONTROL.sub("", meant)
