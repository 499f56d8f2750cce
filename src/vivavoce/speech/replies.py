"""What the server says over the WebSocket, as JSON text frames. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic_core import to_json

from ..engines.base import Origin
from ..errors import Busy, VivavoceError
from .events import Outcome, SegmentEnd, SegmentStart, Timeline, Word
from .waiting import Place

__all__ = [
    "busy",
    "done",
    "error",
    "going_away",
    "pong",
    "queued",
    "segment",
    "segment_end",
    "simple",
    "start",
    "words",
]

RETRY_AFTER_MS = 1_000.0


def simple(kind: str, request_id: str) -> str:
    """A message that says no more than its type."""
    return _frame(type=kind, request_id=request_id)


def queued(request_id: str, place: Place) -> str:
    """Where the utterance stands in the line."""
    return _frame(
        type="queued",
        request_id=request_id,
        position=place.position,
        expected_ms=_ms(place.expected_ms),
        budget_ms=_ms(place.budget_ms),
    )


def start(request_id: str, generation: int, rate_hz: int, format: str, token: str) -> str:
    """What the audio will be."""
    return _frame(
        type="start",
        request_id=request_id,
        generation=generation,
        sample_rate=rate_hz,
        channels=1,
        format=format,
        resume_token=token,
    )


def segment(request_id: str, event: SegmentStart) -> str:
    """Which stretch of the text is heard next, and what is said for it."""
    piece = event.segment
    return _frame(
        type="segment",
        request_id=request_id,
        index=event.index,
        start=piece.start,
        end=piece.end,
        text=piece.text,
        spoken=event.spoken.text,
    )


def words(request_id: str, told: Iterable[Word]) -> str:
    """When words are heard."""
    return _frame(
        type="words",
        request_id=request_id,
        words=[
            {
                "word": word.text,
                "start": word.start,
                "end": word.end,
                "start_ms": _ms(word.start_ms),
                "end_ms": _ms(word.end_ms),
                "exact": word.exact,
            }
            for word in told
        ],
    )


def segment_end(request_id: str, event: SegmentEnd) -> str:
    """What a segment took, and where it was made, where that is known."""
    origin = event.origin or Origin()
    places = {"endpoint": origin.endpoint, "tier": origin.tier, "node": origin.node, "model": origin.model}
    return _frame(
        type="segment_end",
        request_id=request_id,
        index=event.index,
        audio_ms=_ms(event.audio_ms),
        synthesis_ms=_ms(event.synthesis_ms),
        rtf=_ratio(event.synthesis_ms, event.audio_ms),
        waited_ms=_ms(event.waited_ms),
        **{name: place for name, place in places.items() if place},
    )


def done(request_id: str, outcome: Outcome, timeline: Timeline, *, heard_ms: float, sent_bytes: int) -> str:
    """The end, and what there is to say about it."""
    moments = {
        "received": timeline.received_ms,
        "admitted": timeline.admitted_ms,
        "first_segment": timeline.first_segment_ms,
        "slot": timeline.slot_ms,
        "first_audio": timeline.first_audio_ms,
        "ended": timeline.ended_ms,
    }
    return _frame(
        type="done",
        request_id=request_id,
        outcome=outcome,
        ttfa_ms=_ms(timeline.ttfa_ms),
        perceived_ttfa_ms=_ms(timeline.perceived_ttfa_ms),
        rtf=_ratio(timeline.synthesis_ms, timeline.audio_ms),
        audio_ms=_ms(timeline.audio_ms),
        bytes=sent_bytes,
        heard_ms=_ms(heard_ms),
        underruns=timeline.underruns,
        retries=timeline.retries,
        timeline={name: _since(at_ms, timeline.received_ms) for name, at_ms in moments.items()},
    )


def busy(request_id: str, refusal: Busy, queue_depth: int) -> str:
    """Refused for now."""
    return _frame(
        type="busy",
        request_id=request_id,
        reason=refusal.reason,
        message=refusal.message,
        retry_after_ms=_retry_ms(refusal),
        queue_depth=queue_depth,
    )


def error(fault: VivavoceError, request_id: str | None = None) -> str:
    """Something went wrong with a message or with an utterance."""
    fields: dict[str, Any] = {"type": "error"}
    if request_id is not None:
        fields["request_id"] = request_id
    fields |= {"code": fault.code, "message": fault.message, "retryable": fault.retryable}
    if fault.param is not None:
        # The heart calls the text by the name that it has over HTTP.
        fields["param"] = "text" if fault.param == "input" else fault.param
    if fault.retryable and fault.retry_after_s is not None:
        fields["retry_after_ms"] = _retry_ms(fault)
    return _frame(**fields)


def going_away(retry_after_ms: float, resume: Sequence[tuple[str, str]]) -> str:
    """The server is about to close; `resume` has the ids of what is unfinished and their tokens."""
    return _frame(
        type="going_away",
        retry_after_ms=_ms(retry_after_ms),
        resume=[{"request_id": request_id, "token": token} for request_id, token in resume],
    )


def pong(identity: str | int | float | None) -> str:
    """The answer to a ping, with its id where it had one."""
    return _frame(type="pong") if identity is None else _frame(type="pong", id=identity)


def _frame(**fields: Any) -> str:
    return to_json(fields).decode()


def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def _since(at_ms: float | None, start_ms: float) -> float | None:
    return None if at_ms is None else round(max(0.0, at_ms - start_ms), 1)


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def _retry_ms(fault: VivavoceError) -> int:
    return round(RETRY_AFTER_MS if fault.retry_after_s is None else fault.retry_after_s * 1000)
