"""`generate` and `generate_stream` of the V2 door."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, WordTime
from vivavoce.errors import PredictorFailed
from vivavoce.predictors.v2_stream import decode_event

from .v2_calls import INFER, SENTENCE, body_of, events


@pytest.mark.parametrize("body", [{"text_input": SENTENCE}, {"text": SENTENCE, "parameters": {"voice": "mira"}}])
async def test_generate_gives_one_object(door, body):
    reply = await door.post("/v2/models/tts/generate", json={**body, "id": "g1"})
    answer = reply.json()
    assert (answer["model_name"], answer["model_version"], answer["id"]) == ("tts", "1", "g1")
    assert answer["text_output"] == SENTENCE
    assert (answer["sample_rate"], answer["format"]) == (24_000, "pcm")
    assert len(base64.b64decode(answer["audio"])) > 10_000
    assert next(SENTENCE[start:end] for start, end, *_ in answer["words"]) == "The"


async def test_generate_takes_parameters_beside_the_text(door, predictor):
    for body in ({"speed": 2.0, "normalized": True}, {"parameters": {"speed": 2.0, "normalized": True}}):
        await door.post("/v2/models/tts/generate", json={"text_input": "Yes.", **body})
    assert [job.speed for job in predictor.jobs] == [2.0, 2.0]


@pytest.mark.parametrize("path", ["/v2/models/tts/generate_stream", "/v2/models/tts/versions/1/generate_stream"])
async def test_a_stream_brings_audio_and_words_and_one_last_event(door, path):
    reply = await door.post(path, json={"text_input": SENTENCE, "parameters": {"normalized": True}, "id": "s"})
    found = events(reply)
    assert [event["final"] for event in found] == [False, False, False, True]
    assert {event["model_name"] for event in found} == {"tts"}
    decoded = [decode_event(json.dumps(event)) for event in found]
    assert sum(len(event.pcm) for event in decoded) == 3 * 9_600
    spans = [(word.start, word.end) for event in decoded for word in event.words]
    assert " ".join(SENTENCE[start:end] for start, end in spans) == SENTENCE
    assert " ".join(event["text_output"] for event in found).strip() == SENTENCE
    assert reply.headers["x-slots"] == "2"


@pytest.mark.parametrize("normalized", [True, False])
async def test_a_stream_and_a_whole_reply_are_the_same_sound(door, normalized):
    fields = {"text_input": "Once upon a time. There was a gate.", "parameters": {"normalized": normalized}}
    whole = (await door.post("/v2/models/tts/generate", json=fields)).json()["audio"]
    found = events(await door.post("/v2/models/tts/generate_stream", json=fields))
    assert b"".join(base64.b64decode(event["audio"]) for event in found) == base64.b64decode(whole)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"\xff", 400),
        (b'{"prompt": "x"}', 400),
        (b'{"text_input": 7}', 400),
        (b'{"text_input": ""}', 400),
        (b'{"text_input": "Yes.", "parameters": [1]}', 400),
        (b'{"text_input": "Yes.", "speed": "2"}', 400),
        (b'{"text_input": "Yes.", "response_format": "mp3"}', 400),
    ],
)
async def test_a_bad_generation_is_refused_before_the_stream_begins(door, app, body, status):
    reply = await door.post("/v2/models/tts/generate_stream", content=body)
    assert reply.status_code == status
    assert isinstance(reply.json()["error"], str)
    assert app.state.v2.gate.busy == 0


async def test_a_failure_before_the_first_sound_has_a_status(door, predictor):
    predictor.fail_at, predictor.fail_with = 0, PredictorFailed("the engine broke")
    for path in (INFER, "/v2/models/tts/generate", "/v2/models/tts/generate_stream"):
        reply = await door.post(path, json={**body_of([SENTENCE]), "text_input": SENTENCE})
        assert (reply.status_code, reply.json()) == (502, {"error": "the engine broke"})


@pytest.mark.parametrize("normalized", [True, False])
async def test_a_failure_after_it_is_the_streams_last_event(door, app, predictor, normalized, sample):
    predictor.fail_at, predictor.fail_with = 2, PredictorFailed("the engine broke")
    body = {"text_input": SENTENCE, "parameters": {"normalized": normalized}}
    found = events(await door.post("/v2/models/tts/generate_stream", json=body))
    assert found[-1] == {"error": "the engine broke"}
    assert len(found) > 1
    assert not any(event.get("final") for event in found)
    assert app.state.v2.gate.busy == 0
    assert sample(app, "tts_utterances_total", door="v2", outcome="error") == 1


async def test_words_that_come_before_the_sound_wait_for_it(door, predictor, monkeypatch):
    async def early(job, deadline=None):
        yield Chunk(np.zeros(0, np.float32), (WordTime(0, 3, 0.0, 150.0),))
        if "never" in job.phrase.text:
            raise PredictorFailed("the engine broke")
        yield Chunk(np.full(4_800, 0.2, np.float32), (WordTime(4, 11, 150.0, 200.0),))

    monkeypatch.setattr(predictor, "synthesize", early)
    path = "/v2/models/tts/generate_stream"
    first, _ = events(await door.post(path, json={"text_input": "The harbour", "parameters": {"normalized": True}}))
    assert (first["text_output"], len(first["words"])) == ("The harbour", 2)
    broken = await door.post(path, json={"text_input": "It never", "parameters": {"normalized": True}})
    assert (broken.status_code, broken.json()) == (502, {"error": "the engine broke"})
