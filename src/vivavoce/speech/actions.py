"""What a frame asks the server to do."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import VivavoceError
from .ask import Ask

__all__ = ["Action", "Begin", "Close", "EndText", "FeedText", "FlushText", "MovePlayed", "Send", "Stop"]


@dataclass(frozen=True, slots=True)
class Send:
    """Send this text frame."""

    frame: str


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection, once what was sent before has left."""

    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class Begin:
    """An utterance was accepted: speak it."""

    ask: Ask


@dataclass(frozen=True, slots=True)
class FeedText:
    """More of an utterance's text."""

    generation: int
    text: str


@dataclass(frozen=True, slots=True)
class FlushText:
    """Speak what is held back of the text."""

    generation: int


@dataclass(frozen=True, slots=True)
class EndText:
    """The text is complete."""

    generation: int


@dataclass(frozen=True, slots=True)
class MovePlayed:
    """The listener has heard so much."""

    generation: int
    cursor_ms: float


@dataclass(frozen=True, slots=True)
class Stop:
    """End an utterance now: cancelled, or, with a fault, failed. Report it with `failed` and `ended`."""

    generation: int
    fault: VivavoceError | None = None


Action = Send | Close | Begin | FeedText | FlushText | EndText | MovePlayed | Stop
