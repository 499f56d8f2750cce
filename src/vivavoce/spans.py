"""Which span and which request a task works for, and how a request to somebody else says so."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from .logs import request_id

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

__all__ = ["carried_headers", "job_span", "remote_context", "utterance_span"]

remote_context: ContextVar[Context | None] = ContextVar("remote_context", default=None)
"""What the caller's `traceparent` said."""
utterance_span: ContextVar[Span | None] = ContextVar("utterance_span", default=None)
job_span: ContextVar[Span | None] = ContextVar("job_span", default=None)


def carried_headers() -> dict[str, str]:
    """What a request to a predictor carries: `X-Request-Id`, and `traceparent` where traces are kept.

    By them its lines in the log and its spans are found together with ours.
    """
    headers = {"X-Request-Id": identity} if (identity := request_id.get()) else {}
    span = job_span.get() or utterance_span.get()
    if span is not None:
        from opentelemetry.trace import set_span_in_context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        TraceContextTextMapPropagator().inject(headers, set_span_in_context(span))
    return headers
