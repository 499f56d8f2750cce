"""Traces for OpenTelemetry: a span for every utterance, and one inside it for every job that a predictor gets.

Everything of OpenTelemetry is imported only where traces are configured (extra `otel`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from .clock import Clock
from .engines.base import Chunk, Origin
from .errors import ConfigError, VivavoceError
from .logs import request_id
from .metrics import Ending
from .predictors.base import Around, Deadline, Job, Predictor
from .spans import job_span, remote_context, utterance_span
from .speech.events import Timeline

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span

__all__ = ["TraceContext", "TracedPredictor", "Traces", "traces_to"]

_FLUSH_S = 2.0

_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]


def traces_to(endpoint: str, clock: Clock) -> Traces:
    """Traces that go to an OTLP collector over HTTP, such as `http://collector:4318`.

    Raises ConfigError where the extra `otel` is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise ConfigError("VIVAVOCE_OTLP_ENDPOINT needs OpenTelemetry: pip install 'vivavoce[otel]'") from None
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/').removesuffix('/v1/traces')}/v1/traces")
    return Traces(BatchSpanProcessor(exporter), clock)


class Traces:
    """Tells a span processor about utterances. Hand `started` and `ended` to `Metrics.listen`.

    A span holds times, counts and names, never a text. Its parent is the caller's, where a `traceparent` named one.
    """

    def __init__(self, processor: SpanProcessor, clock: Clock) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider

        from . import __version__

        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "vivavoce", "service.version": __version__}),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(processor)
        self.tracer = self._provider.get_tracer("vivavoce", __version__)
        self._clock = clock
        self._spans: dict[int, Span] = {}

    def started(self, door: str, timeline: Timeline) -> None:
        """Open the span of an utterance that was admitted; it is the parent of the jobs of this task and its own."""
        span = self._open(door, timeline)
        self._spans[id(timeline)] = span
        utterance_span.set(span)

    def ended(self, ending: Ending) -> None:
        """Close the span of an utterance; one that was never admitted has its whole span now."""
        from opentelemetry.trace import Status, StatusCode

        timeline = ending.timeline
        if timeline is None:
            return
        span = self._spans.pop(id(timeline), None) or self._open(ending.door, timeline)
        span.set_attribute("tts.outcome", ending.outcome)
        for name, word in (("error.type", ending.code), ("tts.refusal", ending.reason)):
            if word:
                span.set_attribute(name, word)
        for name, value in _numbers(timeline):
            if value is not None:
                span.set_attribute(name, value)
        for event, at_ms in (
            ("admitted", timeline.admitted_ms),
            ("first segment", timeline.first_segment_ms),
            ("slot", timeline.slot_ms),
            ("first audio", timeline.first_audio_ms),
        ):
            if at_ms is not None:
                span.add_event(event, timestamp=self._wall_ns(at_ms))
        if ending.outcome == "error":
            span.set_status(Status(StatusCode.ERROR, ending.code))
        span.end(self._wall_ns(self._clock.now_ms() if timeline.ended_ms is None else timeline.ended_ms))

    def close(self) -> None:
        """Send what has not been sent, for two seconds at most: a collector that is away holds nobody up."""
        last = threading.Thread(target=self._provider.shutdown, name="vivavoce-traces", daemon=True)
        last.start()
        last.join(_FLUSH_S)

    def _open(self, door: str, timeline: Timeline) -> Span:
        from opentelemetry.trace import SpanKind

        return self.tracer.start_span(
            "utterance",
            context=remote_context.get(),
            kind=SpanKind.SERVER,
            attributes={"tts.door": door, "tts.request_id": request_id.get()},
            start_time=self._wall_ns(timeline.received_ms),
        )

    def _wall_ns(self, at_ms: float) -> int:
        """The wall clock's time of a moment on the injected clock."""
        return time.time_ns() - int((self._clock.now_ms() - at_ms) * 1e6)


class TracedPredictor(Around):
    """Passes jobs on to `inner`; each gets a span inside its utterance's."""

    def __init__(self, inner: Predictor, traces: Traces) -> None:
        super().__init__(inner)
        self._traces = traces

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        """Speak the job. Raises what the inner predictor raises."""
        span = self._open(job)
        job_span.set(span)
        chunks_seen, samples_seen = 0, 0
        try:
            async with aclosing(self._inner.synthesize(job, deadline)) as chunks:
                async for chunk in chunks:
                    if not samples_seen and chunk.samples.size:
                        span.add_event("first audio")
                    chunks_seen += 1
                    samples_seen += int(chunk.samples.size)
                    if chunk.origin is not None:
                        _note_origin(span, chunk.origin)
                    yield chunk
        except Exception as error:
            _note_failure(span, error)
            raise
        finally:
            span.set_attribute("tts.chunks", chunks_seen)
            span.set_attribute("tts.samples", samples_seen)
            span.end()
            job_span.set(None)

    def _open(self, job: Job) -> Span:
        from opentelemetry.trace import SpanKind, set_span_in_context

        parent = utterance_span.get()
        return self._traces.tracer.start_span(
            "predict",
            context=None if parent is None else set_span_in_context(parent),
            kind=SpanKind.CLIENT,
            attributes={
                "tts.voice": job.voice,
                "tts.language": job.phrase.language,
                "tts.characters": len(job.phrase.text),
            },
        )


class TraceContext:
    """ASGI middleware: the `traceparent` of a request, or of a WebSocket's handshake, is the parent of its spans."""

    def __init__(self, app: _App) -> None:
        self.app = app

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Serve one request."""
        if scope["type"] in ("http", "websocket"):
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

            named = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            carried = {name: named[name] for name in ("traceparent", "tracestate") if name in named}
            remote_context.set(TraceContextTextMapPropagator().extract(carried) if carried else None)
        await self.app(scope, receive, send)


def _numbers(timeline: Timeline) -> tuple[tuple[str, float | int | None], ...]:
    return (
        ("tts.ttfa_ms", timeline.ttfa_ms),
        ("tts.perceived_ttfa_ms", timeline.perceived_ttfa_ms),
        ("tts.rtf", timeline.rtf),
        ("tts.audio_ms", timeline.audio_ms),
        ("tts.synthesis_ms", timeline.synthesis_ms),
        ("tts.segments", len(timeline.segments)),
        ("tts.underruns", timeline.underruns),
        ("tts.retries", timeline.retries),
    )


def _note_origin(span: Span, origin: Origin) -> None:
    for name, value in (
        ("server.address", origin.endpoint),
        ("tts.tier", origin.tier),
        ("tts.node", origin.node),
        ("tts.model", origin.model),
    ):
        if value:
            span.set_attribute(name, value)


def _note_failure(span: Span, error: Exception) -> None:
    """The kind of error only: its message can quote a text."""
    from opentelemetry.trace import Status, StatusCode

    word = error.code if isinstance(error, VivavoceError) else type(error).__name__
    span.set_attribute("error.type", word)
    span.set_status(Status(StatusCode.ERROR, word))
