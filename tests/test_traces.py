"""Spans of utterances and of jobs."""

from __future__ import annotations

import asyncio
import gzip
import http.server
import subprocess
import sys
import threading

import numpy as np
import pytest

from vivavoce.clock import MonotonicClock
from vivavoce.engines.base import Chunk, Origin, Phrase
from vivavoce.errors import ConfigError, PredictorFailed
from vivavoce.logs import request_id
from vivavoce.metrics import Metrics
from vivavoce.predictors.base import Job
from vivavoce.spans import carried_headers
from vivavoce.speech import SegmentEnd, Timeline
from vivavoce.traces import TraceContext, TracedPredictor, Traces, traces_to

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Speaking:
    """Says every phrase in two chunks; may break before the second."""

    slots = 1

    def __init__(self, breaks=None):
        self.breaks = breaks
        self.heard = []

    def streams(self, voice):
        return 1

    def rate_hz(self, voice):
        return 24_000

    async def synthesize(self, job, deadline=None):
        self.heard.append(carried_headers())
        yield Chunk(np.zeros(240, np.float32), origin=Origin("http://a:8080", "burst", "node-7", "omni"))
        if self.breaks:
            raise self.breaks
        yield Chunk(np.zeros(120, np.float32))


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


@pytest.fixture
def traces(exporter):
    traces = Traces(SimpleSpanProcessor(exporter), MonotonicClock())
    yield traces
    traces.close()


@pytest.fixture
def metrics(traces):
    metrics = Metrics()
    metrics.listen(traces.ended, traces.started)
    return metrics


def job(text="A secret about quokkas"):
    return Job(Phrase(text, "en"), "mira")


async def drink(predictor, what):
    return [chunk async for chunk in predictor.synthesize(what)]


async def test_an_utterance_is_a_span_and_its_jobs_are_inside_it(exporter, traces, metrics):
    predictor = TracedPredictor(Speaking(), traces)
    now = MonotonicClock().now_ms()
    timeline = Timeline(now - 300, admitted_ms=now - 290)
    metrics.started("websocket", timeline)
    await asyncio.create_task(drink(predictor, job()))
    await asyncio.create_task(drink(predictor, job("And another")))
    timeline.first_segment_ms, timeline.slot_ms, timeline.first_audio_ms = now - 289, now - 280, now - 250
    timeline.ended_ms, timeline.audio_ms, timeline.synthesis_ms = now, 2_000.0, 100.0
    timeline.segments.append(SegmentEnd(0, 2_000.0, 100.0))
    metrics.ended("websocket", "ok", timeline)
    *jobs, utterance = exporter.get_finished_spans()
    assert utterance.name == "utterance"
    assert utterance.kind is SpanKind.SERVER
    assert utterance.parent is None
    assert utterance.attributes["tts.outcome"] == "ok"
    assert utterance.attributes["tts.ttfa_ms"] == pytest.approx(50)
    assert utterance.attributes["tts.rtf"] == pytest.approx(0.05)
    assert utterance.attributes["tts.segments"] == 1
    assert [event.name for event in utterance.events] == ["admitted", "first segment", "slot", "first audio"]
    times = [utterance.start_time, *(event.timestamp for event in utterance.events), utterance.end_time]
    assert times == sorted(times)
    assert utterance.end_time - utterance.start_time == pytest.approx(300e6, abs=50e6)
    assert [span.name for span in jobs] == ["predict", "predict"]
    for span in jobs:
        assert span.parent.span_id == utterance.context.span_id
        assert span.context.trace_id == utterance.context.trace_id
        assert span.kind is SpanKind.CLIENT
        assert (span.attributes["tts.chunks"], span.attributes["tts.samples"]) == (2, 360)
        assert span.attributes["server.address"] == "http://a:8080"
        assert (span.attributes["tts.tier"], span.attributes["tts.node"]) == ("burst", "node-7")
        assert [event.name for event in span.events] == ["first audio"]


async def test_the_callers_trace_goes_on_here_and_at_the_predictor(exporter, traces, metrics):
    inner = Speaking()

    async def app(scope, receive, send):
        timeline = Timeline(MonotonicClock().now_ms())
        metrics.started("openai", timeline)
        await drink(TracedPredictor(inner, traces), job())
        metrics.ended("openai", "ok", timeline)

    carried = [(b"host", b"door"), (b"traceparent", f"00-{TRACE}-{PARENT}-01".encode())]
    for kind in ("http", "websocket"):
        await asyncio.create_task(TraceContext(app)({"type": kind, "headers": carried}, None, None))
    await asyncio.create_task(TraceContext(app)({"type": "http", "headers": carried[:1]}, None, None))
    spans = exporter.get_finished_spans()
    for predict, utterance in (spans[0:2], spans[2:4]):
        assert f"{utterance.context.trace_id:032x}" == TRACE
        assert f"{utterance.parent.span_id:016x}" == PARENT
        assert predict.parent.span_id == utterance.context.span_id
    assert spans[5].parent is None
    assert f"{spans[5].context.trace_id:032x}" != TRACE
    for told, predict in zip(inner.heard, spans[::2], strict=True):
        assert told["traceparent"].startswith(f"00-{predict.context.trace_id:032x}-{predict.context.span_id:016x}-")


@pytest.mark.parametrize("header", ["", "nonsense", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "ff-" + "é" * 40])
async def test_a_traceparent_that_is_none_begins_a_trace_of_its_own(exporter, traces, metrics, header):
    async def app(scope, receive, send):
        metrics.ended("openai", "shed", Timeline(MonotonicClock().now_ms()), "busy", "queue_full")

    scope = {"type": "http", "headers": [(b"traceparent", header.encode("latin-1"))]}
    await asyncio.create_task(TraceContext(app)(scope, None, None))
    (span,) = exporter.get_finished_spans()
    assert span.parent is None
    assert span.context.trace_id


async def test_one_that_was_refused_has_its_span_too(exporter, metrics):
    metrics.ended("websocket", "shed", Timeline(MonotonicClock().now_ms() - 20), "busy", "queue_timeout")
    (span,) = exporter.get_finished_spans()
    assert (span.attributes["tts.outcome"], span.attributes["tts.refusal"]) == ("shed", "queue_timeout")
    assert span.events == ()
    assert span.status.status_code is StatusCode.UNSET


@pytest.mark.parametrize("outcome", ["cancelled", "client_gone", "shed", "error"])
async def test_only_errors_are_errors(exporter, metrics, outcome):
    metrics.ended("websocket", outcome, Timeline(MonotonicClock().now_ms()), "predictor_failed")
    (span,) = exporter.get_finished_spans()
    assert (span.status.status_code is StatusCode.ERROR) == (outcome == "error")


@pytest.mark.parametrize(
    ("error", "word"),
    [(PredictorFailed("said: A secret about quokkas"), "predictor_failed"), (KeyError("quokkas"), "KeyError")],
)
async def test_no_text_is_told_not_even_by_what_went_wrong(exporter, traces, error, word):
    with pytest.raises(type(error)):
        await drink(TracedPredictor(Speaking(error), traces), job())
    (span,) = exporter.get_finished_spans()
    assert (span.status.status_code, span.attributes["error.type"]) == (StatusCode.ERROR, word)
    assert "quokka" not in span.to_json()


async def test_a_job_that_is_cut_off_has_its_end(exporter, traces):
    chunks = TracedPredictor(Speaking(), traces).synthesize(job())
    await anext(chunks)
    await chunks.aclose()
    (span,) = exporter.get_finished_spans()
    assert span.attributes["tts.chunks"] == 1
    assert span.status.status_code is StatusCode.UNSET
    assert carried_headers() == {}


async def test_the_requests_name_goes_on_too():
    token = request_id.set("req_42")
    assert carried_headers() == {"X-Request-Id": "req_42"}
    request_id.reset(token)


async def test_utterances_at_the_same_time_keep_apart(exporter, traces, metrics):
    predictor = TracedPredictor(Speaking(), traces)

    async def one():
        timeline = Timeline(MonotonicClock().now_ms())
        metrics.started("websocket", timeline)
        await asyncio.sleep(0)
        await asyncio.create_task(drink(predictor, job()))
        metrics.ended("websocket", "ok", timeline)

    await asyncio.gather(*(one() for _ in range(5)))
    spans = exporter.get_finished_spans()
    utterances = {span.context.span_id: span for span in spans if span.name == "utterance"}
    assert sorted(span.parent.span_id for span in spans if span.name == "predict") == sorted(utterances)
    assert len({span.context.trace_id for span in spans}) == 5


def test_nothing_of_it_is_imported_where_nobody_asked():
    script = "import vivavoce.traces, vivavoce.api, sys; sys.exit('opentelemetry.sdk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_without_the_extra_the_setting_is_explained(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(ConfigError, match=r"pip install 'vivavoce\[otel\]'"):
        traces_to("http://collector:4318", MonotonicClock())


@pytest.mark.parametrize("named", ["http://127.0.0.1:9", "http://127.0.0.1:9/", "http://127.0.0.1:9/v1/traces"])
def test_a_collector_that_is_away_holds_nobody_up(monkeypatch, named):
    monkeypatch.setattr("vivavoce.traces._FLUSH_S", 0.05)
    traces = traces_to(named, MonotonicClock())
    metrics = Metrics()
    metrics.listen(traces.ended, traces.started)
    metrics.ended("openai", "ok", Timeline(0.0))
    traces.close()


def test_spans_reach_a_collector(collector):
    url, got = collector
    traces = traces_to(url, MonotonicClock())
    metrics = Metrics()
    metrics.listen(traces.ended, traces.started)
    metrics.ended("openai", "ok", Timeline(MonotonicClock().now_ms()))
    traces.close()
    ((path, body),) = got
    assert path == "/v1/traces"
    assert b"utterance" in body
    assert b"vivavoce" in body


@pytest.fixture
def collector():
    """What an OTLP collector is sent."""
    got = []

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()
        thread.join()
