"""The V2 door of an adapter, over real sockets, with a foreign engine behind it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Iterator

import httpx
import numpy as np
import pytest
import uvicorn

from vivavoce.api import create_app
from vivavoce.api.server import uvicorn_config
from vivavoce.config import Settings
from vivavoce.predictors.v2_wire import HEADER_LENGTH, InferRequest, InferResponse, Tensor

INFER, STREAM = "/v2/models/omnivoice/infer", "/v2/models/omnivoice/generate_stream"


class QuietServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@pytest.fixture
def app(engine):
    return create_app(
        Settings(
            engine_url=f"http://127.0.0.1:{engine.port}",
            model_name="omnivoice",
            slots=2,
            tier="floor",
            node_name="gpu-1",
            probe_interval_s=0.02,
            connect_timeout_s=0.5,
            request_timeout_s=5,
            grace_s=2,
        ),
        "adapter",
    )


@pytest.fixture
async def door(app) -> AsyncIterator[httpx.AsyncClient]:
    server = QuietServer(uvicorn_config(app, app.state.services.settings))
    app.state.services.source.elsewhere._away_interval_s = 0.02
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with httpx.AsyncClient(base_url=address, timeout=20) as client:
            yield client
        server.should_exit = True
        await serving


async def settles(door: httpx.AsyncClient, status: int) -> None:
    async with asyncio.timeout(10):
        while True:
            with contextlib.suppress(httpx.ConnectError):
                if (await door.get("/v2/health/ready")).status_code == status:
                    return
            await asyncio.sleep(0.005)


def asking(text: str, **parameters) -> dict:
    tensor = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [text]}
    return {"inputs": [tensor], "parameters": parameters}


async def test_ready_once_the_engine_has_really_spoken_and_through_its_death(door, engine, app):
    engine.speaks = False
    await settles(door, 503)
    refused = await door.post(INFER, json=asking("Too early."))
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert engine.texts == []
    engine.speaks = True
    await settles(door, 200)
    assert (await door.post(INFER, json=asking("Good morning.", normalized=True))).status_code == 200
    await engine.die()
    await settles(door, 503)
    assert (await door.get("/v2/health/live")).status_code == 200
    assert (await door.post(INFER, json=asking("Nobody is there."))).status_code == 503
    await engine.start()
    await settles(door, 200)
    assert (await door.post(INFER, json=asking("Good evening.", normalized=True))).status_code == 200


async def test_what_a_pool_is_told(door):
    await settles(door, 200)
    headers = (await door.get("/v2/health/ready")).headers
    assert [headers[f"x-{name}"] for name in ("slots", "tier", "node")] == ["2", "floor", "gpu-1"]
    about = (await door.get("/v2/models/omnivoice")).json()["vivavoce"]
    assert ([voice["name"] for voice in about["voices"]], about["design"]) == (["hanna"], True)
    reply = await door.post(INFER, json=asking("Who are you?", normalized=True))
    assert reply.headers["x-model"] == "k2-fsa/OmniVoice"


async def test_the_engines_sound_arrives_untouched_in_json_in_binary_and_in_events(door, engine):
    await settles(door, 200)
    text = "An echo of the valley"
    whole = (await door.post(INFER, json=asking(text, normalized=True))).content
    samples = InferResponse.decode(whole).output("audio").numbers()
    assert len(samples) == len(text) * 1_200
    request = InferRequest(
        (Tensor.of_texts("text", text),), parameters={"normalized": True, "binary_data_output": True}
    ).encode()
    reply = await door.post(INFER, content=request.content, headers=request.headers)
    binary = InferResponse.decode(reply.content, reply.headers[HEADER_LENGTH]).output("audio").numbers()
    assert np.array_equal(samples, binary)
    body = {"text_input": text, "normalized": True}
    events = [json.loads(line[6:]) for line in (await door.post(STREAM, json=body)).text.split("\n\n") if line]
    assert b"".join(base64.b64decode(event["audio"]) for event in events) == samples.tobytes()
    assert [event["final"] for event in events][-1] is True


async def test_a_design_and_a_language_reach_the_engine(door, engine):
    await settles(door, 200)
    parameters = {"instruct": "Female, british accent", "language": "en-GB"}
    assert (await door.post(INFER, json=asking("One lump or two?", **parameters))).status_code == 200
    asked = engine.asked[-1]
    assert asked["instructions"] == "female, british accent"
    assert "voice" not in asked
    assert (await door.post(INFER, json=asking("Yes.", instruct="purple"))).status_code == 400


async def test_an_unknown_voice_is_the_callers_fault(door, engine):
    await settles(door, 200)
    for normalized in (True, False):
        reply = await door.post(INFER, json=asking("Yes.", voice="nobody", normalized=normalized))
        assert reply.status_code == 400
        assert isinstance(reply.json()["error"], str)
    assert (await door.post(INFER, json=asking("Yes.", voice="hanna"))).status_code == 200


async def test_xtts_streaming_server_20_the_engine_never_has_more_than_its_slots(door, engine, until):
    await settles(door, 200)
    engine.gate.clear()
    running = [asyncio.create_task(door.post(INFER, json=asking(f"Number {n}.", normalized=True))) for n in range(2)]
    await until(lambda: engine.active == 2)
    for _ in range(20):
        refused = await door.post(STREAM, json={"text_input": "One more."})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert engine.texts == ["Number 0.", "Number 1."] or engine.texts == ["Number 1.", "Number 0."]
    assert (await door.get("/v2/health/ready")).status_code == 200
    engine.gate.set()
    assert [(await reply).status_code for reply in running] == [200, 200]


@pytest.mark.parametrize("path", [INFER, STREAM])
async def test_faster_qwen3_tts_130_a_caller_that_leaves_ends_the_engines_request(door, engine, app, until, path):
    await settles(door, 200)
    engine.gate.clear()
    body = {**asking("A tale without an end.", normalized=True), "text_input": "A tale without an end."}
    leaving = asyncio.create_task(door.post(path, json=body))
    await until(lambda: engine.active == 1)
    leaving.cancel()
    await until(lambda: engine.active == 0 and app.state.v2.gate.busy == 0)
    assert engine.aborted == 1
    engine.gate.set()
    assert (await door.post(path, json=body)).status_code == 200


@pytest.mark.parametrize("fault", ["speaks", "cut"])
async def test_kserve_1663_a_text_is_sent_once_whatever_becomes_of_it(door, engine, fault):
    await settles(door, 200)
    setattr(engine, fault, fault == "cut")
    reply = await door.post(INFER, json=asking("Only once.", normalized=True))
    assert reply.status_code == 502
    assert engine.texts == ["Only once."]


async def test_an_engine_that_is_full_is_passed_on_as_a_refusal(door, engine):
    await settles(door, 200)
    engine.full = True
    reply = await door.post(INFER, json=asking("Is there room?", normalized=True))
    assert reply.status_code == 503
    assert "retry-after" in reply.headers


async def test_an_engine_that_dies_in_mid_request_is_an_error_and_it_comes_back(door, engine, until):
    await settles(door, 200)
    engine.gate.clear()
    asked = asyncio.create_task(door.post(INFER, json=asking("Are you still there?", normalized=True)))
    await until(lambda: engine.active == 1)
    await engine.die()
    assert (await asked).status_code == 502
    await settles(door, 503)
    engine.gate.set()
    await engine.start()
    await settles(door, 200)
    assert engine.texts == ["Are you still there?"]


async def test_a_long_text_is_cut_into_phrases_for_the_engine(door, engine):
    await settles(door, 200)
    text = (
        "The train to Vienna leaves platform four at 9:05. Dr. Weber and both of her sisters are on it. "
        "Nobody else in the village has ever been further than the next valley."
    )
    assert (await door.post(INFER, json=asking(text))).status_code == 200
    assert engine.texts[0] == "The train to Vienna leaves platform four at nine oh five."
    assert engine.texts[1].startswith("Doctor Weber and both")
    assert len(engine.texts) == 3
