"""How a predictor elsewhere can fail, told apart by what may be done about it."""

from __future__ import annotations

import codecs
import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from ..errors import BadRequest, Busy, PredictorFailed, UnknownVoice, VivavoceError

__all__ = ["BrokenOff", "Missing", "OutOfPatience", "Unreachable", "error_in", "fault_of"]

_MAX_RETRY_AFTER_S = 60.0


class Unreachable(PredictorFailed):
    """No connection came about, so nothing was begun there: the job may go elsewhere for free.

    `is_silent` says that it was not refused: nobody answered.
    """

    def __init__(self, message: str, *, is_silent: bool = False) -> None:
        super().__init__(message)
        self.is_silent = is_silent


class BrokenOff(PredictorFailed):
    """The connection was lost before the reply was whole."""


class Missing(PredictorFailed):
    """The server has no such path, or no such model."""


class OutOfPatience(PredictorFailed):
    """The predictor took longer than one job may take; the work may still be going on there."""


def fault_of(status: int, body: bytes, headers: Mapping[str, str]) -> VivavoceError:
    """The error behind a reply that is no success: Busy for a refusal, BadRequest for what no predictor would take.

    Nobody is followed to another address: where one is told, the error says it.
    """
    told = error_in(body)
    if 300 <= status < 400 and "Location" in headers:
        told = f"moved to {headers['Location'][:200]}"
    message = f"The predictor answered {status}" + (f": {told}" if told else ".")
    if status in (429, 503):
        return Busy(message, reason="full", retry_after_s=_seconds(headers.get("Retry-After")))
    if status in (400, 413, 422):
        if "voice" in told.lower() and "speed" not in told.lower():
            return UnknownVoice(message, param="voice")
        return BadRequest(message)
    return Missing(message) if status in (404, 405) else PredictorFailed(message)


def error_in(body: bytes) -> str:
    """The message in an error's body: V2's string, OpenAI's object, or the first of whatever else it is."""
    try:
        error = json.loads(body)["error"]
        if isinstance(error, dict):
            error = error["message"]
    except (ValueError, RecursionError, TypeError, KeyError):
        error = _text_in(body[:200])
    return " ".join("".join(c if c.isprintable() else " " for c in str(error)).split())[:500]


def _text_in(body: bytes) -> str:
    """The text that bytes are, the last character maybe cut; an empty one where they are something else."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return ""


def _seconds(retry_after: str | None) -> float | None:
    """The seconds in a Retry-After header, or until its date, a minute at most; None for nonsense."""
    told = retry_after or ""
    try:
        seconds = float(told)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(told).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return min(max(0.0, seconds), _MAX_RETRY_AFTER_S)
