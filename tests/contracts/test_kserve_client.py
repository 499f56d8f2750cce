"""KServe's own REST client, unmodified, against a real server."""

from __future__ import annotations

import asyncio
import json
import sys
from unittest import mock

import httpx
import numpy as np
import pytest

# The package reads the command line when it is imported, and leaves where a word of pytest's is not one of its own.
with mock.patch.object(sys, "argv", ["kserve"]):
    kserve = pytest.importorskip("kserve")

from kserve import InferenceRESTClient, InferInput, InferRequest
from kserve.inference_client import RESTConfig
from kserve.protocol.infer_type import RequestedOutput

SENTENCE = "Seven swans are swimming in the river."


@pytest.fixture
def root(base_url) -> str:
    return base_url.removesuffix("/v1")


@pytest.fixture
def headers(key) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@pytest.fixture
async def client():
    client = InferenceRESTClient(RESTConfig(protocol="v2", timeout=30))
    yield client
    await client.close()


def request_of(text: str, *, binary: bool, shape: tuple[int, ...] = (1,), **more) -> InferRequest:
    tensor = InferInput("text", list(shape), "BYTES")
    elements = np.array([text.encode() if binary else text], dtype=np.object_).reshape(shape)
    tensor.set_data_from_numpy(elements, binary_data=binary)
    return InferRequest("tts", [tensor], **more)


def audio_of(response) -> np.ndarray:
    return next(output for output in response.outputs if output.name == "audio").as_numpy()


async def test_health_as_the_client_asks_for_it(client, root, headers):
    assert await client.is_server_live(root, headers=headers)
    assert await client.is_server_ready(root, headers=headers)
    assert await client.is_model_ready(root, "tts", headers=headers)
    assert not await client.is_model_ready(root, "other", headers=headers)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("shape", [(1,), (1, 1)])
async def test_infer_with_text_of_both_shapes(client, root, headers, binary, shape):
    request = request_of(SENTENCE, binary=binary, shape=shape, request_id="k-1", parameters={"voice": "alloy"})
    response = await client.infer(root, request, "tts", headers=dict(headers))
    assert (response.model_name, response.id) == ("tts", "k-1")
    audio = audio_of(response)
    assert audio.dtype == np.int16
    assert 1 < len(audio) / 24_000 < 6
    assert np.abs(audio).max() > 3_000


async def test_outputs_in_binary_when_they_are_asked_for(client, root, headers):
    told: dict[str, str] = {}
    asked = [RequestedOutput("audio", parameters={"binary_data": True}), RequestedOutput("sample_rate")]
    request = request_of(SENTENCE, binary=True, request_outputs=asked)
    response = await client.infer(root, request, "tts", headers=dict(headers), response_headers=told)
    assert told["content-type"] == "application/octet-stream"
    assert [output.name for output in response.outputs] == ["audio", "sample_rate"]
    whole = await client.infer(root, request_of(SENTENCE, binary=False), "tts", headers=dict(headers))
    assert len(audio_of(response)) == len(audio_of(whole))


async def test_all_outputs_in_binary_words_included(client, root, headers):
    request = request_of(SENTENCE, binary=True, parameters={"binary_data_output": True})
    response = await client.infer(root, request, "tts", headers=dict(headers))
    words = next(output for output in response.outputs if output.name == "words").as_numpy()
    spans = json.loads(words.ravel()[0])
    assert [SENTENCE[start:end] for start, end, *_ in spans] == SENTENCE.rstrip(".").split()


async def test_a_plain_dictionary_works_too(client, root, headers):
    tensor = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [SENTENCE]}
    response = await client.infer(root, {"inputs": [tensor]}, "tts", headers=headers)
    assert len(audio_of(response)) > 24_000


@pytest.mark.parametrize(
    ("model", "request_", "status", "says"),
    [
        ("other", request_of("Yes.", binary=False), 404, "Model with name other does not exist."),
        ("tts", request_of("", binary=False), 400, "The text is empty."),
        ("tts", request_of("Yes.", binary=False, parameters={"voice": "nobody"}), 400, "No voice is called 'nobody'"),
        ("tts", InferRequest("tts", [InferInput("text", [1], "INT32", [3])]), 400, "must have datatype BYTES"),
    ],
)
async def test_errors_are_read_by_the_client(client, root, headers, model, request_, status, says):
    with pytest.raises(httpx.HTTPStatusError, match=says) as failed:
        await client.infer(root, request_, model, headers=dict(headers))
    assert failed.value.response.status_code == status


async def test_a_full_server_refuses_at_once_and_says_when_to_come_again(client, root, headers, app):
    door = app.state.v2
    seats = [door.gate.take() for _ in range(door.slots)]
    try:
        with pytest.raises(httpx.HTTPStatusError, match="slots of this predictor are taken") as failed:
            await client.infer(root, request_of("Yes.", binary=False), "tts", headers=dict(headers))
        assert failed.value.response.status_code == 503
        assert failed.value.response.headers["retry-after"] == "1"
        assert await client.is_server_ready(root, headers=headers)
    finally:
        for seat in seats:
            seat.release()
    response = await client.infer(root, request_of("Yes.", binary=False), "tts", headers=dict(headers))
    assert len(audio_of(response)) > 4_800


async def test_several_at_once_are_served_or_told_to_come_again(client, root, headers, app):
    async def ask(text: str) -> int:
        try:
            response = await client.infer(root, request_of(text, binary=True), "tts", headers=dict(headers))
        except httpx.HTTPStatusError as error:
            return error.response.status_code
        assert len(audio_of(response)) > 4_800
        return 200

    answers = await asyncio.gather(*(ask(f"Person number {n} would like to speak.") for n in range(12)))
    assert set(answers) <= {200, 503}
    assert answers.count(200) >= app.state.v2.slots
    assert app.state.v2.gate.busy == 0
