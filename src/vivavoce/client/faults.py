"""What a server or a connection says that went wrong, as errors of the one tree."""

from __future__ import annotations

from typing import Any, get_args

from ..errors import (
    BadMessage,
    Busy,
    BusyReason,
    Forbidden,
    InputTooLarge,
    InternalError,
    PredictorFailed,
    RateLimited,
    RequestTimeout,
    Unauthorized,
    UnknownModel,
    VivavoceError,
)

__all__ = ["ConnectionLost", "busy_fault", "close_fault", "status_fault", "told_fault"]


class ConnectionLost(VivavoceError):
    """No server could be reached, or the connection to one broke."""

    code = "connection_lost"
    status = 503
    retryable = True


def told_fault(
    code: str, message: str, *, retryable: bool, param: str | None, retry_after_s: float | None
) -> VivavoceError:
    """The error behind an `error` message; one that this version does not know keeps what matters of it."""
    kind = _by_code(VivavoceError).get(code)
    if kind is None:
        message, kind = f"{message} ({code})", PredictorFailed if retryable else InternalError
    return kind(message, param=param, retry_after_s=retry_after_s)


def busy_fault(reason: Any, message: str, retry_after_s: float | None) -> Busy:
    """The refusal behind a `busy` message."""
    if reason == "rate_limited":
        return RateLimited(message, retry_after_s=retry_after_s)
    known: BusyReason = reason if reason in get_args(BusyReason) else "full"
    return Busy(message, retry_after_s=retry_after_s, reason=known)


def close_fault(code: int | None, reason: str, told: VivavoceError | None) -> VivavoceError:
    """Why a server closed; `told` is the error that it sent just before, if it did."""
    kinds: dict[int, type[VivavoceError]] = {
        1009: InputTooLarge,
        1013: Busy,
        4400: BadMessage,
        4401: Unauthorized,
        4403: Forbidden,
        4408: RequestTimeout,
        4413: InputTooLarge,
        4429: RateLimited,
    }
    kind = kinds.get(code or 1006, ConnectionLost)
    if told is not None and (kind is ConnectionLost or isinstance(told, kind)):
        return told
    return kind(f"The server closed the connection: {reason or 'without a reason'} ({code or 1006}).")


def status_fault(status: int, retry_after: str | None) -> VivavoceError:
    """Why a server did not open the WebSocket: its HTTP status."""
    if status == 401:
        return Unauthorized("The server does not know the key.")
    if status == 403:
        return Forbidden("The server does not take connections from here.")
    if status in (404, 405):
        return UnknownModel(f"Nothing at that address speaks vivavoce's protocol (HTTP {status}).")
    wait_s = float(retry_after) if retry_after and retry_after.isdecimal() else None
    if status == 429:
        return RateLimited("The key's limit is reached.", retry_after_s=wait_s)
    if status == 503:
        return Busy("The server takes no connection now.", retry_after_s=wait_s)
    return ConnectionLost(f"The server did not open the WebSocket (HTTP {status}).")


def _by_code(kind: type[VivavoceError]) -> dict[str, type[VivavoceError]]:
    found = {kind.code: kind}
    for child in kind.__subclasses__():
        found = _by_code(child) | found
    return found
