"""Slots of the V2 door: refused at once when taken, free as soon as the sound is made or its client is gone."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from vivavoce.errors import Busy
from vivavoce.predictors.base import Job
from vivavoce.predictors.v2_stream import decode_event

INFER, GENERATE, STREAM = (f"/v2/models/tts/{call}" for call in ("infer", "generate", "generate_stream"))
LONG = "The ferry leaves the northern pier at noon and comes back with the evening tide."


def asking(path: str, text: str = LONG, **parameters) -> dict:
    if path == INFER:
        tensor = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [text]}
        return {"inputs": [tensor], "parameters": parameters}
    return {"text_input": text, "parameters": parameters}


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("path", [INFER, GENERATE, STREAM])
async def test_faster_qwen3_tts_130_leaving_before_the_first_sound_stops_the_work(
    app, predictor, running, wire, until, sample, path, normalized
):
    predictor.hold_at = 0
    async with running(app) as port, wire(port) as raw:
        await raw.post(asking(path, normalized=normalized), path=path)
        await until(lambda: predictor.active == 1)
        assert app.state.v2.gate.busy == 1
        raw.leave()
        await until(lambda: predictor.active == 0 and app.state.v2.gate.busy == 0)
        await until(lambda: sample(app, "tts_utterances_total", door="v2", outcome="client_gone") == 1)
    assert len(predictor.jobs) == 1
    assert predictor.closed == 1


@pytest.mark.parametrize("normalized", [True, False])
async def test_faster_qwen3_tts_130_leaving_in_the_midst_stops_the_work(
    app, predictor, running, wire, until, sample, normalized
):
    predictor.hold_at, predictor.chunk_ms = 2, 400.0
    async with running(app) as port, wire(port) as raw:
        await raw.post(asking(STREAM, normalized=normalized), path=STREAM)
        assert (await raw.head())[0] == 200
        raw.leave()
        await until(lambda: predictor.active == 0 and app.state.v2.gate.busy == 0)
        await until(lambda: sample(app, "tts_utterances_total", door="v2", outcome="client_gone") == 1)


async def test_an_embedded_engine_stops_within_a_step_and_the_next_is_served(build, engine, running, wire, until):
    app = build(embedded=True, slots=1)
    async with running(app) as port:
        await until(lambda: engine.running == 0)
        engine.steps, engine.step_s = 1_000, 0.002
        warm = engine.steps_done
        async with wire(port) as raw:
            await raw.post(asking(INFER, normalized=True), path=INFER)
            await until(lambda: engine.steps_done > warm + 3)
            raw.leave()
            await until(lambda: app.state.v2.gate.busy == 0)
        assert engine.running == 0
        done = engine.steps_done
        engine.steps = 2
        async with wire(port) as raw:
            await raw.post(asking(INFER, "Next, please.", normalized=True), path=INFER)
            assert (await raw.head())[0] == 200
        assert engine.steps_done == done + 2


@pytest.mark.parametrize("path", [INFER, GENERATE, STREAM])
async def test_xtts_streaming_server_20_one_over_the_slots_is_refused_without_waiting(
    app, predictor, running, wire, until, sample, path
):
    predictor.hold_at = 0
    async with running(app) as port, wire(port) as first, wire(port) as second, wire(port) as third:
        for raw in (first, second):
            await raw.post(asking(STREAM), path=STREAM)
        await until(lambda: predictor.active == 2)
        await third.post(asking(path), path=path)
        status, headers = await third.head()
        assert (status, headers["retry-after"]) == (503, "1")
        assert json.loads(await third.reader.read(int(headers["content-length"])))["error"].startswith("All 2 slots")
        assert predictor.active == 2
        assert sample(app, "tts_utterances_total", door="v2", outcome="shed") == 1
        predictor.gate.set()
        assert (await first.head())[0] == (await second.head())[0] == 200
    assert app.state.v2.gate.busy == 0


async def test_a_reader_that_is_slow_holds_no_slot_once_its_phrase_is_made(app, predictor, running, wire, until):
    predictor.chunks, predictor.chunk_ms = 40, 1_000.0
    async with running(app) as port, wire(port) as raw:
        raw.reader._limit = 1_024
        await raw.post(asking(STREAM, normalized=True), path=STREAM)
        await until(lambda: predictor.closed == 1 and app.state.v2.gate.busy == 0)
        assert (await raw.head())[0] == 200
        raw.reader._limit = 2**26
        received = 0
        while not (event := decode_event(await next_event(raw))).final:
            received += len(event.pcm)
        assert received == 40 * 48_000


async def next_event(raw) -> bytes:
    """The data of the next event of a chunked body."""
    size = int(await raw.reader.readuntil(b"\r\n"), 16)
    body = await raw.reader.readexactly(size + 2)
    return body[6:-4]


async def test_the_slot_is_free_before_the_last_event_leaves(app, predictor, running, until):
    predictor.slots = 1
    async with running(app) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        for _ in range(20):
            reply = await client.post(STREAM, json=asking(STREAM, normalized=True))
            assert reply.status_code == 200
        for _ in range(20):
            assert (await client.post(INFER, json=asking(INFER, normalized=True))).status_code == 200


async def test_hundreds_of_immediate_departures_leave_the_gate_at_zero(app, predictor, running, wire, until, sample):
    predictor.slots = 2_000
    predictor.hold_at = 0

    async def visit(port: int, path: str, count: int) -> None:
        for number in range(count):
            async with wire(port) as raw:
                await raw.post(asking(path, normalized=True), path=path)
                if number % 10 == 0:
                    await until(lambda: predictor.active > 0)
                raw.leave()

    async with running(app) as port:
        await asyncio.gather(*(visit(port, path, 60) for path in (INFER, GENERATE, STREAM) for _ in range(2)))
        await until(lambda: app.state.v2.gate.busy == 0 and predictor.active == 0)
    assert app.state.v2.gate.busy == predictor.active == sample(app, "tts_streams_active", door="v2") == 0
    assert len(predictor.jobs) > 6
    assert predictor.closed == len(predictor.jobs)


async def test_a_body_that_is_still_coming_holds_no_slot(app, running, wire, until):
    async with running(app) as port, wire(port) as raw, httpx.AsyncClient() as client:
        raw.writer.write(f"POST {INFER} HTTP/1.1\r\nHost: door\r\nContent-Length: 500\r\n\r\n{{".encode())
        await raw.writer.drain()
        reply = await client.post(f"http://127.0.0.1:{port}{INFER}", json=asking(INFER))
        assert reply.status_code == 200
        assert app.state.v2.gate.busy == 0


async def test_kserve_1663_nothing_is_sent_twice_when_the_work_fails(app, predictor, connect):
    app.state.services.has_spoken()
    predictor.fail_at = 0
    async with connect(app) as client:
        for path in (INFER, GENERATE, STREAM):
            predictor.jobs.clear()
            assert (await client.post(path, json=asking(path, normalized=True))).status_code == 500
            assert len(predictor.jobs) == 1


async def test_a_predictor_that_is_full_itself_is_a_refusal(app, predictor, connect, sample):
    app.state.services.has_spoken()
    predictor.fail_at, predictor.fail_with = 0, Busy("All engines are taken.", retry_after_s=3, reason="full")
    async with connect(app) as client:
        for path in (INFER, STREAM):
            reply = await client.post(path, json=asking(path, normalized=True))
            assert (reply.status_code, reply.headers["retry-after"]) == (503, "3")
    assert sample(app, "tts_utterances_total", door="v2", outcome="shed") == 2
    assert all(isinstance(job, Job) for job in predictor.jobs)


async def test_a_spot_notice_lets_a_running_phrase_finish_and_sends_new_ones_elsewhere(
    app, predictor, running, wire, until
):
    """Case 119: a predictor that is told to leave keeps what it has begun; whoever sent it can go on elsewhere."""
    predictor.hold_at = 1
    async with (
        running(app) as port,
        wire(port) as raw,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        await raw.post(asking(STREAM, normalized=True), path=STREAM)
        assert (await raw.head())[0] == 200
        await until(lambda: predictor.active == 1)
        app.state.services.refuse_new_work()
        for path in ("/v2/health/ready", "/v2/models/tts/ready"):
            assert (await client.get(path)).status_code == 503
        assert (await client.get("/v2/health/live")).status_code == 200
        for path in (INFER, GENERATE, STREAM):
            refused = await client.post(path, json=asking(path, normalized=True))
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert refused.json() == {"error": "The server is shutting down."}
        predictor.gate.set()
        received = 0
        while not (event := decode_event(await next_event(raw))).final:
            received += len(event.pcm)
        assert received == 3 * 9_600
    assert len(predictor.jobs) == 1
