"""Triton's HTTP clients, blocking and asyncio, unmodified, against a real server."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import numpy as np
import pytest

triton = pytest.importorskip("tritonclient.http")
aio = pytest.importorskip("tritonclient.http.aio")

from tritonclient.utils import InferenceServerException

SENTENCE = "Every morning the baker opens her shop."


@pytest.fixture
def address(base_url) -> str:
    return urlsplit(base_url).netloc


@pytest.fixture
def headers(key) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def client(address):
    client = triton.InferenceServerClient(address, network_timeout=30)
    yield client
    client.close()


def text_of(text: str, shape: tuple[int, ...] = (1,), *, binary: bool = True):
    tensor = triton.InferInput("text", list(shape), "BYTES")
    elements = np.array([text.encode() if binary else text], dtype=np.object_).reshape(shape)
    tensor.set_data_from_numpy(elements, binary_data=binary)
    return tensor


def test_health_and_metadata(client, headers):
    assert client.is_server_live(headers)
    assert client.is_server_ready(headers)
    assert client.is_model_ready("tts", headers=headers)
    assert client.is_model_ready("tts", "1", headers=headers)
    assert not client.is_model_ready("other", headers=headers)
    assert "binary_tensor_data" in client.get_server_metadata(headers)["extensions"]
    about = client.get_model_metadata("tts", headers=headers)
    assert about["inputs"][0] == {"name": "text", "datatype": "BYTES", "shape": [1]}
    assert "heart" in [voice["name"] for voice in about["vivavoce"]["voices"]]
    assert client.get_model_config("tts", headers=headers)["output"][0]["data_type"] == "TYPE_INT16"
    assert client.get_model_repository_index(headers)[0]["state"] == "READY"


def test_unload_and_load(client, headers):
    client.unload_model("tts", headers=headers)
    assert not client.is_model_ready("tts", headers=headers)
    client.load_model("tts", headers=headers)
    assert client.is_model_ready("tts", headers=headers)


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
@pytest.mark.parametrize("binary_in", [True, False])
@pytest.mark.parametrize("binary_out", [True, False, None])
def test_infer_in_binary_and_in_json_both_ways(client, headers, shape, binary_in, binary_out):
    names = ("audio", "sample_rate", "words")
    outputs = None
    if binary_out is not None:
        outputs = [triton.InferRequestedOutput(name, binary_data=binary_out) for name in names]
    result = client.infer(
        "tts",
        [text_of(SENTENCE, shape, binary=binary_in)],
        outputs=outputs,
        request_id="t-1",
        headers=headers,
        parameters={"voice": "alloy", "speed": 1.25},
    )
    assert result.get_response()["id"] == "t-1"
    audio = result.as_numpy("audio")
    assert audio.dtype == np.int16
    assert 1 < len(audio) / 24_000 < 6
    assert result.as_numpy("sample_rate").tolist() == [24_000]
    spans = json.loads(result.as_numpy("words")[0])
    assert [SENTENCE[start:end] for start, end, *_ in spans] == SENTENCE.rstrip(".").split()
    parameters = result.get_output("audio").get("parameters", {})
    assert ("binary_data_size" in parameters) is (binary_out is not False)


def test_one_output_in_binary_and_one_in_json(client, headers):
    outputs = [triton.InferRequestedOutput("audio"), triton.InferRequestedOutput("sample_rate", binary_data=False)]
    result = client.infer("tts", [text_of(SENTENCE)], outputs=outputs, headers=headers)
    assert "data" in result.get_output("sample_rate")
    assert "data" not in result.get_output("audio")
    assert result.as_numpy("words") is None


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_packed_requests_and_replies(client, headers, coding):
    plain = client.infer("tts", [text_of(SENTENCE)], headers=headers).as_numpy("audio")
    packed = client.infer(
        "tts",
        [text_of(SENTENCE)],
        headers=headers,
        request_compression_algorithm=coding,
        response_compression_algorithm=coding,
    ).as_numpy("audio")
    assert np.array_equal(plain, packed)


def test_speed_as_a_tensor(client, headers):
    def length(speed: float) -> int:
        tensor = triton.InferInput("speed", [1], "FP32")
        tensor.set_data_from_numpy(np.array([speed], np.float32))
        return len(client.infer("tts", [text_of(SENTENCE), tensor], headers=headers).as_numpy("audio"))

    assert length(2.0) < 0.7 * length(1.0)


def test_statistics_grow(client, headers):
    def count() -> int:
        stats = client.get_inference_statistics("tts", headers=headers)["model_stats"][0]
        return stats["inference_stats"]["success"]["count"]

    before = count()
    client.infer("tts", [text_of("Count this.")], headers=headers)
    assert count() == before + 1


def test_several_requests_in_flight(client, headers):
    pending = [client.async_infer("tts", [text_of(f"This is sentence {n}.")], headers=headers) for n in range(2)]
    for request in pending:
        assert len(request.get_result().as_numpy("audio")) > 12_000


@pytest.mark.parametrize(
    ("model", "version", "text", "status", "says"),
    [
        ("other", "", "Yes.", "404", "Model with name other does not exist."),
        ("tts", "7", "Yes.", "501", "no such version"),
        ("tts", "", " ", "400", "The text is empty."),
    ],
)
def test_errors_are_read_by_the_client(client, headers, model, version, text, status, says):
    with pytest.raises(InferenceServerException, match=says) as failed:
        client.infer(model, [text_of(text)], model_version=version, headers=headers)
    assert failed.value.status() == status


def test_a_full_server_says_so(client, headers, app):
    door = app.state.v2
    seats = [door.gate.take() for _ in range(door.slots)]
    try:
        with pytest.raises(InferenceServerException, match="slots of this predictor are taken") as failed:
            client.infer("tts", [text_of("Yes.")], headers=headers)
        assert failed.value.status() == "503"
    finally:
        for seat in seats:
            seat.release()


async def test_the_asyncio_client(address, headers):
    async with aio.InferenceServerClient(address) as client:
        assert await client.is_server_ready(headers)
        assert await client.is_model_ready("tts", headers=headers)
        result = await client.infer("tts", [text_of(SENTENCE)], headers=headers)
        assert len(result.as_numpy("audio")) > 24_000
        with pytest.raises(InferenceServerException, match="does not exist"):
            await client.infer("other", [text_of(SENTENCE)], headers=headers)
