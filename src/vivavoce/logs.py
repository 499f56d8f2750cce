"""Logs that carry a request id and never a user's text."""

from __future__ import annotations

import json
import logging
import math
import sys
import traceback
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from .metrics import Ending

__all__ = ["configure_logs", "log_ending", "request_id"]

request_id: ContextVar[str] = ContextVar("request_id", default="")

_access = logging.getLogger("vivavoce.access")

_RECORD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}
_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def configure_logs(level: str = "info", style: str = "text", stream: TextIO | None = None) -> None:
    """Send every log line to `stream` (standard error), as `text` or one JSON object a line.

    Tracebacks keep their frames and the names of their exceptions; the exceptions' messages are shown at DEBUG only,
    because they can quote what a user wrote.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    verbose = level == "debug"
    handler.setFormatter(JsonFormatter(verbose) if style == "json" else TextFormatter(verbose))
    root = logging.getLogger()
    for old in list(root.handlers):
        if getattr(old, "vivavoce", False):
            root.removeHandler(old)
    handler.vivavoce = True  # type: ignore[attr-defined]
    root.addHandler(handler)
    root.setLevel(level.upper())
    # uvicorn's own lines repeat what ours say; those of the others, and uvicorn's at DEBUG, quote heads with their keys.
    for name in ("httpx", "httpcore", "asyncio", "multipart", "uvicorn", "websockets"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(_says_more_than_ours)


def log_ending(ending: Ending) -> None:
    """One line for an utterance that has ended: by which door it came, its outcome and its times, never its text."""
    if not _access.isEnabledFor(logging.INFO):
        return
    timeline = ending.timeline
    told: dict[str, Any] = {
        "door": ending.door,
        "outcome": ending.outcome,
        "code": ending.code,
        "reason": ending.reason,
    }
    if timeline is not None:
        told |= {
            "ttfa_ms": _tenths(timeline.ttfa_ms),
            "audio_ms": _tenths(timeline.audio_ms),
            "synthesis_ms": _tenths(timeline.synthesis_ms),
            "underruns": timeline.underruns,
            "retries": timeline.retries,
        }
    _access.info("utterance", extra={name: value for name, value in told.items() if value not in ("", None)})


def _says_more_than_ours(record: logging.LogRecord) -> bool:
    """A reply that was broken off on purpose has its line already: `request cut short`."""
    return record.getMessage() != "ASGI callable returned without completing response."


def _tenths(value_ms: float | None) -> float | None:
    return None if value_ms is None else round(value_ms, 1)


class _QuietFormatter(logging.Formatter):
    """Formats exceptions without their messages unless it is verbose."""

    def __init__(self, verbose: bool) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s%(request)s %(message)s%(fields)s", "%Y-%m-%dT%H:%M:%S")
        self.verbose = verbose

    def formatException(self, ei: _ExcInfo) -> str:
        """The traceback; exception messages only when verbose."""
        if self.verbose or ei[1] is None:
            return super().formatException(ei)
        lines = []
        error: BaseException | None = ei[1]
        while error is not None:
            lines += [f"{type(error).__module__}.{type(error).__qualname__}"]
            lines += [line.rstrip() for line in traceback.format_tb(error.__traceback__)]
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\n".join(lines)


class TextFormatter(_QuietFormatter):
    """One line for a person."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, with the request's id and the record's extra fields."""
        current = request_id.get()
        record.request = f" [{current}]" if current else ""
        record.fields = "".join(f" {name}={value}" for name, value in _extras(record).items())
        record.exc_text = None  # another handler may have kept a traceback that quotes its messages
        return super().format(record)


class JsonFormatter(_QuietFormatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The object: time, level, logger, message, request_id, then the record's extra fields.

        `request_id` is null where a line belongs to no request. Nothing that JSON has no word for breaks a line.
        """
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03d}",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_id.get() or None,
        }
        for name, value in _extras(record).items():
            line.setdefault(name, value)
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        try:
            return json.dumps(line, default=str, allow_nan=False)
        except ValueError:
            return json.dumps({name: value if _is_plain(value) else str(value) for name, value in line.items()})


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(record).items()
        if name not in _RECORD_FIELDS and name not in ("request", "fields")
    }
