"""The events of our own `generate_stream`: speech while it is made, with its words. Pure.

Each is one `data:` line of Server-Sent Events with Triton's keys and ours: `audio` (base64 of s16le mono), `sample_rate`,
`words` ([[start, end, start_ms, end_ms], …]: code points of the text that was sent, ms from the first sample),
`words_exact`, and `final`, which is true in the last event only: a stream without it was cut short. A stream that
breaks ends with `{"error": "…"}` instead.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any

from ..engines.base import WordTime
from ..errors import PredictorFailed

__all__ = ["StreamEvent", "StreamFailed", "decode_event", "encode_error", "encode_event"]

_MIN_RATE_HZ, _MAX_RATE_HZ = 4_000, 384_000
_MAX_MS = 1e9


class StreamFailed(PredictorFailed):
    """The server told that the speech broke off."""


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """A piece of speech: whole s16le samples, the words known since the last piece, whether it is the last."""

    pcm: bytes
    rate_hz: int
    words: tuple[WordTime, ...] = ()
    final: bool = False


def encode_event(event: StreamEvent, **keys: Any) -> bytes:
    """The event as it goes over the wire; `keys` are Triton's own (`model_name`, `text_output`, …)."""
    body = {
        **keys,
        "audio": base64.b64encode(event.pcm).decode("ascii"),
        "sample_rate": event.rate_hz,
        "words": words_json(event.words),
        "words_exact": all(word.exact for word in event.words),
        "final": event.final,
    }
    return _line(body)


def encode_error(message: str) -> bytes:
    """The last event of a stream that broke."""
    return _line({"error": message})


def decode_event(data: str | bytes) -> StreamEvent:
    """Read what follows `data:`. Raises StreamFailed for an error event, PredictorFailed for anything else than ours."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise PredictorFailed("The predictor sent an event that is not JSON.") from None
    if not isinstance(body, dict):
        raise PredictorFailed("The predictor sent an event that is not an object.")
    if "error" in body:
        raise StreamFailed(f"The predictor broke off: {str(body['error'])[:500]}")
    try:
        pcm = base64.b64decode(body["audio"], validate=True)
    except (KeyError, TypeError, ValueError, binascii.Error):
        raise PredictorFailed("The predictor sent an event without audio.") from None
    rate_hz = body.get("sample_rate")
    if type(rate_hz) is not int or not _MIN_RATE_HZ <= rate_hz <= _MAX_RATE_HZ:
        raise PredictorFailed("The predictor sent an event without a sample rate.")
    words = words_from(body.get("words"), exact=body.get("words_exact") is not False)
    return StreamEvent(pcm, rate_hz, words, body.get("final") is True)


def words_json(words: tuple[WordTime, ...]) -> list[list[float]]:
    """Words as the wire has them."""
    return [[word.start, word.end, round(word.start_ms, 2), round(word.end_ms, 2)] for word in words]


def words_from(value: object, *, exact: bool = True) -> tuple[WordTime, ...]:
    """Words from the wire; None is none. Raises PredictorFailed for any other shape."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise PredictorFailed("The predictor's words are no list.")
    return tuple(_word(entry, exact) for entry in value)


def _word(entry: object, exact: bool) -> WordTime:
    if isinstance(entry, list) and len(entry) == 4 and all(type(part) in (int, float) for part in entry):
        start, end, start_ms, end_ms = entry
        is_span = type(start) is int and type(end) is int and 0 <= start <= end
        if is_span and abs(start_ms) < _MAX_MS and abs(end_ms) < _MAX_MS:
            return WordTime(start, end, float(start_ms), float(end_ms), exact)
    raise PredictorFailed("The predictor's words are not [start, end, start_ms, end_ms].")


def _line(body: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(body, separators=(",", ":")).encode("ascii") + b"\n\n"
