"""The official openai client, as users have it in their code (openai-python#864 and the like)."""

from __future__ import annotations

import base64
import io
import json
import wave

import av
import httpx
import numpy as np
import openai
import pytest

FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"]
TEXT = "The ferry leaves at noon, so bring a coat. We can have lunch on the other side."


@pytest.fixture(scope="module")
def client(base_url, key):
    with openai.OpenAI(base_url=base_url, api_key=key, max_retries=0) as client:
        yield client


@pytest.fixture
async def later(base_url, key):
    async with openai.AsyncOpenAI(base_url=base_url, api_key=key, max_retries=0) as client:
        yield client


def samples_of(data: bytes, name: str) -> np.ndarray:
    """Decode a file to mono floats at 24 kHz, with an independent decoder."""
    if name == "pcm":
        return np.frombuffer(data, "<i2").astype(np.float32) / 32_768
    with av.open(io.BytesIO(data)) as container:
        resampler = av.AudioResampler("fltp", "mono", 24_000)
        frames = [f for frame in container.decode(audio=0) for f in resampler.resample(frame)]
        return np.concatenate([frame.to_ndarray()[0] for frame in [*frames, *resampler.resample(None)]])


@pytest.fixture(scope="module")
def reference(client):
    return samples_of(
        client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT, response_format="pcm").content, "pcm"
    )


def check(data: bytes, name: str, reference: np.ndarray) -> None:
    heard = samples_of(data, name)
    assert heard.size == pytest.approx(reference.size, abs=24_000 * 0.15)
    assert np.sqrt(np.mean(heard**2)) == pytest.approx(np.sqrt(np.mean(reference**2)), rel=0.1)


@pytest.mark.parametrize("name", FORMATS)
def test_openai_python_864_streams_every_format(client, tmp_path, name, reference):
    path = tmp_path / f"speech.{name}"
    with client.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts", voice="alloy", input=TEXT, response_format=name, instructions="Cheerfully."
    ) as response:
        assert response.headers["x-request-id"]
        response.stream_to_file(path)
    check(path.read_bytes(), name, reference)


@pytest.mark.parametrize("name", FORMATS)
def test_saves_every_format_whole(client, tmp_path, name, reference):
    path = tmp_path / f"speech.{name}"
    client.audio.speech.create(
        model="tts-1-hd", voice="alloy", input=TEXT, response_format=name, extra_body={"stream": False}
    ).write_to_file(path)
    check(path.read_bytes(), name, reference)


@pytest.mark.parametrize("name", FORMATS)
async def test_streams_every_format_asynchronously(later, name, reference):
    pieces = []
    async with later.audio.speech.with_streaming_response.create(
        model="tts-1", voice="alloy", input=TEXT, response_format=name
    ) as response:
        async for piece in response.iter_bytes():
            pieces.append(piece)
    check(b"".join(pieces), name, reference)


def test_the_default_is_mp3(client):
    response = client.audio.speech.create(model="tts-1", voice="alloy", input="No format was named.")
    assert response.response.headers["content-type"] == "audio/mpeg"
    assert response.content[0] == 0xFF or response.content[:3] == b"ID3"


def test_a_saved_wav_has_an_exact_length(client, tmp_path):
    path = tmp_path / "speech.wav"
    client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT, response_format="wav").write_to_file(path)
    with wave.open(str(path)) as file:
        assert path.stat().st_size == 44 + 2 * file.getnframes()
        assert file.getnframes() / file.getframerate() > 3


@pytest.mark.parametrize("speed", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_every_speed(client, speed, reference):
    response = client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT, response_format="pcm", speed=speed)
    assert len(response.content) / 2 == pytest.approx(reference.size / speed, rel=0.35)


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 44_100, 48_000])
def test_every_rate(client, rate_hz, reference):
    response = client.audio.speech.create(
        model="tts-1", voice="alloy", input=TEXT, response_format="pcm", extra_body={"sample_rate": rate_hz}
    )
    assert len(response.content) / 2 / rate_hz == pytest.approx(reference.size / 24_000, abs=0.02)


def test_a_voice_given_as_an_object(client):
    response = client.audio.speech.create(
        model="tts-1", voice={"id": "alloy"}, input="An object names me.", response_format="pcm"
    )
    assert len(response.content) > 10_000


def test_events_of_the_speech(client, reference):
    with client.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts",
        voice="alloy",
        input=TEXT,
        response_format="pcm",
        stream_format="sse",
        extra_body={"word_timestamps": True},
    ) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = [json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: ")]
    assert events[-1]["type"] == "speech.audio.done"
    audio = b"".join(base64.b64decode(event["audio"]) for event in events[:-1])
    assert len(audio) == reference.size * 2
    words = [word for event in events[:-1] for word in event["words"]]
    assert [word["word"] for word in words] == [word.strip(",.") for word in TEXT.split()]
    assert all(TEXT[word["start"] : word["end"]] == word["word"] for word in words)
    assert words[-1]["end_ms"] <= reference.size / 24


@pytest.mark.parametrize(
    ("fields", "error", "code", "param"),
    [
        ({"voice": "nobody-at-all"}, openai.BadRequestError, "unknown_voice", "voice"),
        ({"model": "gpt-99"}, openai.NotFoundError, "model_not_found", "model"),
        ({"speed": 11}, openai.BadRequestError, "out_of_range", "speed"),
        ({"input": " "}, openai.BadRequestError, "empty_input", "input"),
        ({"response_format": "ogg3"}, openai.BadRequestError, "unsupported_format", "response_format"),
        ({"extra_body": {"language": "tlh"}}, openai.BadRequestError, "unsupported_language", "language"),
        ({"input": "x" * 200_000}, openai.APIStatusError, "input_too_large", "input"),
        ({"input": "x" * 2_000_000}, openai.APIStatusError, "input_too_large", None),
    ],
)
def test_errors_are_the_clients_own(client, fields, error, code, param):
    with pytest.raises(error) as caught:
        client.audio.speech.create(**{"model": "tts-1", "voice": "alloy", "input": "Hello.", **fields})
    assert (caught.value.code, caught.value.param) == (code, param)
    assert caught.value.request_id


async def test_errors_before_a_stream_are_the_clients_own(later):
    with pytest.raises(openai.BadRequestError):
        async with later.audio.speech.with_streaming_response.create(model="tts-1", voice="nobody", input="Hello."):
            raise AssertionError("there is nothing to stream")


@pytest.mark.parametrize("wrong", ["wrong-key", "contract-keys", "x"])
def test_a_wrong_key(base_url, wrong):
    with openai.OpenAI(base_url=base_url, api_key=wrong, max_retries=0) as stranger:
        with pytest.raises(openai.AuthenticationError) as caught:
            stranger.audio.speech.create(model="tts-1", voice="alloy", input="Hello.")
        assert caught.value.code == "invalid_api_key"
        with pytest.raises(openai.AuthenticationError):
            stranger.models.list()


def test_models(client):
    names = [model.id for model in client.models.list()]
    assert {"tts-1", "tts-1-hd", "gpt-4o-mini-tts", "hibari"} <= set(names)
    assert client.models.retrieve("gpt-4o-mini-tts").object == "model"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-99")


def test_kokoro_fastapi_479_every_openai_voice_speaks_or_says_how_to_get_it(client):
    for voice in "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse".split():  # noqa: SIM905
        try:
            response = client.audio.speech.create(model="tts-1", voice=voice, input="Yes.", response_format="pcm")
            assert len(response.content) > 5_000
        except openai.InternalServerError as error:
            assert error.status_code == 503
            assert error.code == "voice_not_installed"
            assert "vivavoce models" in error.message


def test_a_client_that_leaves_costs_nothing_afterwards(client, app, base_url, key):
    body = {"input": TEXT * 50, "voice": "alloy"}
    with httpx.Client(headers={"Authorization": f"Bearer {key}"}) as impatient:
        for _ in range(20):
            with impatient.stream("POST", f"{base_url}/audio/speech", json=body) as response:
                assert response.status_code == 200
                next(response.iter_raw())
        client.audio.speech.create(model="tts-1", voice="alloy", input="And the next one is served.")
        services = app.state.services
        for _ in range(1_000):
            if services.admission.running == 0:
                break
            impatient.get(base_url.removesuffix("/v1") + "/health")
    assert services.admission.running == 0
    value = services.metrics.registry.get_sample_value
    assert value("tts_streams_active", {"door": "openai"}) == 0
    assert value("tts_slots_busy") == 0
