"""How long a pause that markup asks for lasts."""

from __future__ import annotations

import re

__all__ = ["LONGEST_PAUSE_MS", "PAUSE_TAG", "duration_ms", "strength_ms"]

LONGEST_PAUSE_MS = 10_000
DEFAULT_PAUSE_MS = 400
STRENGTHS = {"none": 0, "x-weak": 100, "weak": 200, "medium": DEFAULT_PAUSE_MS, "strong": 700, "x-strong": 1000}
PAUSE_TAG = re.compile(r"\[[ ]?(?:pause|break|silence)(?:[ ]?[:= ][ ]?([^\[\]\n]{0,24}))?[ ]?\]", re.IGNORECASE)
DURATION = re.compile(
    r"\+?([0-9]{1,9}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})[ ]?(ms|milliseconds?|s|secs?|seconds?)?", re.IGNORECASE
)


def duration_ms(text: str | None) -> int:
    """`1s`, `500ms`, `1.5` (seconds); anything else is the default pause; never more than ten seconds."""
    match = DURATION.fullmatch((text or "").strip())
    if match is None:
        return STRENGTHS.get((text or "").strip().lower(), DEFAULT_PAUSE_MS)
    value = float(match[1]) * (1 if (match[2] or "s").lower().startswith("m") else 1000)
    return min(LONGEST_PAUSE_MS, round(value))


def strength_ms(text: str | None) -> int:
    """The pause of an SSML strength."""
    return STRENGTHS.get((text or "medium").strip().lower(), DEFAULT_PAUSE_MS)
