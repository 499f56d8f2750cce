"""How a predictor elsewhere can fail, told apart by what may be done about it."""

from __future__ import annotations

from ..errors import BadRequest, Busy, PredictorFailed, UnknownVoice, VivavoceError
from .v2_wire import error_in

__all__ = ["BrokenOff", "Missing", "OutOfPatience", "Unreachable", "fault_of"]

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


def fault_of(status: int, body: bytes, retry_after: str | None = None) -> VivavoceError:
    """The error behind a reply that is no success: Busy for a refusal, BadRequest for what no predictor would take."""
    told = error_in(body)
    message = f"The predictor answered {status}" + (f": {told}" if told else ".")
    if status in (429, 503):
        return Busy(message, reason="full", retry_after_s=_seconds(retry_after))
    if status in (400, 413, 422):
        if "voice" in told.lower() and "speed" not in told.lower():
            return UnknownVoice(message, param="voice")
        return BadRequest(message)
    return Missing(message) if status in (404, 405) else PredictorFailed(message)


def _seconds(retry_after: str | None) -> float | None:
    """The seconds in a Retry-After header; a date or nonsense is None."""
    try:
        return min(max(0.0, float(retry_after or "")), _MAX_RETRY_AFTER_S)
    except ValueError:
        return None
