"""Help texts written in lines of this file's width, shown in lines of the terminal's."""

from __future__ import annotations

__all__ = ["prose"]


def prose(text: str) -> str:
    """Join the lines of every paragraph."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))
