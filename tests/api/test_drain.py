"""How a server stops: not ready, refusing, finishing, gone. Public case 117: livekit#3413, agents-js#275."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket

import httpx
import pytest

from vivavoce.api.server import _DrainingServer
from vivavoce.config import Settings

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")


@pytest.fixture
def serving(build, until):
    """`async with serving(**settings) as s`: a server as `vivavoce serve` runs it; `s.tell()` is a SIGTERM."""

    @contextlib.asynccontextmanager
    async def make(*, admin: bool = False, **settings):
        chosen = {"default_voice": "mira", "cache_mb": 0, **settings}
        app = build(**chosen)
        with contextlib.ExitStack() as stack:
            public, operator = (stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2))
            server = _DrainingServer(app, Settings(**chosen), operator if admin else None)
            task = asyncio.create_task(server.serve(sockets=[public]))
            await until(lambda: server.started and app.state.services.spoken)
            running = Running(app, server, task, public.getsockname()[1], operator.getsockname()[1])
            try:
                yield running
            finally:
                running.tell()
                running.tell()
                await asyncio.wait([task])

    return make


class Running:
    def __init__(self, app, server, task, port, admin_port):
        self.app, self.server, self.task = app, server, task
        self.port, self.admin_port = port, admin_port

    def tell(self, sig=signal.SIGTERM):
        self.server.handle_exit(sig, None)

    async def get(self, path, port=None):
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port or self.port}") as client:
            return await client.get(path)

    async def status(self):
        return (await self.get("/ready")).json()["status"]


async def test_livekit_3413_told_to_stop_it_refuses_new_work_and_lets_what_runs_finish(
    serving, predictor, wire, until, sample
):
    predictor.hold_at = 1
    async with serving(grace_s=20) as server, wire(server.port) as raw:
        await raw.post({"input": "Nobody cuts me off before my last word.", "response_format": "pcm"})
        assert (await raw.head())[0] == 200
        assert await server.status() == "ready"
        server.tell()
        await until(lambda: server.app.state.services.admission.draining)
        assert await server.status() == "draining"
        assert (await server.get("/health")).status_code == 200
        for _ in range(3):
            async with wire(server.port) as late:
                await late.post({"input": "Am I too late?"})
                status, headers = await late.head()
            assert status == 503
            assert int(headers["retry-after"]) >= 1
            assert headers["connection"] == "close"
        assert not server.task.done()
        predictor.gate.set()
        assert (await raw.reader.read()).endswith(b"0\r\n\r\n")
        async with asyncio.timeout(5):
            await server.task
    assert sample(server.app, "tts_utterances_total", door="openai", outcome="ok") == 1
    assert sample(server.app, "tts_utterances_total", door="openai", outcome="shed") == 3
    assert sample(server.app, "tts_streams_active", door="openai") == 0


async def test_at_the_end_of_the_grace_what_still_runs_is_cut_and_counted_once(serving, predictor, wire, sample):
    predictor.hold_at = 1
    async with serving(grace_s=0) as server, wire(server.port) as raw:
        await raw.post({"input": "This one never comes to its end.", "response_format": "pcm"})
        assert (await raw.head())[0] == 200
        server.tell()
        async with asyncio.timeout(5):
            await server.task
        assert not (await raw.reader.read()).endswith(b"0\r\n\r\n")
    assert counted(server.app) == {"cancelled": 1}


async def test_told_twice_it_stops_at_once(serving, predictor, wire, until, caplog):
    predictor.hold_at = 1
    async with serving(grace_s=600) as server, wire(server.port) as raw:
        await raw.post({"input": "Nobody waits for me any more.", "response_format": "pcm"})
        assert (await raw.head())[0] == 200
        server.tell()
        await until(lambda: server.app.state.services.admission.draining)
        assert not server.task.done()
        server.tell()
        async with asyncio.timeout(5):
            await server.task
    assert counted(server.app) == {"cancelled": 1}
    assert predictor.active == 0
    assert not [record for record in caplog.records if record.exc_info]
    assert "Traceback" not in caplog.text


async def test_an_idle_server_has_nothing_to_wait_for(serving):
    async with serving(grace_s=600) as server:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client:
            assert (await client.get("/ready")).status_code == 200
            server.tell()
            async with asyncio.timeout(5):
                await server.task
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", server.port)


async def test_whoever_follows_the_numbers_hears_of_the_drain_and_keeps_nobody_waiting(serving, wire):
    async with serving(grace_s=600) as server, wire(server.port) as raw:
        raw.writer.write(b"GET /stats/stream HTTP/1.1\r\nHost: door\r\n\r\n")
        assert (await raw.head())[1]["content-type"].startswith("text/event-stream")
        server.tell()
        async with asyncio.timeout(5):
            await server.task
        assert (await raw.reader.read()).endswith(b"0\r\n\r\n")


async def test_the_operators_port_lives_as_long_as_the_public_one(serving, predictor, wire, until):
    predictor.hold_at = 1
    async with serving(admin=True, admin_port=1, grace_s=20) as server, wire(server.port) as raw:
        for path in ("/metrics", "/stats", "/stats/stream"):
            assert (await server.get(path)).status_code == 404
        assert "tts_streams_active" in (await server.get("/metrics", server.admin_port)).text
        assert (await server.get("/v1/models", server.admin_port)).status_code == 404
        await raw.post({"input": "Watch me while I finish.", "response_format": "pcm"})
        assert (await raw.head())[0] == 200
        server.tell()
        await until(lambda: server.app.state.services.admission.draining)
        numbers = (await server.get("/stats", server.admin_port)).json()
        assert (numbers["status"], numbers["streams"]) == ("draining", 1)
        assert (await server.get("/ready", server.admin_port)).status_code == 503
        predictor.gate.set()
        async with asyncio.timeout(5):
            await server.task
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", server.admin_port)


async def test_a_connection_that_nobody_speaks_to_is_sent_elsewhere_at_once(serving, predictor, talk):
    predictor.hold_at = 1
    async with serving(grace_s=600) as server, talk(server.port) as idle, talk(server.port) as busy:
        await busy.ask("I am not finished yet.")
        await busy.until("audio")
        server.tell()
        gone = await idle.until("going_away")
        assert gone["resume"] == []
        assert gone["retry_after_ms"] > 0
        assert await idle.closed() == 1012
        assert not server.task.done()
        async with talk(server.port) as late:
            assert (await late.until("going_away"))["resume"] == []
            assert await late.closed() == 1012
        predictor.gate.set()
        assert (await busy.until("done"))["outcome"] == "ok"
        assert (await busy.until("going_away"))["resume"] == []
        assert await busy.closed() == 1012
        async with asyncio.timeout(5):
            await server.task
    assert counted(server.app) == {"ok": 1}


async def test_what_is_not_finished_in_time_goes_on_elsewhere_with_its_token(serving, predictor, talk, caplog):
    predictor.hold_at = 1
    async with serving(grace_s=0) as server, talk(server.port) as client:
        await client.ask("This sentence is finished by another server.", request_id="r-7")
        token = (await client.until("start"))["resume_token"]
        await client.until("audio")
        server.tell()
        gone = await client.until("going_away")
        assert [told["request_id"] for told in gone["resume"]] == ["r-7"]
        assert gone["resume"][0]["token"] == token
        assert await client.closed() == 1012
        async with asyncio.timeout(5):
            await server.task
    assert sum(counted(server.app).values()) == 1
    assert "error" not in counted(server.app)
    assert predictor.active == 0
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_told_twice_nobody_is_waited_for_but_everybody_hears_where_to_go_on(serving, predictor, talk, until):
    predictor.hold_at = 1
    async with serving(grace_s=600) as server, talk(server.port) as client:
        await client.ask("Not even I am waited for.")
        start = await client.until("start")
        await client.until("audio")
        server.tell()
        await until(lambda: server.app.state.services.admission.draining)
        server.tell()
        going = await client.until("going_away")
        async with asyncio.timeout(5):
            await server.task
        assert await client.closed() == 1012
    assert [entry["request_id"] for entry in going["resume"]] == [start["request_id"]]
    assert counted(server.app) == {"cancelled": 1}
    assert predictor.active == 0


async def test_who_waits_for_a_turn_is_sent_elsewhere_when_it_drains(serving, predictor, talk):
    predictor.hold_at = 1
    async with serving(grace_s=600, warm_capacity=1) as server, talk(server.port) as first, talk(server.port) as second:
        await first.ask("I came first.")
        await first.until("audio")
        await second.ask("I wait behind.")
        await second.until("queued")
        server.tell()
        assert (await second.until("busy"))["reason"] == "draining"
        assert (await second.until("done"))["outcome"] == "shed"
        assert await second.closed() == 1012
        predictor.gate.set()
        assert (await first.until("done"))["outcome"] == "ok"
        async with asyncio.timeout(5):
            await server.task
    assert counted(server.app) == {"ok": 1, "shed": 1}


def counted(app):
    """Utterances by outcome."""
    family = next(f for f in app.state.services.metrics.registry.collect() if f.name == "tts_utterances")
    return {s.labels["outcome"]: s.value for s in family.samples if s.name.endswith("_total") and s.value}
