"""How speech, its words and its failures are written for a client. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import VivavoceError
from ..speech import Word
from .errors import body_of

__all__ = ["delta_event", "done_event", "error_event", "usage_of", "word_headers", "word_times"]

# What vLLM-Omni allows in its header; proxies in front refuse headers not much larger.
WORDS_HEADER_LIMIT_BYTES = 4_096
_CHARACTERS_PER_TOKEN = 4
_AUDIO_TOKEN_MS = 50.0


def word_times(words: Iterable[Word]) -> list[dict[str, Any]]:
    """Words with their times in ms and their places, in code points, in the input."""
    return [
        {
            "word": word.text,
            "start_ms": round(word.start_ms, 1),
            "end_ms": round(word.end_ms, 1),
            "start": word.start,
            "end": word.end,
            "exact": word.exact,
        }
        for word in words
    ]


def word_headers(words: Sequence[Word]) -> dict[str, str]:
    """`X-Word-Timestamps` as ASCII JSON, or the word that it would be too long."""
    value = json.dumps(word_times(words), separators=(",", ":"))
    if len(value) > WORDS_HEADER_LIMIT_BYTES:
        return {"X-Word-Timestamps-Omitted": "true"}
    return {"X-Word-Timestamps": value}


def usage_of(text: str, audio_ms: float) -> dict[str, int]:
    """Tokens as a bill would estimate them: four characters, or 50 ms of speech, each."""
    taken = -(-len(text) // _CHARACTERS_PER_TOKEN)
    made = round(audio_ms / _AUDIO_TOKEN_MS)
    return {"input_tokens": taken, "output_tokens": made, "total_tokens": taken + made}


def delta_event(audio: bytes, words: Sequence[Word] | None) -> bytes:
    """Audio, and where they are wanted the words heard in it."""
    event: dict[str, Any] = {"type": "speech.audio.delta", "audio": base64.b64encode(audio).decode("ascii")}
    if words is not None:
        event["words"] = word_times(words)
    return _event(event)


def done_event(usage: dict[str, int]) -> bytes:
    """The last event of a reply that went well."""
    return _event({"type": "speech.audio.done", "usage": usage})


def error_event(error: VivavoceError) -> bytes:
    """The last event of a reply that broke; what came before is to be thrown away."""
    return _event({"type": "speech.audio.error", "error": body_of(error), "partial_audio": True, "action": "discard"})


def _event(event: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(event, separators=(",", ":")).encode("ascii") + b"\n\n"
