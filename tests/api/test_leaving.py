"""Clients that leave: before the headers, between headers and body, in the midst, and many of them at once."""

from __future__ import annotations

import asyncio
import json
import random
import threading

import pytest

LONG = "The river bends twice before the mill. " * 40


def ask(**fields):
    return {"model": "tts-1", "voice": "mira", "input": LONG, "response_format": "pcm", **fields}


async def settled(app, predictor, until):
    services = app.state.services
    await until(lambda: predictor.active == 0 and services.admission.running == 0 and services.admission.waiting == 0)


@pytest.mark.parametrize("fields", [{"stream": True}, {"stream": False}, {"stream_format": "sse"}])
async def test_faster_qwen3_tts_130_leaving_before_the_headers_stops_the_work(
    app, predictor, running, wire, until, sample, fields
):
    predictor.hold_at = 0
    async with running(app) as port, wire(port) as raw:
        await raw.post(ask(**fields))
        await until(lambda: predictor.active == 1)
        raw.leave()
        await settled(app, predictor, until)
        await until(lambda: sample(app, "tts_utterances_total", door="openai", outcome="client_gone") == 1)
    assert len(predictor.jobs) == 1


@pytest.mark.parametrize("fields", [{"stream": True}, {"stream_format": "sse"}])
async def test_sglang_omni_665_leaving_between_headers_and_body_frees_the_turn(
    app, predictor, running, wire, until, sample, fields
):
    predictor.hold_at = 1
    predictor.chunk_ms = 400.0
    async with running(app) as port, wire(port) as raw:
        await raw.post(ask(**fields))
        status, _ = await raw.head()
        assert status == 200
        raw.leave()
        await settled(app, predictor, until)
        await until(lambda: sample(app, "tts_utterances_total", door="openai", outcome="client_gone") == 1)
    assert predictor.closed == len(predictor.jobs)


@pytest.mark.parametrize("fields", [{"stream": True}, {"stream_format": "sse"}, {"stream": False}])
async def test_pocket_tts_238_disconnect_frees_slot(build, engine, running, wire, until, sample, fields):
    app = build(embedded=True, slots=1, warm_capacity=1)
    async with running(app) as port:
        engine.steps, engine.step_s = 1_000, 0.002
        warm = engine.steps_done
        async with wire(port) as raw:
            await raw.post(ask(**fields))
            await until(lambda: engine.steps_done > warm + 3)
            raw.leave()
            await until(lambda: engine.running == 0)
        begun, done = engine.begun, engine.steps_done
        await until(lambda: app.state.services.admission.running == 0)
        assert (engine.begun, engine.steps_done) == (begun, done)
        engine.steps = 2
        async with wire(port) as raw:
            await raw.post(ask(input="Next, please."))
            assert (await raw.head())[0] == 200
        assert sample(app, "tts_utterances_total", door="openai", outcome="client_gone") >= 1


async def test_a_storm_of_departures_leaves_nothing_behind(build, engine, running, wire, until, sample):
    app = build(embedded=True, slots=2, warm_capacity=4, queue_limit=200)
    engine.steps, engine.step_s = 30, 0.001
    chance = random.Random(3)

    async def visit(port: int) -> None:
        async with wire(port) as raw:
            await raw.post(ask(**chance.choice([{}, {"stream": False}, {"stream_format": "sse"}, {"stream": True}])))
            await asyncio.sleep(chance.random() * 0.15)
            raw.leave()

    async with running(app) as port:
        async with wire(port) as raw:
            await raw.post(ask(input="Warm."))
            await raw.head()
        await until(lambda: app.state.services.admission.running == 0)
        threads = threading.active_count()
        for _ in range(4):
            await asyncio.gather(*(visit(port) for _ in range(40)))
        admission = app.state.services.admission
        await until(lambda: admission.running == 0 and admission.waiting == 0 and engine.running == 0)
        await until(
            lambda: sample(app, "tts_slots_busy") == 0 and sample(app, "tts_streams_active", door="openai") == 0
        )
        assert threading.active_count() <= threads + 2
        async with wire(port) as raw:
            await raw.post(ask(input="Still here.", stream=False))
            status, headers = await raw.head()
            assert status == 200
            await raw.reader.readexactly(int(headers["content-length"]))
    ended = sum(
        sample(app, "tts_utterances_total", door="openai", outcome=outcome)
        for outcome in ("ok", "client_gone", "cancelled", "shed", "error")
    )
    assert ended == 162


async def test_leaving_while_waiting_for_a_turn(build, predictor, running, wire, until):
    app = build(warm_capacity=1)
    predictor.hold_at = 0
    admission = app.state.services.admission
    async with running(app) as port, wire(port) as first, wire(port) as second:
        await first.post(ask())
        await until(lambda: predictor.active == 1)
        await second.post(ask())
        await until(lambda: admission.waiting == 1)
        second.leave()
        await until(lambda: admission.waiting == 0)
        assert admission.running == 1
        first.leave()
        await until(lambda: admission.running == 0 and predictor.active == 0)


async def test_leaving_in_the_midst_of_a_request_body(app, predictor, running, wire, until, caplog):
    async with running(app) as port, wire(port) as raw:
        raw.writer.write(b"POST /v1/audio/speech HTTP/1.1\r\nHost: d\r\nContent-Length: 500\r\n\r\n{")
        await raw.writer.drain()
        raw.leave()
    assert predictor.jobs == []
    assert "Traceback" not in caplog.text


async def test_vllm_omni_1635_sound_leaves_while_later_sentences_are_made(app, predictor, running, wire, until):
    predictor.hold_at = 1
    predictor.chunk_ms = 3_000.0
    async with running(app) as port, wire(port) as raw:
        await raw.post(ask())
        assert (await raw.head())[0] == 200
        first = await raw.reader.readexactly(40_000)
        assert len(first) == 40_000
        assert predictor.active == 1
        predictor.gate.set()
        rest = await raw.reader.readuntil(b"0\r\n\r\n")
        assert len(rest) > 40_000


async def test_a_failure_in_the_midst_of_plain_audio_breaks_the_connection(
    app, predictor, running, wire, until, sample, caplog
):
    predictor.fail_at, predictor.chunk_ms = 2, 1_000.0
    async with running(app) as port, wire(port) as raw:
        await raw.post(ask())
        assert (await raw.head())[0] == 200
        rest = await raw.reader.read()
        assert rest
        assert not rest.endswith(b"0\r\n\r\n")
        await until(lambda: sample(app, "tts_errors_total", door="openai", code="internal_error") == 1)
    assert "river" not in caplog.text


async def test_a_reader_that_stalls_is_let_go(build, predictor, running, wire, until, sample):
    app = build(stall_timeout_s=0.05)
    predictor.chunks, predictor.chunk_ms = 200, 1_000.0
    async with running(app) as port, wire(port) as raw:
        await raw.post(ask(sample_rate=48_000))
        assert (await raw.head())[0] == 200
        raw.writer.transport.pause_reading()
        await settled(app, predictor, until)
        await until(lambda: sample(app, "tts_utterances_total", door="openai", outcome="client_gone") == 1)


async def test_a_request_too_many_is_told_to_come_back(build, predictor, running, wire, until, sample):
    app = build(warm_capacity=1, queue_limit=1, queue_timeout_s=7)
    predictor.hold_at = 0
    async with running(app) as port, wire(port) as first, wire(port) as second, wire(port) as third:
        await first.post(ask())
        await until(lambda: predictor.active == 1)
        await second.post(ask())
        await until(lambda: app.state.services.admission.waiting == 1)
        await third.post(ask())
        status, headers = await third.head()
        assert (status, headers["retry-after"]) == (503, "7")
        body = json.loads(await third.reader.readexactly(int(headers["content-length"])))
        assert body["error"]["code"] == "busy"
        assert sample(app, "tts_utterances_total", door="openai", outcome="shed") == 1
        predictor.gate.set()
        assert (await first.head())[0] == 200
        await first.reader.readuntil(b"0\r\n\r\n")
        assert (await second.head())[0] == 200
        await second.reader.readuntil(b"0\r\n\r\n")
    assert sample(app, "tts_utterances_total", door="openai", outcome="ok") == 2


async def test_one_connection_serves_one_request_after_the_other(app, running, wire):
    async with running(app) as port, wire(port) as raw:
        for fields in ({"stream": False}, {"input": ""}, {"stream": False}):
            await raw.post(ask(**fields))
            status, headers = await raw.head()
            await raw.reader.readexactly(int(headers["content-length"]))
            assert status == (400 if fields.get("input") == "" else 200)


async def test_leaving_with_the_request_half_sent_is_counted_once(app, running, wire, until, sample):
    async with running(app) as port, wire(port) as raw:
        raw.writer.write(
            b"POST /v1/audio/speech HTTP/1.1\r\nHost: d\r\nContent-Length: 400\r\n\r\n" + b'{"input": "Half'
        )
        await raw.writer.drain()
        await asyncio.sleep(0.05)
        raw.leave()
        await until(lambda: sample(app, "tts_utterances_total", door="openai", outcome="client_gone") == 1)
    assert sample(app, "tts_utterances_total", door="openai", outcome="error") == 0
