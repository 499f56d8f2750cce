"""`vivavoce adapter` as its own process, from its start to its orderly end."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys

import httpx
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals")]


@pytest.fixture
async def process(engine):
    """The running adapter; nothing of this process's environment sets it up."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VIVAVOCE_")}
    for name in ("PORT", "ENGINE_URL", "TIER", "NODE_NAME"):
        environment.pop(name, None)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "vivavoce", "adapter", "--port", "0"),
        *("--engine-url", f"http://127.0.0.1:{engine.port}"),
        stderr=asyncio.subprocess.PIPE,
        env={**environment, "MODEL_NAME": "omnivoice", "STREAMS_PER_GPU": "3", "VIVAVOCE_PROBE_INTERVAL_S": "0.1"},
    )
    yield process
    if process.returncode is None:
        process.kill()
        await process.wait()


async def address_of(process: asyncio.subprocess.Process) -> str:
    async with asyncio.timeout(60):
        while line := (await process.stderr.readline()).decode():
            if found := re.search(r"speaks at (http://localhost:\d+)", line):
                return found[1]
    raise AssertionError("it ended before it spoke")


async def test_it_speaks_with_its_engine_and_ends_when_told(process, engine, until):
    address = await address_of(process)
    async with httpx.AsyncClient(base_url=address, timeout=20) as client:
        ready = await client.get("/v2/health/ready")
        assert (ready.status_code, ready.headers["x-slots"]) == (200, "3")
        body = {"text_input": "From one process to another.", "parameters": {"normalized": True}}
        reply = await client.post("/v2/models/omnivoice/generate", json=body)
        assert reply.status_code == 200
        assert len(reply.json()["audio"]) > 10_000
        assert "tts_utterances_total" in (await client.get("/metrics")).text
        engine.gate.clear()
        body["text_input"] = "And one last word before it ends."
        last = asyncio.create_task(client.post("/v2/models/omnivoice/generate", json=body))
        await until(lambda: engine.active == 1)
        process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.1)
        engine.gate.set()
        finished = await last
        assert finished.status_code == 200
        assert len(finished.json()["audio"]) > 10_000
    async with asyncio.timeout(30):
        assert await process.wait() == 0
