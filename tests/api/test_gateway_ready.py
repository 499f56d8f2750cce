"""A gateway lives without predictors, says that it is not ready, and recovers when they come."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import httpx
import pytest
import uvicorn

from vivavoce.api import create_app
from vivavoce.config import Settings
from vivavoce.engines.catalog import Catalog


class _QuietServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self):
        yield


class Predictor:
    """A `vivavoce engine` with a scripted voice, on a port of its own, that can die and come back."""

    def __init__(self, engine, until):
        self.engine, self.until = engine, until
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.server = self.task = None

    async def live(self):
        app = create_app(Settings(default_voice="mira", cache_mb=0), "engine", catalog=Catalog([self.engine]))
        config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=0)
        self.server = _QuietServer(config)
        listener = socket.create_server(("127.0.0.1", self.port))
        self.task = asyncio.create_task(self.server.serve(sockets=[listener]))
        await self.until(lambda: self.server.started and app.state.services.spoken)

    async def die(self):
        if self.task is not None:
            self.server.should_exit = self.server.force_exit = True
            for connection in list(self.server.server_state.connections):
                connection.transport.abort()
            await self.task
            self.task = None


@pytest.fixture
async def predictors(engine, until):
    made = [Predictor(engine, until) for _ in range(2)]
    yield made
    for predictor in made:
        await predictor.die()


@pytest.fixture
def gateway():
    def make(*predictors):
        urls = [f"http://127.0.0.1:{predictor.port}" for predictor in predictors]
        return create_app(
            Settings(
                predictor_url=",".join(urls),
                probe_interval_s=0.05,
                cache_mb=0,
                queue_timeout_s=0.2,
                default_voice="mira",
            ),
            "gateway",
        )

    return make


@contextlib.asynccontextmanager
async def lifespan(app):
    """The app, living, without a socket."""
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://door") as client:
            yield client


async def becomes(client, status, until_s=10):
    async with asyncio.timeout(until_s):
        while (response := await client.get("/ready")).json()["status"] != status:  # noqa: ASYNC110 - a probe polls
            await asyncio.sleep(0.01)
        return response.status_code


async def test_without_predictors_it_is_alive_and_not_ready_and_refuses_with_a_time_to_come_back(gateway, predictors):
    async with lifespan(gateway(*predictors)) as client:
        assert (await client.get("/health")).json() == {"status": "healthy"}
        assert (await client.get("/ready")).status_code == 503
        assert (await client.get("/ready")).json() == {"status": "no_predictor"}
        response = await client.post("/v1/audio/speech", json={"input": "Is anybody there?"})
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) >= 1
        numbers = (await client.get("/stats")).json()
        assert (numbers["status"], numbers["capacity"], numbers["outcomes"]["shed"]) == ("no_predictor", 0, 1)
        assert {known["state"] for known in numbers["predictors"]} == {"unready"}


async def test_it_recovers_whenever_a_predictor_comes_back(gateway, predictors):
    one, other = predictors
    async with lifespan(gateway(one, other)) as client:
        for _ in range(2):
            await one.live()
            assert await becomes(client, "ready") == 200
            response = await client.post(
                "/v1/audio/speech", json={"input": "Somebody is there.", "response_format": "pcm"}
            )
            assert response.status_code == 200
            assert len(response.content) > 1_000
            await one.die()
            assert await becomes(client, "no_predictor") == 503
            assert (await client.get("/health")).status_code == 200
        await other.live()
        assert await becomes(client, "ready") == 200
        numbers = (await client.get("/stats")).json()
        states = {known["endpoint"]: known["state"] for known in numbers["predictors"]}
        assert states[f"http://127.0.0.1:{one.port}"] == "unready"
        assert states[f"http://127.0.0.1:{other.port}"] in ("ready", "slow_start")
        assert numbers["capacity"] >= 1
        metrics = (await client.get("/metrics")).text
        assert 'tts_predictor_requests_total{result="ok",tier="floor"} 2.0' in metrics
        assert 'tts_predictors{state="unready",tier="floor"} 1.0' in metrics
