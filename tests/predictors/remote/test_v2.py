import asyncio
import base64
import gc
import json
from dataclasses import replace

import numpy as np
import pytest

from vivavoce.engines.base import Ipa, WordTime
from vivavoce.errors import BadRequest, Busy, PredictorFailed
from vivavoce.predictors.exchange import Exchange
from vivavoce.predictors.faults import BrokenOff, Missing, OutOfPatience
from vivavoce.predictors.remote import Times
from vivavoce.predictors.v2 import V2Predictor
from vivavoce.predictors.v2_stream import StreamEvent, encode_error, encode_event
from vivavoce.predictors.v2_wire import HEADER_LENGTH, InferRequest, InferResponse, Tensor

STREAMS = ("binary_tensor_data", "generate", "vivavoce_stream")


@pytest.fixture
async def predict(serve, kit):
    """A predictor in front of a V2 server that answers as told."""
    made = []

    async def make(infer=None, *, request_s=5.0, routes=None, **meta) -> tuple[V2Predictor, object]:
        server = await serve(kit.v2_routes(infer, **meta) | (routes or {}))
        predictor = V2Predictor(server.url, times=Times(request_s, 1.0))
        made.append(predictor)
        return predictor, server

    yield make
    for predictor in made:
        await predictor.aclose()


def reply(asked, *outputs: Tensor, binary: bool = False, **more):
    body = InferResponse("tts", outputs, **more).encode(lambda name: binary)
    return asked.whole(body.content, **{name.replace("-", "_"): value for name, value in body.headers.items()})


async def test_it_asks_for_one_phrase_in_binary(predict, kit) -> None:
    predictor, server = await predict()
    wanted = kit.job("Say “tomato”.", speed=1.2, instruct="male", language="en-GB", ipa=(Ipa(5, 11, "təˈmɑːtəʊ"),))
    (chunk,) = await kit.heard(predictor.synthesize(wanted))
    np.testing.assert_allclose(chunk.samples, kit.tone(), atol=1e-4)
    assert (chunk.rate_hz, chunk.is_last, chunk.origin.endpoint) == (24_000, True, server.url)
    asked = InferRequest.decode(server.of("/infer")[0].body)
    assert asked.input("text").texts() == ("Say “tomato”.",)
    assert asked.id
    assert asked.wants_binary("audio")
    assert {name: value for name, value in asked.parameters.items() if name != "ipa"} == {
        "normalized": True,
        "speed": 1.2,
        "voice": "anna",
        "language": "en-GB",
        "instruct": "male",
        "binary_data_output": True,
    }
    assert json.loads(asked.parameters["ipa"]) == [[5, 11, "təˈmɑːtəʊ"]]


def announced(kit, *names: str) -> dict:
    about = {"name": "tts", "platform": "fake", "inputs": [], "outputs": [{"name": name} for name in names]}
    return {"/v2/models/tts": lambda asked: asked.whole(about)}


async def test_the_beginning_of_a_clip_is_heard_while_its_end_is_on_its_way(predict, kit) -> None:
    go_on, tone = asyncio.Event(), kit.tone(2.0)
    audio, rate = Tensor.of_numbers("audio", np.frombuffer(kit.pcm(tone), "<i2")), np.array([16_000], np.int32)

    async def infer(asked) -> None:
        wanted = InferRequest.decode(asked.body)
        response = InferResponse("tts", (audio, Tensor.of_numbers("sample_rate", rate)))
        body = response.encode(wanted.wants_binary)
        await asked.head(Content_Length=str(len(body.content)), **{HEADER_LENGTH.replace("-", "_"): body.header_bytes})
        await asked.raw(body.content[:50_000])
        await go_on.wait()
        await asked.raw(body.content[50_000:])

    predictor, server = await predict(infer, routes=announced(kit, "audio", "mel", "sample_rate"))
    chunks = predictor.synthesize(kit.job("The ferry leaves at nine."))
    first = await anext(chunks)
    go_on.set()
    rest = await kit.heard(chunks)
    np.testing.assert_allclose(kit.sound([first, *rest]), tone, atol=1e-4)
    assert [chunk.is_last for chunk in (first, *rest)] == [False, True]
    assert (first.rate_hz, first.origin.endpoint) == (16_000, server.url)
    asked = InferRequest.decode(server.of("/infer")[0].body)
    assert {wanted.name: wanted.binary for wanted in asked.outputs} == {"audio": True, "sample_rate": False}


async def test_a_clip_that_ends_in_mid_air_is_broken_off_after_its_beginning(predict, kit) -> None:
    async def infer(asked) -> None:
        body = InferResponse("tts", (Tensor.of_numbers("audio", np.zeros(40_000, "<i2")),)).encode(lambda _: True)
        await asked.head(Content_Length=str(len(body.content)), **{HEADER_LENGTH.replace("-", "_"): body.header_bytes})
        await asked.raw(body.content[:60_000])
        asked.writer.close()

    predictor, _ = await predict(infer)
    chunks, heard = predictor.synthesize(kit.job()), []
    with pytest.raises(BrokenOff):
        async for chunk in chunks:
            heard.append(chunk)
    assert [(chunk.samples.size, chunk.is_last) for chunk in heard] == [(9_600, False)]


async def test_a_server_without_the_binary_extension_is_asked_in_json(predict, kit) -> None:
    def infer(asked):
        return reply(asked, Tensor.of_numbers("audio", (kit.tone(0.1) * 32767).astype(np.int16)))

    predictor, server = await predict(infer, extensions=())
    (chunk,) = await kit.heard(predictor.synthesize(kit.job()))
    np.testing.assert_allclose(chunk.samples, kit.tone(0.1), atol=1e-4)
    assert "binary_data_output" not in server.of("/infer")[0].json["parameters"]


def shapes(kit):
    tone = kit.tone(0.1)
    data, clip = kit.pcm(tone), kit.wav(tone)
    stereo = np.stack([tone, tone])
    return {
        "FP32": Tensor.of_numbers("audio", tone),
        "FP64 in a batch": Tensor.of_numbers("audio", tone.astype(np.float64).reshape(1, -1)),
        "two channels": Tensor.of_numbers("audio", stereo),
        "INT16 under another name": Tensor.of_numbers("speech", np.frombuffer(data, "<i2")),
        "INT32": Tensor.of_numbers("audio", (tone.astype(np.float64) * 2**31).astype(np.int32)),
        "UINT8": Tensor.of_numbers("audio", np.frombuffer(data, np.uint8)),
        "UINT8 of WAV": Tensor.of_numbers("audio", np.frombuffer(clip, np.uint8)),
        "base64": Tensor.of_texts("audio", base64.b64encode(data).decode()),
        "base64 of WAV": Tensor.of_texts("audio", base64.b64encode(clip).decode()),
        "base64 in lines": Tensor("audio", "BYTES", (1,), (base64.encodebytes(data),)),
        "base64 for URLs": Tensor("audio", "BYTES", (1,), (base64.urlsafe_b64encode(data),)),
        "a data URL": Tensor.of_texts("audio", "data:audio/wav;base64," + base64.b64encode(clip).decode()),
        "raw BYTES": Tensor("audio", "BYTES", (1,), (data,)),
    }


@pytest.mark.parametrize("shape", ["FP32", "FP64 in a batch", "two channels", "INT16 under another name", "INT32"])
@pytest.mark.parametrize("binary", [False, True])
async def test_sound_as_numbers(predict, kit, shape, binary) -> None:
    predictor, _ = await predict(lambda asked: reply(asked, shapes(kit)[shape], binary=binary))
    (chunk,) = await kit.heard(predictor.synthesize(kit.job()))
    np.testing.assert_allclose(chunk.samples, kit.tone(0.1), atol=1e-4)


@pytest.mark.parametrize(
    "shape",
    [
        "UINT8",
        "UINT8 of WAV",
        "base64",
        "base64 of WAV",
        "base64 in lines",
        "base64 for URLs",
        "a data URL",
        "raw BYTES",
    ],
)
async def test_sound_as_bytes(predict, kit, shape) -> None:
    predictor, _ = await predict(lambda asked: reply(asked, shapes(kit)[shape], binary=shape.startswith("raw")))
    (chunk,) = await kit.heard(predictor.synthesize(kit.job()))
    np.testing.assert_allclose(chunk.samples, kit.tone(0.1), atol=1e-4)


async def test_a_text_beside_the_sound_is_not_taken_for_it(predict, kit) -> None:
    told = Tensor.of_texts("said", "The kettle sings."), Tensor.of_numbers("OUTPUT0", kit.tone(0.1))
    predictor, _ = await predict(lambda asked: reply(asked, *told))
    (chunk,) = await kit.heard(predictor.synthesize(kit.job()))
    np.testing.assert_allclose(chunk.samples, kit.tone(0.1), atol=1e-4)


@pytest.mark.parametrize(
    ("sound", "said"),
    [
        (b"no sound today, sorry", "sent text"),
        (base64.b64encode(b"OggS" + bytes(200)), "encoded file"),
        (base64.b64encode(b"ID3\x04" + bytes(200)), "encoded file"),
        (b"fLaC\xff\xf8" * 30, "encoded file"),
    ],
)
async def test_what_is_no_pcm_is_never_heard_as_noise(predict, kit, sound, said) -> None:
    tensor = Tensor("audio", "BYTES", (1,), (sound,))
    predictor, _ = await predict(lambda asked: reply(asked, tensor, binary=True))
    with pytest.raises(PredictorFailed, match=said):
        await kit.heard(predictor.synthesize(kit.job()))


async def test_an_error_with_status_200_says_what_it_is(predict, kit) -> None:
    predictor, _ = await predict(lambda asked: asked.whole({"error": "CUDA out of memory"}))
    with pytest.raises(PredictorFailed, match="answered with an error: CUDA out of memory"):
        await kit.heard(predictor.synthesize(kit.job()))


async def test_another_sample_rate_is_believed(predict, kit) -> None:
    tone = Tensor.of_numbers("audio", kit.tone(0.1))
    for told in (
        lambda asked: kit.answer_speech(asked, kit.tone(0.1), rate_hz=44_100),
        lambda asked: reply(asked, tone, parameters={"sample_rate": 44_100}),
        lambda asked: reply(asked, Tensor.of_texts("audio", base64.b64encode(kit.wav(kit.tone(0.1), 44_100)).decode())),
    ):
        predictor, _ = await predict(told)
        (chunk,) = await kit.heard(predictor.synthesize(kit.job()))
        assert chunk.rate_hz == predictor.rate_hz("anna") == 44_100


async def test_words_are_the_predictors_own_or_estimated(predict, kit) -> None:
    told = Tensor.of_texts("words", json.dumps([[0, 3, 10, 200], [4, 10, 200, 480.5]]))
    tone = Tensor.of_numbers("audio", kit.tone())
    predictor, _ = await predict(lambda asked: reply(asked, tone, told))
    (chunk,) = await kit.heard(predictor.synthesize(kit.job("The kettle sings.")))
    assert chunk.words == (WordTime(0, 3, 10.0, 200.0), WordTime(4, 10, 200.0, 480.5))
    predictor, _ = await predict(lambda asked: reply(asked, tone))
    (chunk,) = await kit.heard(predictor.synthesize(kit.job("The kettle sings.")))
    assert [(word.start, word.end, word.exact) for word in chunk.words] == [
        (0, 3, False),
        (4, 10, False),
        (11, 16, False),
    ]


async def test_wrong_replies_are_failures(predict, kit) -> None:
    tone = Tensor.of_numbers("audio", kit.tone(0.1))
    good = InferResponse("tts", (tone,)).encode(lambda name: True)
    cut = {"Inference_Header_Content_Length": str(good.header_bytes)}
    wrong = (
        lambda asked: asked.whole(b"{not json"),
        lambda asked: asked.whole(b"\xff\xfe\x00"),
        lambda asked: asked.whole([1, 2, 3]),
        lambda asked: asked.whole({"model_name": "tts"}),
        lambda asked: asked.whole({"model_name": "tts", "outputs": []}),
        lambda asked: asked.whole({"model_name": "tts", "outputs": [{"name": "audio", "datatype": "INT16"}]}),
        lambda asked: asked.whole(
            {"model_name": "t", "outputs": [{"name": "audio", "datatype": "SOUND", "shape": [1], "data": [1]}]}
        ),
        lambda asked: asked.whole(
            {"model_name": "t", "outputs": [{"name": "audio", "datatype": "INT16", "shape": [9], "data": [1]}]}
        ),
        lambda asked: reply(asked, Tensor.of_numbers("audio", np.zeros(9, bool))),
        lambda asked: reply(asked, Tensor.of_numbers("audio", np.zeros(9, np.int64))),
        lambda asked: reply(asked, Tensor.of_numbers("audio", np.zeros(0, np.int16))),
        lambda asked: reply(asked, tone, Tensor.of_numbers("sample_rate", np.array([3], np.int32))),
        lambda asked: reply(asked, tone, Tensor.of_numbers("sample_rate", np.zeros(0, np.int32))),
        lambda asked: reply(asked, tone, Tensor.of_texts("words", "[[1,2]]")),
        lambda asked: asked.whole(good.content[:-3], **cut),
        lambda asked: asked.whole(good.content + b"!", **cut),
        lambda asked: asked.whole(good.content, Inference_Header_Content_Length="-4"),
        lambda asked: asked.whole({"error": "CUDA out of memory"}, 500),
    )
    for number, answer in enumerate(wrong):
        predictor, _ = await predict(answer)
        with pytest.raises(PredictorFailed) as caught:
            await kit.heard(predictor.synthesize(kit.job()))
        assert not isinstance(caught.value, OutOfPatience | BrokenOff), number


async def test_half_a_body_and_no_answer(predict, kit) -> None:
    async def half(asked) -> None:
        await asked.head(Content_Length="9000")
        await asked.raw(b'{"model_name":')
        asked.writer.close()

    async def never(asked) -> None:
        await asyncio.Event().wait()

    for answer, kind in ((half, BrokenOff), (never, OutOfPatience)):
        predictor, _ = await predict(answer, request_s=0.2)
        await predictor.probe()
        with pytest.raises(kind):
            await kit.heard(predictor.synthesize(kit.job()))


async def test_refusals_and_requests_that_nobody_would_take(predict, kit) -> None:
    for status, kind in ((503, Busy), (429, Busy), (400, BadRequest), (404, Missing)):
        predictor, _ = await predict(lambda asked, status=status: asked.whole({"error": "told so"}, status))
        with pytest.raises(kind, match="told so"):
            await kit.heard(predictor.synthesize(kit.job()))


def streamed(*events: bytes, after=None, **headers: str):
    async def answer(asked) -> None:
        await asked.head(Transfer_Encoding="chunked", Content_Type="text/event-stream", **headers)
        for event in events:
            await asked.chunk(event)
        if after is not None:
            await after(asked)
        await asked.raw(b"0\r\n\r\n")

    return {"/generate_stream": answer}


async def test_our_own_engine_is_heard_while_it_speaks(predict, kit) -> None:
    go_on = asyncio.Event()
    word = WordTime(0, 3, 0.0, 90.0)
    last = encode_event(StreamEvent(kit.pcm(kit.tone(0.2)), 16_000, (replace(word, start=4, end=10),), True))

    async def rest(asked) -> None:
        await go_on.wait()
        await asked.chunk(last)

    first = encode_event(StreamEvent(kit.pcm(kit.tone(0.1)), 16_000, (word,)), model_name="tts")
    routes = streamed(first, after=rest, X_Tier="burst", X_Node="node-7", X_Model="hibari", X_Slots="5")
    predictor, server = await predict(extensions=STREAMS, routes=routes)
    chunks = predictor.synthesize(kit.job(speed=0.9))
    chunk = await anext(chunks)
    assert (len(chunk.samples), chunk.rate_hz, chunk.words, chunk.is_last) == (2_400, 16_000, (word,), False)
    assert (chunk.origin.tier, chunk.origin.node, chunk.origin.model) == ("burst", "node-7", "hibari")
    assert predictor.slots == 5
    go_on.set()
    (chunk,) = await kit.heard(chunks)
    assert (len(chunk.samples), chunk.is_last, chunk.origin) == (4_800, True, None)
    asked = server.of("/generate_stream")[0].json
    assert asked["text_input"] == "The kettle sings."
    assert asked["parameters"]["normalized"] is True
    assert asked["parameters"]["speed"] == 0.9
    assert not server.of("/infer")


async def test_a_stream_without_its_last_event_was_cut_short(predict, kit) -> None:
    event = encode_event(StreamEvent(kit.pcm(kit.tone(0.1)), 24_000))
    predictor, _ = await predict(extensions=STREAMS, routes=streamed(event))
    chunks = predictor.synthesize(kit.job())
    await anext(chunks)
    with pytest.raises(BrokenOff):
        await anext(chunks)


async def test_kokoro_fastapi_331_an_error_in_mid_stream_is_an_event(predict, kit) -> None:
    event = encode_event(StreamEvent(kit.pcm(kit.tone(0.1)), 24_000))
    predictor, _ = await predict(extensions=STREAMS, routes=streamed(event, encode_error("the engine fell over")))
    chunks = predictor.synthesize(kit.job())
    await anext(chunks)
    with pytest.raises(PredictorFailed, match="the engine fell over"):
        await anext(chunks)


async def test_an_odd_byte_in_an_event_never_shifts_what_follows(predict, kit) -> None:
    events = [StreamEvent(b"\x10\x00\x7f", 24_000), StreamEvent(b"\x20\x00", 24_000, (), True)]
    predictor, _ = await predict(extensions=STREAMS, routes=streamed(*map(encode_event, events)))
    assert kit.sound(await kit.heard(predictor.synthesize(kit.job()))).tolist() == [16 / 32768, 32 / 32768]
    assert predictor.dropped_bytes == 1


@pytest.mark.parametrize("way", [("binary_tensor_data",), STREAMS])
async def test_leaving_closes_the_connection_at_once(predict, kit, way) -> None:
    async def never(asked) -> None:
        await asyncio.Event().wait()

    predictor, server = await predict(never, extensions=way, routes={"/generate_stream": never})
    await predictor.probe()
    waiting = asyncio.ensure_future(anext(predictor.synthesize(kit.job())))
    await kit.until(lambda: server.asked[-1].method == "POST")
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await kit.until(server.asked[-1].left.is_set)


async def test_a_closed_generator_has_closed_its_connection(predict, kit) -> None:
    async def stay(asked) -> None:
        await asyncio.Event().wait()

    event = encode_event(StreamEvent(kit.pcm(kit.tone(0.1)), 24_000))
    predictor, server = await predict(extensions=STREAMS, routes=streamed(event, after=stay))
    chunks = predictor.synthesize(kit.job())
    await anext(chunks)
    transports = [one._transport for one in gc.get_objects() if type(one) is Exchange]
    assert [transport.is_closing() for transport in transports].count(False) == 1
    await chunks.aclose()
    assert all(transport.is_closing() for transport in transports)
    await kit.until(server.asked[-1].left.is_set)


async def test_what_a_server_says_of_itself(predict, kit) -> None:
    voices = [{"name": "anna", "language": "de", "gender": "female", "aliases": ["nova"]}, {"name": "ben"}]
    predictor, server = await predict(
        slots=6, streams=40, node="n1", tier="floor", voices=voices, languages=["de", "en-GB"], design=True
    )
    info = await predictor.probe()
    assert (predictor.slots, predictor.streams("anna"), info.node, info.tier, info.design) == (
        6,
        40,
        "n1",
        "floor",
        True,
    )
    assert info.voices[0].aliases == ("nova",)
    assert [info.speaks(name) for name in ("anna", "NOVA", "carl", "")] == [True, True, False, True]
    assert info.speaks("", "de-AT")
    assert info.speaks("", "en")
    assert not info.speaks("", "fr")
    await predictor.probe()
    assert len(server.of("/v2")) == 1


@pytest.mark.parametrize(
    "routes",
    [
        {"/v2/health/ready": lambda asked: asked.whole({"error": "Server is not ready."}, 503)},
        {"/v2/health/ready": lambda asked: asked.whole({"ready": False})},
        {"/v2/models/tts": lambda asked: asked.whole({"error": "Model with name tts does not exist."}, 404)},
        {"/v2": lambda asked: asked.whole(b"oops", 500)},
    ],
)
async def test_it_is_not_ready(predict, routes) -> None:
    predictor, _ = await predict(routes=routes)
    with pytest.raises((PredictorFailed, Busy)):
        await predictor.probe()


async def test_a_server_that_says_nothing_of_itself_is_asked_in_json(predict, kit) -> None:
    def infer(asked):
        return reply(asked, Tensor.of_numbers("audio", kit.tone(0.1)))

    predictor, _ = await predict(infer, routes={"/v2": lambda asked: asked.whole({"error": "no such path"}, 404)})
    assert len(kit.sound(await kit.heard(predictor.synthesize(kit.job())))) == 2_400
    assert (predictor.slots, predictor.streams("any")) == (1, 1)


async def test_a_name_that_many_servers_stand_behind() -> None:
    predictor = V2Predictor("tts.example:8080/", slots_behind=25)
    assert (predictor.slots, predictor.streams("any")) == (25, 25)
    await predictor.aclose()
