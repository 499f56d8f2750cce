"""Traces of a whole server, over real sockets."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from vivavoce.traces import Traces

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def exporter(monkeypatch):
    """What the server's traces end up in."""
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(
        "vivavoce.api.services.traces_to", lambda endpoint, clock: Traces(SimpleSpanProcessor(exporter), clock)
    )
    return exporter


@pytest.fixture
def app(build, exporter):
    return build(otlp_endpoint="http://collector:4318")


def by_name(exporter):
    spans = exporter.get_finished_spans()
    return [s for s in spans if s.name == "utterance"], [s for s in spans if s.name == "predict"]


async def test_utterances_of_a_websocket_have_their_jobs_inside(app, exporter, running, talk):
    async with running(app) as port, talk(port) as client:
        exporter.clear()
        for text in ("One sentence. And another.", "A second utterance."):
            await client.ask(text)
            assert (await client.until("done"))["outcome"] == "ok"
    utterances, jobs = by_name(exporter)
    assert [span.attributes["tts.outcome"] for span in utterances] == ["ok", "ok"]
    assert [span.attributes["tts.door"] for span in utterances] == ["websocket", "websocket"]
    parents = [span.parent.span_id for span in jobs]
    assert [parents.count(span.context.span_id) for span in utterances] == [2, 1]


async def test_the_callers_trace_goes_on(app, exporter, running, wire):
    async with running(app) as port, wire(port) as raw:
        exporter.clear()
        await raw.post({"input": "Follow me.", "response_format": "pcm"}, traceparent=f"00-{TRACE}-00f067aa0ba902b7-01")
        assert (await raw.head())[0] == 200
        await raw.reader.readuntil(b"0\r\n\r\n")
        async with asyncio.timeout(5):
            while not by_name(exporter)[0]:  # noqa: ASYNC110 - spans have no event
                await asyncio.sleep(0.01)
    utterances, jobs = by_name(exporter)
    assert {f"{span.context.trace_id:032x}" for span in (*utterances, *jobs)} == {TRACE}
    assert f"{utterances[0].parent.span_id:016x}" == "00f067aa0ba902b7"
    assert jobs[0].parent.span_id == utterances[0].context.span_id


async def test_one_that_is_cancelled_and_one_that_fails_have_their_spans(app, exporter, predictor, running, talk):
    async with running(app) as port, talk(port) as client:
        exporter.clear()
        predictor.hold_at = 1
        await client.ask("Not to the end.")
        await client.until("audio")
        await client.tell("cancel")
        await client.until("done")
        predictor.hold_at, predictor.fail_at = None, 0
        await client.ask("Not at all.")
        await client.until("done")
        await client.ask("Nor this.", voice="nobody")
        await client.until("done")
    utterances, _ = by_name(exporter)
    assert [span.attributes["tts.outcome"] for span in utterances] == ["cancelled", "error", "error"]
    assert utterances[2].attributes["error.type"] == "unknown_voice"
    assert len({span.context.trace_id for span in utterances}) == 3
