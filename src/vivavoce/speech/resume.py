"""What it takes to go on speaking where a lost connection left off."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, fields

from pydantic_core import to_json

from ..errors import BadToken
from .events import Utterance
from .seal import Seal

__all__ = ["ResumeTokens", "Resumed"]


@dataclass(frozen=True, slots=True)
class Resumed:
    """How an utterance was asked for, but for its text, and for the lexicon, which is the server's own."""

    utterance: Utterance
    request_id: str
    format: str
    framing: str
    word_timestamps: bool
    voice_asked: str


class ResumeTokens:
    """Notes that let an utterance go on at any server that shares `secret`, for `ttl_s` seconds.

    A token holds the utterance's settings, signed and readable; it holds no text. Only the caller it was made for can
    use it.
    """

    def __init__(self, secret: bytes, ttl_s: float, now_s: Callable[[], float] = time.time) -> None:
        self._seal = Seal(secret, "vivavoce resume 1")
        self._ttl_s = ttl_s
        self._now_s = now_s

    def sign(
        self,
        utterance: Utterance,
        *,
        request_id: str,
        caller: str,
        format: str,
        framing: str,
        word_timestamps: bool,
        voice_asked: str,
    ) -> str:
        """The token of an utterance that starts now. `caller` is the name of the key it was asked for with."""
        settings = {name: getattr(utterance, name) for name in _SETTINGS}
        door = [request_id, format, framing, word_timestamps, voice_asked]
        note = [caller, round(self._now_s() + self._ttl_s, 3), door, settings]
        return self._seal.close(to_json(note))

    def read(self, token: str, caller: str) -> Resumed:
        """What the token says. Raises BadToken where it is forged, too old, or another caller's."""
        note = self._seal.open(token)
        if note is None:
            raise BadToken("The resume token is none of this server's.", param="token")
        owner, good_until_s, door, settings = json.loads(note)
        if owner != caller:
            raise BadToken("The resume token was given to another caller.", param="token")
        if self._now_s() >= good_until_s:
            raise BadToken("The resume token is too old; start anew.", param="token")
        return Resumed(Utterance(**settings), *door)


# The lexicon is the server's own, and the pause to begin with is the next leg's.
_LEFT_OUT = ("lexicon", "opening_rest_ms")
_SETTINGS = tuple(field.name for field in fields(Utterance) if field.name not in _LEFT_OUT)
