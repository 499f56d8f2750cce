"""Speech by the V2 door: what `infer` takes, and what it gives."""

from __future__ import annotations

import asyncio
import base64
import gzip
import io
import json
import wave
import zlib

import numpy as np
import pytest

from vivavoce.predictors.v2_wire import HEADER_LENGTH, InferRequest, Tensor, Wanted

from .v2_calls import INFER, SENTENCE, body_of, read


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
