"""What a person sees while a model is being fetched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["OnProgress", "Progress"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pull is: `doing` in words, and bytes where they are known (`total_bytes` 0 where not)."""

    model: str
    doing: str
    done_bytes: int = 0
    total_bytes: int = 0


OnProgress = Callable[[Progress], None]
