"""Requests as other clients of OpenAI's API send them."""

from __future__ import annotations

import base64
import itertools
import json

import httpx
import pytest


@pytest.fixture
def client(base_url, key):
    with httpx.Client(base_url=base_url, headers={"Authorization": f"Bearer {key}"}) as client:
        yield client


def test_livekit_asks_for_mp3_events(client):
    body = {
        "model": "gpt-4o-mini-tts",
        "voice": "alloy",
        "input": "LiveKit sends one sentence a request.",
        "speed": 1.0,
        "response_format": "mp3",
        "stream_format": "sse",
    }
    response = client.post("/audio/speech", json=body, headers={"Accept": "application/octet-stream"})
    assert response.headers["content-type"].split(";")[0] == "text/event-stream"
    audio = b""
    for line in response.text.splitlines():
        if line.startswith("data: "):
            event = json.loads(line[6:])
            audio += base64.b64decode(event.get("delta") or event.get("audio") or "")
    assert audio[0] == 0xFF


def test_livekit_warms_its_connection(client):
    assert client.get("/").status_code == 200


def test_pipecat_reads_pcm_at_24_khz(client):
    body = {
        "input": "Pipecat plays what comes.",
        "model": "gpt-4o-mini-tts",
        "voice": "alloy",
        "response_format": "pcm",
    }
    with client.stream("POST", "/audio/speech", json=body) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "audio/pcm"
        data = b"".join(response.iter_raw())
    assert len(data) % 2 == 0
    assert 0.5 < len(data) / 48_000 < 5


def test_kokoro_fastapis_clients_send_more_fields(client):
    body = {
        "model": "kokoro",
        "input": "Fields that nobody here knows are ignored.",
        "voice": "af_heart",
        "response_format": "wav",
        "stream": True,
        "lang_code": "a",
        "volume_multiplier": 1.2,
        "return_download_link": False,
        "normalization_options": {"normalize": True},
    }
    response = client.post("/audio/speech", json=body)
    assert response.status_code in (200, 503)
    if response.status_code == 503:
        assert response.json()["error"]["code"] == "voice_not_installed"


def test_open_webui_reads_voices_by_id_and_name(client):
    listed = client.get("/audio/voices").json()["voices"]
    names = {voice["id"]: voice["name"] for voice in listed}
    assert names["alloy"] == "alloy"
    assert names["heart"] == "heart"


def test_older_clients_read_voices_as_names(client):
    assert {"heart", "alloy"} <= set(client.get("/audio/voices", params={"legacy": "true"}).json()["voices"])


def test_curl_without_a_content_type(client):
    content = json.dumps({"input": "Curl sends a form unless told.", "voice": "alloy"})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post("/audio/speech", content=content, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("text", "least_ms", "most_ms"),
    [("[pause:1s]", 1_000, 1_000), ("[pause:250ms] [pause:0.5s]", 750, 750), ("[pause:1s]Hello.", 1_300, 2_500)],
)
def test_kokoro_fastapi_355_a_pause_may_come_first_or_alone(client, text, least_ms, most_ms):
    body = {"input": text, "voice": "alloy", "response_format": "pcm"}
    response = client.post("/audio/speech", json=body)
    assert response.status_code == 200
    assert least_ms <= len(response.content) / 48 <= most_ms
    assert not any(response.content[:20_000])


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("A text-to-speech demo costs $5 today.", ["A", "text-to-speech", "demo", "costs", "$5", "today"]),
        ("Don't re-read e-mails at 9:30, okay?", ["Don't", "re-read", "e-mails", "at", "9:30", "okay"]),
        ("It's 21 °C in Zürich; we're well-dressed.", ["It's", "21 °C", "in", "Zürich", "we're", "well-dressed"]),
        ("[pause:300ms]Later, **bold** words.", ["Later", "bold", "words"]),
    ],
)
def test_pipecat_5259_words_are_those_of_the_text(client, text, whole):
    body = {"input": text, "voice": "alloy", "response_format": "wav", "word_timestamps": True}
    words = json.loads(client.post("/audio/speech", json=body).headers["x-word-timestamps"])
    assert [text[word["start"] : word["end"]] for word in words] == whole
    assert [word["word"] for word in words] == whole
    assert all(one["start_ms"] <= one["end_ms"] for one in words)
    assert all(one["end_ms"] <= two["start_ms"] + 1 for one, two in itertools.pairwise(words))


def test_a_socket_where_there_is_none_is_refused(base_url, key):
    from websockets.exceptions import ConnectionClosedError, InvalidStatus
    from websockets.sync.client import connect

    url = base_url.replace("http", "ws") + "/realtime"
    with pytest.raises(InvalidStatus), connect(url, additional_headers={"Authorization": f"Bearer {key}"}):
        pass
    with connect(url) as stranger, pytest.raises(ConnectionClosedError) as caught:
        assert "invalid_api_key" in stranger.recv(timeout=5)
        stranger.recv(timeout=5)
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 4401
