"""/stats, its stream, and who may see them."""

from __future__ import annotations

import asyncio
import json
import time

import pytest


async def events(reader):
    """The JSON of each event as it arrives over a chunked body."""
    body = b""
    while True:
        size = int((await reader.readline()).strip() or b"0", 16)
        if not size:
            return
        body += await reader.readexactly(size)
        await reader.readline()
        while b"\n\n" in body:
            event, _, body = body.partition(b"\n\n")
            kind, data = event.decode().split("\n", 1)
            assert kind == "event: stats"
            yield json.loads(data.removeprefix("data: "))


async def test_the_numbers_add_up(app, client, sample):
    await app.state.services.warm_up()
    for text in ("The first of three.", "The second of them.", "And the last."):
        response = await client.post("/v1/audio/speech", json={"input": text, "response_format": "pcm"})
        assert response.status_code == 200
    await client.post("/v1/audio/speech", json={"input": " "})
    numbers = (await client.get("/stats")).json()
    assert numbers["status"] == "ready"
    assert numbers["outcomes"] == {"ok": 3, "cancelled": 0, "client_gone": 0, "shed": 0, "error": 1}
    assert numbers["outcomes_total"] == numbers["outcomes"]
    for outcome, count in numbers["outcomes_total"].items():
        assert sample(app, "tts_utterances_total", door="openai", outcome=outcome) == count
    assert 0 <= numbers["ttfa_ms"]["p50"] <= numbers["ttfa_ms"]["p95"]
    assert numbers["perceived_ttfa_ms"]["p50"] >= numbers["ttfa_ms"]["p50"]
    assert 0 <= numbers["rtf"]["p50"] <= numbers["rtf"]["p95"]
    assert (numbers["streams"], numbers["queue"], numbers["backlog"], numbers["slots_busy"]) == (0, 0, 0, 0)
    assert numbers["slots"] == 2
    assert numbers["capacity"] == sum(numbers["capacity_by_tier"].values()) > 0


async def test_nothing_spoken_is_null_not_zero(client):
    numbers = (await client.get("/stats")).json()
    assert numbers["status"] == "starting"
    assert numbers["ttfa_ms"] == numbers["rtf"] == {"p50": None, "p95": None}
    assert numbers["busy_total"] == 0
    assert numbers["history"] == []


async def test_what_is_spoken_and_what_waits_is_seen_while_it_happens(build, predictor, running, wire, connect, until):
    predictor.hold_at = 1
    app = build(warm_capacity=1)
    async with running(app) as port, connect(app) as client, wire(port) as first, wire(port) as second:
        await first.post({"input": "I am being spoken.", "response_format": "pcm"})
        assert (await first.head())[0] == 200
        await second.post({"input": "And I am waiting.", "response_format": "pcm"})
        await until(lambda: app.state.services.admission.waiting)
        numbers = (await client.get("/stats")).json()
        assert (numbers["streams"], numbers["queue"], numbers["slots_busy"]) == (1, 1, 1)
        assert (numbers["capacity"], numbers["backlog"]) == (1, 1)
        predictor.gate.set()
        await first.reader.read(1)
        assert (await second.head())[0] == 200


async def test_refusals_are_counted(app, client, predictor):
    predictor.seats = app.state.services.admission.queue_limit = 0
    for _ in range(3):
        assert (await client.post("/v1/audio/speech", json={"input": "No room."})).status_code == 503
    numbers = (await client.get("/stats")).json()
    assert (numbers["busy_total"], numbers["outcomes"]["shed"]) == (3, 3)
    assert sum(numbers["busy_by_reason"].values()) == 3


async def test_the_stream_follows(app, running, wire):
    app.state.services.stats.every_s = 0.01
    async with running(app) as port, wire(port) as raw, wire(port) as speaking:
        raw.writer.write(b"GET /stats/stream HTTP/1.1\r\nHost: door\r\n\r\n")
        status, headers = await raw.head()
        assert (status, headers["content-type"], headers["cache-control"]) == (
            *(200, "text/event-stream; charset=utf-8", "no-store"),
        )
        seen = events(raw.reader)
        assert (await anext(seen))["outcomes"]["ok"] == 0
        await speaking.post({"input": "Count me live.", "response_format": "pcm"})
        async with asyncio.timeout(5):
            async for numbers in seen:
                if numbers["outcomes"]["ok"] == 1:
                    break
        assert app.state.services.stats.listeners == 1


async def test_the_stream_tells_the_whole_history_once_and_then_each_point_as_it_comes(app, running, wire):
    stats = app.state.services.stats
    stats.every_s = 0.001

    def note(streams):
        stats._history.append({"streams": streams})
        stats.noted += 1

    async def follow(raw):
        raw.writer.write(b"GET /stats/stream HTTP/1.1\r\nHost: door\r\n\r\n")
        assert (await raw.head())[0] == 200
        return events(raw.reader)

    async def noted(seen):
        """The next points that we noted; the server's own have no streams."""
        async with asyncio.timeout(5):
            async for numbers in seen:
                assert numbers["window_s"] == 60
                if ours := [point["streams"] for point in numbers["history"] if point["streams"]]:
                    return ours

    async with running(app) as port, wire(port) as one, wire(port) as again:
        for streams in range(1, 101):  # more than the window holds
            note(streams)
        seen = await follow(one)
        assert await noted(seen) in [list(range(first, 101)) for first in range(41, 46)]
        note(1_000)
        assert await noted(seen) == [1_000]
        note(1_001)
        note(1_002)
        assert await noted(seen) == [1_001, 1_002]
        one.leave()
        whole = await noted(await follow(again))
        assert len(whole) > 50 and whole[-4:] == [100, 1_000, 1_001, 1_002]


async def test_followers_that_leave_are_forgotten_and_too_many_are_refused(app, running, wire, until):
    stats = app.state.services.stats
    stats.listener_limit = 2
    async with running(app) as port:
        async with wire(port) as one, wire(port) as other, wire(port) as third:
            for raw in (one, other):
                raw.writer.write(b"GET /stats/stream HTTP/1.1\r\nHost: door\r\n\r\n")
                assert (await raw.head())[0] == 200
            third.writer.write(b"GET /stats/stream HTTP/1.1\r\nHost: door\r\n\r\n")
            status, headers = await third.head()
            assert (status, headers["retry-after"]) == (503, "30")
            one.leave()
            await until(lambda: stats.listeners == 1)
        await until(lambda: stats.listeners == 0)


async def test_history_has_a_point_a_second_and_never_more_than_the_window(app, monkeypatch, until):
    from vivavoce import stats as module
    from vivavoce.clock import MonotonicClock
    from vivavoce.metrics import Metrics

    monkeypatch.setattr(module, "_TICK_S", 0.0)

    class Racing(MonotonicClock):
        ms = 0.0

        def now_ms(self):
            self.ms += 200.0
            return self.ms

    stats = module.Stats(Metrics(), Racing(), window_s=10, now_s=lambda: 1_700_000_000.04)
    watching = asyncio.create_task(stats.run())
    await until(lambda: len(stats.now()["history"]) == 10)
    for _ in range(200):
        await asyncio.sleep(0)
    watching.cancel()
    history = stats.now()["history"]
    assert len(history) == 10
    assert set(history[0]) >= {"time_s", "ttfa_p50_ms", "ttfa_p95_ms", "rtf_p50", "streams", "queue", "capacity"}
    assert history[0]["time_s"] == 1_700_000_000.0


def hold_up(seconds):
    """What a model that runs in the event loop does."""
    time.sleep(seconds)


async def test_whisper_live_kit_220_a_loop_that_is_held_up_is_seen(app, running, connect, until):
    stats = app.state.services.stats
    async with running(app), connect(app) as client:
        await until(lambda: stats.now()["event_loop_lag_ms"]["p50"] is not None)
        hold_up(0.25)
        await until(lambda: stats.now()["event_loop_lag_ms"]["p99"] > 100)
        lag = [line for line in (await client.get("/metrics")).text.splitlines() if line.startswith("tts_event_loop")]
        assert float(lag[0].split()[1]) > 0.1


@pytest.mark.parametrize("path", ["/metrics", "/stats", "/stats/stream"])
@pytest.mark.parametrize("where", [{"host": "0.0.0.0", "allow_open": True}, {"admin_port": 9_999}])
async def test_numbers_leave_the_public_port_with_loopback(build, connect, path, where):
    async with connect(build(**where)) as client:
        response = await client.get(path)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
        assert (await client.get("/ready")).status_code == 503


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
async def test_on_this_machine_they_are_served_with_everything_else(build, connect, host):
    async with connect(build(host=host)) as client:
        for path in ("/metrics", "/stats"):
            assert (await client.get(path)).status_code == 200


async def test_the_capacity_is_that_of_the_voice_behind_the_default_name(build, connect, predictor):
    app = build(default_voice="MIRA")
    predictor.seats_of = {"mira": 9}
    async with connect(app) as client:
        assert (await client.get("/stats")).json()["capacity"] == 9
