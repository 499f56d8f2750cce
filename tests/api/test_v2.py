from __future__ import annotations

import asyncio
import base64
import gzip
import io
import json
import wave
import zlib

import httpx
import numpy as np
import pytest

from vivavoce.engines.base import Chunk, WordTime
from vivavoce.errors import PredictorFailed
from vivavoce.predictors.v2_stream import decode_event
from vivavoce.predictors.v2_wire import HEADER_LENGTH, InferRequest, InferResponse, Tensor, Wanted

INFER = "/v2/models/tts/infer"
SENTENCE = "The harbour lights came on one by one."


@pytest.fixture
def ready(app):
    app.state.services.has_spoken()
    return app


@pytest.fixture
async def door(ready, connect):
    async with connect(ready) as client:
        yield client


def body_of(text: object, shape=(1,), **more) -> dict:
    return {"inputs": [{"name": "text", "shape": list(shape), "datatype": "BYTES", "data": text}], **more}


def read(reply: httpx.Response) -> InferResponse:
    assert reply.status_code == 200, reply.text
    return InferResponse.decode(reply.content, reply.headers.get(HEADER_LENGTH))


def events(reply: httpx.Response) -> list[dict]:
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    lines = [line for line in reply.text.split("\n\n") if line]
    assert all(line.startswith("data: ") for line in lines)
    return [json.loads(line[6:]) for line in lines]


async def test_the_server_tells_its_extensions(door):
    about = (await door.get("/v2")).json()
    assert about["name"] == "vivavoce"
    assert {"binary_tensor_data", "generate", "vivavoce_stream"} <= set(about["extensions"])
    assert (await door.get("/v2/")).json() == about


async def test_live_before_ready_and_ready_once_it_has_spoken(app, connect):
    async with connect(app) as client:
        assert (await client.get("/v2/health/live")).json() == {"live": True}
        for path in ("/v2/health/ready", "/v2/models/tts/ready"):
            early = await client.get(path)
            assert (early.status_code, list(early.json())) == (503, ["error"])
            assert early.headers["x-slots"] == "2"
        refused = await client.post(INFER, json=body_of([SENTENCE]))
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        app.state.services.has_spoken()
        assert (await client.get("/v2/health/ready")).json() == {"ready": True, "live": True}
        assert (await client.get("/v2/models/tts/ready")).json() == {"name": "tts", "ready": True}
        assert (await client.get("/v2/models/tts/versions/1/ready")).status_code == 200
        assert (await client.head("/v2/health/ready")).status_code == 200


async def test_the_health_reply_tells_what_a_pool_wants_to_know(build, connect, predictor):
    predictor.slots = 7
    app = build(tier="burst", node_name="node\r\nX-Evil: ü1")
    app.state.services.has_spoken()
    async with connect(app) as client:
        headers = (await client.get("/v2/health/ready")).headers
    told = {name: headers[name] for name in ("x-slots", "x-streams", "x-tier", "x-node", "x-model")}
    assert told == {
        "x-slots": "7",
        "x-streams": "64",
        "x-tier": "burst",
        "x-node": "nodeX-Evil: 1",
        "x-model": "scripted",
    }


@pytest.mark.parametrize("path", ["/v2/models/tts", "/v2/models/tts/versions/1"])
async def test_the_models_metadata_has_its_tensors_and_its_voices(door, path):
    about = (await door.get(path)).json()
    assert (about["name"], about["versions"]) == ("tts", ["1"])
    assert {tensor["name"]: tensor["datatype"] for tensor in about["inputs"]}["text"] == "BYTES"
    assert about["outputs"][0] == {"name": "audio", "datatype": "INT16", "shape": [-1]}
    assert [voice["name"] for voice in about["vivavoce"]["voices"]] == ["mira", "otto"]
    assert about["vivavoce"]["design"] is False
    assert about["vivavoce"]["languages"]


async def test_models_configuration_and_repository(door):
    assert (await door.get("/v2/models")).json() == {"models": ["tts"]}
    config = (await door.get("/v2/models/tts/config")).json()
    assert (config["name"], config["max_batch_size"]) == ("tts", 0)
    assert config["input"][0] == {"name": "text", "data_type": "TYPE_STRING", "dims": [1]}
    index = await door.post("/v2/repository/index")
    assert index.json() == [{"name": "tts", "version": "1", "state": "READY", "reason": ""}]


async def test_an_unloaded_model_refuses_until_it_is_loaded_again(door):
    assert (await door.post("/v2/repository/models/tts/unload")).json() == {"name": "tts", "unload": True}
    assert (await door.get("/v2/health/ready")).status_code == 503
    assert (await door.post(INFER, json=body_of([SENTENCE]))).status_code == 503
    assert (await door.post("/v2/repository/index", json={"ready": True})).json() == []
    assert (await door.post("/v2/repository/index", json={})).json()[0]["state"] == "UNAVAILABLE"
    assert (await door.post("/v2/repository/models/tts/load", json={"parameters": {}})).status_code == 200
    assert (await door.post(INFER, json=body_of([SENTENCE]))).status_code == 200
    assert (await door.post("/v2/repository/models/other/load")).status_code == 404


async def test_a_page_of_another_site_cannot_unload_or_infer(door):
    foreign = {"sec-fetch-site": "cross-site", "content-type": "text/plain"}
    for path in ("/v2/repository/models/tts/unload", INFER, "/v2/models/tts/generate"):
        assert (await door.post(path, content=b"{}", headers=foreign)).status_code == 403
    del foreign["content-type"]
    assert (await door.post("/v2/repository/models/tts/unload", headers=foreign)).status_code == 403
    assert (await door.get("/v2/health/ready")).status_code == 200


async def test_statistics_count_what_went_well_and_what_did_not(door, predictor):
    await door.post(INFER, json=body_of([SENTENCE]))
    predictor.fail_at, predictor.fail_with = 0, PredictorFailed("broken")
    await door.post(INFER, json=body_of([SENTENCE]))
    for path in ("/v2/models/tts/stats", "/v2/models/stats", "/v2/models/tts/versions/1/stats"):
        stats = (await door.get(path)).json()["model_stats"][0]
        assert stats["inference_count"] == 1
        assert stats["inference_stats"]["success"]["count"] == 1
        assert stats["inference_stats"]["fail"]["count"] == 1


@pytest.mark.parametrize("path", [INFER, "/v2/models/tts/versions/1/infer"])
@pytest.mark.parametrize(
    ("text", "shape"), [([SENTENCE], (1,)), ([SENTENCE], (1, 1)), ([[SENTENCE]], (1, 1)), ([SENTENCE, "So."], (2,))]
)
async def test_infer_speaks_text_of_any_shape(door, path, text, shape):
    reply = await door.post(path, json=body_of(text, shape, id="r-7"))
    response = read(reply)
    assert reply.headers["content-type"] == "application/json"
    assert HEADER_LENGTH not in reply.headers
    assert (response.model_name, response.model_version, response.id) == ("tts", "1", "r-7")
    audio, rate, words = (response.output(name) for name in ("audio", "sample_rate", "words"))
    assert audio.datatype == "INT16"
    assert audio.shape == (len(audio.data),)
    assert np.abs(audio.numbers()).max() > 5_000
    assert rate.numbers().tolist() == [24_000]
    spans = json.loads(words.texts()[0])
    spoken = "\n".join(np.ravel(text))
    assert [spoken[start:end] for start, end, *_ in spans][:2] == ["The", "harbour"]
    assert all(start_ms <= end_ms <= len(audio.data) / 24 for _, _, start_ms, end_ms in spans)


async def test_infer_takes_and_gives_binary_tensors(door):
    request = InferRequest(
        (Tensor.of_texts("text", SENTENCE), Tensor.of_texts("voice", "mira")),
        parameters={"binary_data_output": True},
        outputs=(Wanted("audio"), Wanted("sample_rate", False)),
    )
    body = request.encode()
    reply = await door.post(INFER, content=body.content, headers={HEADER_LENGTH: str(body.header_bytes)})
    response = read(reply)
    assert reply.headers["content-type"] == "application/octet-stream"
    assert [output.name for output in response.outputs] == ["audio", "sample_rate"]
    assert "data" in json.loads(reply.content[: int(reply.headers[HEADER_LENGTH])])["outputs"][1]
    assert len(response.output("audio").data) > 5_000


async def test_a_raw_body_is_spoken(door):
    reply = await door.post(INFER, content=SENTENCE.encode(), headers={HEADER_LENGTH: "0"})
    assert len(read(reply).output("audio").data) > 5_000


async def test_parameters_and_tensors_both_say_how(door, predictor):
    asked = {"voice": "otto", "language": "de", "speed": 1.5, "instruct": "female, whisper", "unknown": "x"}
    await door.post(INFER, json=body_of(["Guten Abend."], parameters=asked | {"normalized": True}))
    tensors = [
        {"name": "text", "shape": [1], "datatype": "BYTES", "data": ["Guten Abend."]},
        {"name": "voice", "shape": [1], "datatype": "BYTES", "data": ["otto"]},
        {"name": "language", "shape": [1, 1], "datatype": "BYTES", "data": ["de"]},
        {"name": "speed", "shape": [1], "datatype": "FP32", "data": [1.5]},
        {"name": "instructions", "shape": [1], "datatype": "BYTES", "data": ["female, whisper"]},
    ]
    await door.post(INFER, json={"inputs": tensors, "parameters": {"normalized": True}})
    first, second = predictor.jobs
    assert first == second
    assert (first.voice, first.phrase.language, first.speed, first.instruct) == ("otto", "de", 1.5, "female, whisper")


async def test_a_normalized_text_is_one_job_as_it_stands(door, predictor):
    text = "dr. 3 lives at 5th st. really"
    ipa = json.dumps([[4, 5, "θɹiː"], [23, 29, "ɹiəli"]])
    reply = await door.post(INFER, json=body_of([text], parameters={"normalized": True, "ipa": ipa}))
    assert [job.phrase.text for job in predictor.jobs] == [text]
    assert [(i.start, i.end, i.symbols) for i in predictor.jobs[0].phrase.ipa] == [(4, 5, "θɹiː"), (23, 29, "ɹiəli")]
    response = read(reply)
    assert len(response.output("audio").data) == 3 * 4_800
    assert json.loads(response.output("words").texts()[0])[0] == [0, 3, 0.0, 85.71]


async def test_text_goes_through_the_whole_front_end_unless_it_is_normalized(door, predictor):
    await door.post(INFER, json=body_of(["Dr. Ito paid $5. She left."]))
    assert [job.phrase.text for job in predictor.jobs] == ["Doctor Ito paid five dollars.", "She left."]


@pytest.mark.parametrize("normalized", [True, False])
async def test_another_sample_rate_is_resampled(door, normalized):
    parameters = {"sample_rate": 16_000, "normalized": normalized}
    response = read(await door.post(INFER, json=body_of([SENTENCE], parameters=parameters)))
    assert response.output("sample_rate").numbers().tolist() == [16_000]
    if normalized:
        assert len(response.output("audio").data) == 600 * 16


async def test_audio_comes_in_other_datatypes_and_as_files(door):
    async def audio(**parameters):
        return read(await door.post(INFER, json=body_of([SENTENCE], parameters=parameters))).output("audio")

    samples = (await audio()).numbers()
    floats = (await audio(audio_datatype="fp32")).numbers()
    assert np.abs(floats * 32_768 - samples).max() < 1
    coded = await audio(audio_datatype="BYTES")
    assert base64.b64decode(coded.texts()[0]) == samples.tobytes()
    with wave.open(io.BytesIO((await audio(response_format="wav")).numbers().tobytes())) as file:
        assert file.readframes(file.getnframes()) == samples.tobytes()
    flac = base64.b64decode((await audio(response_format="flac", audio_datatype="BYTES")).texts()[0])
    assert flac.startswith(b"fLaC")


FAULTS = {
    "no inputs": ({}, 400),
    "no text": ({"inputs": [{"name": "voice", "shape": [1], "datatype": "BYTES", "data": ["x"]}]}, 400),
    "an empty text": (body_of([""]), 400),
    "a blank text": (body_of([" \n\t "]), 400),
    "marks alone": (body_of(["… — !"]), 400),
    "no element": (body_of([], (0,)), 400),
    "a text of numbers": ({"inputs": [{"name": "text", "shape": [1], "datatype": "INT32", "data": [3]}]}, 400),
    "an unknown input": (
        {"inputs": [body_of(["x"])["inputs"][0], {"name": "pitch", "shape": [1], "datatype": "FP32", "data": [1]}]},
        400,
    ),
    "two voices": (
        {
            "inputs": [
                body_of(["x"])["inputs"][0],
                {"name": "voice", "shape": [2], "datatype": "BYTES", "data": ["a", "b"]},
            ]
        },
        400,
    ),
    "an unknown output": (body_of(["Yes."], outputs=[{"name": "video"}]), 400),
    "an unknown voice": (body_of(["Yes."], parameters={"voice": "nobody"}), 400),
    "an unknown language": (body_of(["Yes."], parameters={"language": "xx"}), 400),
    "a voice that is a number": (body_of(["Yes."], parameters={"voice": 7}), 400),
    "a speed in words": (body_of(["Yes."], parameters={"speed": "fast"}), 400),
    "a speed of nothing": (body_of(["Yes."], parameters={"speed": 0}), 400),
    "an impossible speed": (body_of(["Yes."], parameters={"speed": 99}), 400),
    "an impossible rate": (body_of(["Yes."], parameters={"sample_rate": 5}), 400),
    "a broken rate": (body_of(["Yes."], parameters={"sample_rate": 24_000.5}), 400),
    "an unknown format": (body_of(["Yes."], parameters={"response_format": "midi"}), 400),
    "an unknown datatype": (body_of(["Yes."], parameters={"audio_datatype": "FP64"}), 400),
    "samples of a file": (body_of(["Yes."], parameters={"audio_datatype": "INT16", "response_format": "mp3"}), 400),
    "normalized in words": (body_of(["Yes."], parameters={"normalized": "true"}), 400),
    "two normalized texts": (body_of(["Yes.", "No."], (2,), parameters={"normalized": True}), 400),
    "an unready voice": (body_of(["Yes."], parameters={"voice": "ghost"}), 503),
    "a long phrase": (body_of(["a " * 2_501], parameters={"normalized": True}), 413),
    "a long text": (body_of(["a " * 50_001]), 413),
}


@pytest.mark.parametrize(("body", "status"), FAULTS.values(), ids=FAULTS)
async def test_a_bad_request_is_answered_with_the_protocols_error(door, app, body, status):
    reply = await door.post(INFER, json=body)
    assert reply.status_code == status, reply.text
    assert isinstance(reply.json()["error"], str)
    assert app.state.v2.gate.busy == 0


@pytest.mark.parametrize(
    "ipa", ["x", "{}", "[[0]]", '[["0",1,"a"]]', '[[2,1,"a"]]', '[[0,99,"a"]]', '[[0,2,"a"],[1,3,"b"]]', "[" * 9_999]
)
async def test_pronunciations_that_do_not_fit_are_refused(door, ipa):
    reply = await door.post(INFER, json=body_of(["Yes."], parameters={"normalized": True, "ipa": ipa}))
    assert (reply.status_code, "ipa" in reply.json()["error"]) == (400, True)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v2/models/other", 404),
        ("GET", "/v2/models/other/ready", 404),
        ("GET", "/v2/models/other/config", 404),
        ("GET", "/v2/models/other/stats", 404),
        ("GET", "/v2/models/tts/versions/2", 404),
        ("GET", "/v2/models/tts/versions/2/ready", 404),
        ("POST", "/v2/models/other/infer", 404),
        ("POST", "/v2/models/tts/versions/2/infer", 501),
        ("POST", "/v2/models/tts/versions/2/generate", 501),
        ("POST", "/v2/models/" + "m" * 5_000 + "/infer", 404),
        ("POST", "/v2/models/..%2F..%2Fetc/infer", 404),
        ("GET", "/v2/models/tts/infer", 405),
        ("DELETE", "/v2/health/live", 405),
        ("GET", "/v2/nothing", 404),
        ("POST", "/v2/models/tts/explain", 405),
    ],
)
async def test_what_is_not_there_is_answered_in_the_protocols_error(door, method, path, status):
    reply = await door.request(method, path, **({"json": body_of(["Yes."])} if method == "POST" else {}))
    assert reply.status_code == status, reply.text
    assert 0 < len(reply.json()["error"]) < 300


async def test_a_models_name_may_have_slashes_and_spaces(build, connect):
    app = build(model_name="acme/omni voice")
    app.state.services.has_spoken()
    async with connect(app) as client:
        for path in ("acme%2Fomni%20voice", "acme/omni%20voice"):
            assert (await client.get(f"/v2/models/{path}")).json()["name"] == "acme/omni voice"
            assert (await client.get(f"/v2/models/{path}/versions/1/ready")).status_code == 200
            assert (await client.post(f"/v2/models/{path}/infer", json=body_of(["Yes."]))).status_code == 200


PACKED = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "x-gzip": gzip.compress,
    "identity": bytes,
}


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(("coding", "pack"), [*PACKED.items(), ("deflate", raw_deflate)])
async def test_packed_requests_are_unpacked(door, coding, pack):
    content = pack(json.dumps(body_of([SENTENCE])).encode())
    reply = await door.post(INFER, content=content, headers={"content-encoding": coding})
    assert len(read(reply).output("audio").data) > 5_000


async def test_the_header_length_is_that_of_the_unpacked_json(door):
    body = InferRequest((Tensor.of_texts("text", SENTENCE),)).encode()
    headers = {"content-encoding": "gzip", HEADER_LENGTH: str(body.header_bytes)}
    reply = await door.post(INFER, content=gzip.compress(body.content), headers=headers)
    assert len(read(reply).output("audio").data) > 5_000


@pytest.mark.parametrize(
    ("coding", "content", "status"),
    [
        ("gzip", gzip.compress(b"0" * 40_000_000), 413),
        ("deflate", zlib.compress(b"0" * 40_000_000), 413),
        ("gzip, gzip", gzip.compress(gzip.compress(b"0" * 40_000_000)), 413),
        ("gzip", b"not gzip at all", 400),
        ("gzip", gzip.compress(b"{}" * 50)[:-9], 400),
        ("gzip", gzip.compress(b"{}") + b"more", 400),
        ("deflate", b"\x78\x9c broken", 400),
        ("br", b"whatever", 400),
        ("gzip, gzip, gzip", b"whatever", 400),
    ],
)
async def test_what_unpacks_to_too_much_or_not_at_all_is_refused(door, coding, content, status):
    reply = await door.post(INFER, content=content, headers={"content-encoding": coding})
    assert reply.status_code == status
    assert isinstance(reply.json()["error"], str)


@pytest.mark.parametrize("accept", ["gzip", "deflate", "GZIP;q=1.0", "gzip, identity;q=0"])
async def test_a_client_that_names_one_coding_gets_it(door, accept):
    reply = await door.post(INFER, json=body_of([SENTENCE]), headers={"accept-encoding": accept})
    assert reply.headers["content-encoding"] == ("deflate" if accept == "deflate" else "gzip")
    assert len(read(reply).output("audio").data) > 5_000


@pytest.mark.parametrize("accept", ["gzip, deflate, br", "gzip;q=0", "br", "*", ""])
async def test_a_client_that_only_lists_what_it_can_read_gets_plain_bytes(door, accept):
    reply = await door.post(INFER, json=body_of([SENTENCE]), headers={"accept-encoding": accept})
    assert "content-encoding" not in reply.headers
    assert reply.status_code == 200


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


async def test_an_engine_that_gives_no_audio_is_a_failure(door, predictor):
    predictor.chunks = 0
    reply = await door.post(INFER, json=body_of(["Yes."], parameters={"normalized": True}))
    assert (reply.status_code, reply.json()) == (502, {"error": "The engine gave no audio."})


async def test_a_reply_over_the_limit_is_refused(build, connect, predictor):
    app = build(max_whole_mb=0.02)
    app.state.services.has_spoken()
    async with connect(app) as client:
        assert (await client.post(INFER, json=body_of([SENTENCE]))).status_code == 413
    assert app.state.v2.gate.busy == 0


async def test_every_request_is_counted_once_with_its_outcome(door, app, sample):
    await door.post(INFER, json=body_of([SENTENCE]))
    await door.post("/v2/models/tts/generate", json={"text_input": SENTENCE})
    await door.post("/v2/models/tts/generate_stream", json={"text_input": SENTENCE})
    await door.post(INFER, json={})
    assert sample(app, "tts_utterances_total", door="v2", outcome="ok") == 3
    assert sample(app, "tts_utterances_total", door="v2", outcome="error") == 1
    assert sample(app, "tts_streams_active", door="v2") == 0
    assert sample(app, "tts_audio_seconds_total", door="v2") > 1


async def test_no_text_reaches_the_log(door, caplog):
    with caplog.at_level("INFO"):
        for path in (INFER, "/v2/models/tts/generate_stream"):
            await door.post(path, json={**body_of(["A secret marigold."]), "text_input": "A secret marigold."})
        await door.post(INFER, json=body_of(["A secret marigold."], parameters={"voice": "marigold"}))
    assert "marigold" not in caplog.text


async def test_several_at_once_each_get_their_own_words(door, predictor):
    predictor.slots = 8
    texts = [f"Number {word} is here." for word in ("one", "two", "three", "four", "five", "six")]
    replies = await asyncio.gather(*(door.post(INFER, json=body_of([t], id=t[7:10].strip())) for t in texts))
    for text, reply in zip(texts, replies, strict=True):
        response = read(reply)
        assert response.id == text[7:10].strip()
        spans = json.loads(response.output("words").texts()[0])
        assert " ".join(text[start:end] for start, end, *_ in spans) == text.rstrip(".")


async def test_with_keys_only_the_probes_are_open(build, connect):
    app = build(api_keys="open-sesame")
    app.state.services.has_spoken()
    async with connect(app) as client:
        for path in ("/v2/health/live", "/v2/health/ready"):
            assert (await client.get(path)).status_code == 200
        for method, path in [
            ("GET", "/v2"),
            ("GET", "/v2/models"),
            ("GET", "/v2/models/tts"),
            ("POST", INFER),
            ("POST", "/v2/models/tts/generate_stream"),
            ("POST", "/v2/repository/models/tts/unload"),
            ("GET", "/v2//health/../models"),
        ]:
            refused = await client.request(method, path)
            assert refused.status_code == 401, path
            assert isinstance(refused.json()["error"], str)
        key = {"authorization": "Bearer open-sesame"}
        assert (await client.post(INFER, json=body_of([SENTENCE]), headers=key)).status_code == 200
