import asyncio
import base64
import collections
import gzip
import json
import random
import zlib
from itertools import pairwise

import numpy as np
import pytest

from vivavoce.audio import encoder_for, format_named
from vivavoce.errors import BadRequest, Busy, PredictorFailed, UnknownVoice, VivavoceError
from vivavoce.predictors.faults import BrokenOff, OutOfPatience, Unreachable
from vivavoce.predictors.http_speech import HttpSpeechPredictor
from vivavoce.predictors.remote import Times
from vivavoce.predictors.upstream import MAX_BODY_BYTES, MAX_STREAM_BYTES

SPEECH = "/v1/audio/speech"


@pytest.fixture
async def predict(serve):
    """A predictor in front of a server that answers speech as told."""
    made = []

    async def make(answer, **kw) -> tuple[HttpSpeechPredictor, object]:
        server = await serve({SPEECH: answer, **kw.pop("routes", {})})
        predictor = HttpSpeechPredictor(server.url + "/v1", times=Times(kw.pop("request_s", 5.0), 1.0), **kw)
        made.append(predictor)
        return predictor, server

    yield make
    for predictor in made:
        await predictor.aclose()


def delta(data: bytes, **more) -> bytes:
    body = {"type": "speech.audio.delta", "audio": base64.b64encode(data).decode(), "response_format": "pcm"} | more
    return b"event: speech.audio.delta\ndata: " + json.dumps(body).encode() + b"\n\n"


DONE = b'event: speech.audio.done\ndata: {"type":"speech.audio.done","usage":{"total_tokens":9}}\n\n'


async def test_raw_pcm_leaves_while_it_comes(predict, kit) -> None:
    go_on = asyncio.Event()
    half = kit.pcm(kit.tone(0.25))

    async def answer(asked) -> None:
        await asked.head(Transfer_Encoding="chunked", Content_Type="audio/pcm")
        await asked.chunk(half)
        await go_on.wait()
        await asked.chunk(half)
        await asked.raw(b"0\r\n\r\n")

    predictor, server = await predict(answer)
    chunks = predictor.synthesize(kit.job())
    first = await anext(chunks)
    assert len(first.samples) == 6_000
    assert first.origin is not None and first.origin.endpoint == server.url
    assert first.rate_hz == 24_000
    go_on.set()
    rest = await kit.heard(chunks)
    assert sum(len(chunk.samples) for chunk in rest) == 6_000
    assert [chunk.origin for chunk in rest] == [None] * len(rest)
    assert rest[-1].is_last


async def test_it_asks_in_the_way_that_every_version_streams(predict, kit) -> None:
    predictor, server = await predict(lambda asked: asked.chunked(kit.pcm(kit.tone())), model="m")
    await kit.heard(predictor.synthesize(kit.job(instruct="female, whisper")))
    (asked,) = server.asked
    assert asked.json == {
        "input": "The kettle sings.",
        "model": "m",
        "voice": "anna",
        "instructions": "female, whisper",
        "language": "en",
        "speed": 1.0,
        "response_format": "pcm",
        "stream": True,
        "stream_format": "audio",
    }


@pytest.mark.parametrize("sizes", [(1,), (3, 1, 4063, 1697), (4063,), (2, 5)])
async def test_openai_agents_python_1824_odd_bytes_become_whole_samples(predict, kit, sizes) -> None:
    wanted = kit.pcm(kit.tone(0.2))
    pieces, at = [], 0
    while at < len(wanted):
        size = sizes[len(pieces) % len(sizes)] if len(wanted) < 3 * 4063 * 3 and sizes != (1,) else 997
        pieces.append(wanted[at : at + size])
        at += size
    predictor, _ = await predict(lambda asked: asked.chunked(*pieces, Content_Type="audio/pcm"))
    chunks = await kit.heard(predictor.synthesize(kit.job()))
    assert kit.pcm(kit.sound(chunks)) == wanted
    assert predictor.dropped_bytes == 0


async def test_pipecat_4952_a_trailing_odd_byte_is_dropped_and_counted(predict, kit) -> None:
    wanted = kit.pcm(kit.tone(0.1))
    predictor, _ = await predict(lambda asked: asked.chunked(wanted + b"\x7f", Content_Type="audio/pcm"))
    assert kit.pcm(kit.sound(await kit.heard(predictor.synthesize(kit.job())))) == wanted
    assert predictor.dropped_bytes == 1


@pytest.mark.parametrize("kind", ["audio/pcm", "audio/wav", "application/octet-stream", ""])
@pytest.mark.parametrize("length", [None, 0xFFFFFFFF, 0x7FFFFFFF, 2_000_000_000])
async def test_chatterbox_tts_api_11_a_header_is_never_heard(predict, kit, kind, length) -> None:
    clip, wanted = kit.wav(kit.tone(0.2), 44_100, length=length), kit.tone(0.2)
    pieces = [clip[:3], clip[3:29], clip[29:60], clip[60:]]
    headers = {"Content_Type": kind} if kind else {}
    predictor, _ = await predict(lambda asked: asked.chunked(*pieces, **headers))
    chunks = await kit.heard(predictor.synthesize(kit.job()))
    assert {chunk.rate_hz for chunk in chunks} == {44_100}
    np.testing.assert_allclose(kit.sound(chunks), wanted, atol=1e-4)
    assert predictor.rate_hz("anna") == 44_100


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "GZIP", "deflate", "raw deflate", "identity"])
@pytest.mark.parametrize("is_chunked", [True, False])
async def test_a_proxy_that_packs_unasked_is_unpacked(predict, kit, coding, is_chunked) -> None:
    wanted, content = kit.tone(0.2), kit.pcm(kit.tone(0.2))
    bits = {"identity": 0, "raw deflate": -15, "deflate": 15}.get(coding, 31)
    packer = zlib.compressobj(wbits=bits or 15)
    packed = packer.compress(content) + packer.flush() if bits else content
    headers = {"Content_Type": "audio/pcm", "Content_Encoding": coding.removeprefix("raw ")}
    pieces = [packed[:1], packed[1:100], packed[100:]]
    predictor, server = await predict(
        lambda asked: asked.chunked(*pieces, **headers) if is_chunked else asked.whole(packed, **headers)
    )
    np.testing.assert_allclose(kit.sound(await kit.heard(predictor.synthesize(kit.job()))), wanted, atol=1e-4)
    assert server.asked[0].headers["accept-encoding"] == "identity"


async def test_a_packed_refusal_still_says_why(predict, kit) -> None:
    body = gzip.compress(json.dumps({"error": {"message": "The card is on fire."}}).encode())
    predictor, _ = await predict(lambda asked: asked.whole(body, 500, Content_Encoding="gzip"))
    with pytest.raises(PredictorFailed, match="500: The card is on fire"):
        await kit.heard(predictor.synthesize(kit.job()))


@pytest.mark.parametrize(
    ("coding", "body", "said"),
    [
        ("br", b"\x0b\x02\x80abcd\x03", "packed as 'br'"),
        ("gzip", b"\x00\x01" * 50, "not the gzip"),
        ("deflate", b"\xff\xff" * 50, "not the deflate"),
        ("gzip", gzip.compress(bytes(9_000))[:-9], "not the gzip"),
        ("gzip", gzip.compress(bytes(MAX_BODY_BYTES + 2)), "longer than"),
    ],
)
async def test_packing_that_cannot_be_undone_is_never_heard(predict, kit, coding, body, said) -> None:
    predictor, _ = await predict(lambda asked: asked.whole(body, Content_Type="audio/pcm", Content_Encoding=coding))
    with pytest.raises(PredictorFailed, match=said):
        await kit.heard(predictor.synthesize(kit.job()))


@pytest.mark.parametrize("kind", ["audio/pcm; rate=16000; channels=2", 'audio/pcm;channels="2";rate="16000"'])
async def test_two_channels_of_raw_sound_become_one(predict, kit, kind) -> None:
    wanted = kit.tone(0.2, rate_hz=16_000)
    both = np.repeat(wanted, 2)
    predictor, _ = await predict(
        lambda asked: asked.chunked(kit.pcm(both)[:1001], kit.pcm(both)[1001:], Content_Type=kind)
    )
    chunks = await kit.heard(predictor.synthesize(kit.job()))
    assert {chunk.rate_hz for chunk in chunks} == {16_000}
    np.testing.assert_allclose(kit.sound(chunks), wanted, atol=1e-4)


async def test_kokoro_fastapi_94_a_file_for_every_piece_is_one_sound(predict, kit) -> None:
    piece = kit.tone(0.1)
    predictor, _ = await predict(lambda asked: asked.chunked(*[kit.wav(piece)] * 3, Content_Type="audio/wav"))
    np.testing.assert_allclose(
        kit.sound(await kit.heard(predictor.synthesize(kit.job()))), np.tile(piece, 3), atol=1e-4
    )


async def test_omnivoice_a_whole_clip_in_wav_with_words(predict, kit) -> None:
    predictor, _ = await predict(lambda asked: asked.whole(kit.wav(kit.tone(1.0)), Content_Type="audio/wav"))
    (chunk,) = await kit.heard(predictor.synthesize(kit.job("Two words.")))
    assert (len(chunk.samples), chunk.rate_hz, chunk.is_last) == (24_000, 24_000, True)
    assert [(word.start, word.end, word.exact) for word in chunk.words] == [(0, 3, False), (4, 9, False)]
    assert chunk.words[-1].end_ms <= 1_001


@pytest.mark.parametrize("crlf", [False, True])
@pytest.mark.parametrize("cut", [1, 7, 1000])
async def test_vllm_omni_024_events_where_raw_sound_was_asked_for(predict, kit, crlf, cut) -> None:
    wanted = kit.pcm(kit.tone(0.1))
    body = delta(wanted[:1001]) + b": still here\n\n" + delta(wanted[1001:]) + DONE
    body = body.replace(b"\n", b"\r\n") if crlf else body
    pieces = [body[at : at + cut] for at in range(0, len(body), cut)]
    predictor, _ = await predict(lambda asked: asked.chunked(*pieces, Content_Type="text/event-stream; charset=utf-8"))
    assert kit.pcm(kit.sound(await kit.heard(predictor.synthesize(kit.job())))) == wanted


async def test_speaches_events_with_wav_inside_and_an_end_without_a_name(predict, kit) -> None:
    clip = kit.wav(kit.tone(0.2), 22_050, length=0xFFFFFFFF)
    event = b'data:{"delta":"' + base64.b64encode(clip) + b'"}\n\ndata: [DONE]\n\n'
    predictor, _ = await predict(lambda asked: asked.chunked(event, Content_Type="text/event-stream"))
    chunks = await kit.heard(predictor.synthesize(kit.job()))
    assert {chunk.rate_hz for chunk in chunks} == {22_050}
    np.testing.assert_allclose(kit.sound(chunks), kit.tone(0.2), atol=1e-4)


async def test_vllm_omni_an_error_in_mid_stream_is_an_error(predict, kit) -> None:
    body = delta(kit.pcm(kit.tone(0.1))) + (
        b'event: speech.audio.error\ndata: {"type":"speech.audio.error","error":{"message":"codec fell over"}}\n\n'
    )
    predictor, _ = await predict(lambda asked: asked.chunked(body, Content_Type="text/event-stream"))
    chunks = predictor.synthesize(kit.job())
    assert len((await anext(chunks)).samples)
    with pytest.raises(PredictorFailed, match="codec fell over"):
        await anext(chunks)


async def test_vllm_omni_speed_is_not_streamed_so_it_is_asked_for_whole(predict, kit) -> None:
    async def answer(asked) -> None:
        if asked.json.get("stream") and asked.json["speed"] != 1.0:
            await asked.whole({"error": {"message": "Streaming needs speed 1.0", "type": "BadRequestError"}}, 400)
        else:
            await asked.whole(kit.pcm(kit.tone(0.1)), Content_Type="audio/pcm")

    predictor, server = await predict(answer)
    for speed in (1.3, 1.3, 1.0, 1.3):
        assert len(await kit.heard(predictor.synthesize(kit.job(speed=speed)))) == 1
    assert [asked.json.get("stream") for asked in server.asked] == [True, None, None, True, None]
    assert {asked.json["language"] for asked in server.asked} == {"en"}


async def test_openai_a_server_that_takes_only_its_own_fields(predict, kit) -> None:
    known = {"model", "input", "voice", "instructions", "response_format", "speed"}

    async def answer(asked) -> None:
        if set(asked.json) - known:
            await asked.whole({"error": {"message": "Unrecognized request argument"}}, 400)
        else:
            await asked.chunked(kit.pcm(kit.tone(0.1)), Content_Type="audio/pcm")

    predictor, server = await predict(answer, model="tts-1")
    for _ in range(2):
        assert len(kit.sound(await kit.heard(predictor.synthesize(kit.job())))) == 2_400
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (400, {"error": {"message": "No voice is called that. There are: a, b"}}, UnknownVoice, "are: a, b"),
        (422, {"detail": "what"}, BadRequest, "422"),
        (429, {"error": "slow down"}, Busy, "slow down"),
        (503, {"error": "full"}, Busy, "full"),
        (500, {"error": {"message": "CUDA out of memory"}}, PredictorFailed, "CUDA"),
        (502, b"<html>bad gateway</html>", PredictorFailed, "502"),
        (404, {"error": {"message": "The model does not exist."}}, PredictorFailed, "does not exist"),
        (302, b"", PredictorFailed, "302: moved to /elsewhere"),
        (500, b"\x1f\x8b\x08\x00", PredictorFailed, "answered 500.$"),
        (500, b"no\x00 room\x1b[2J" + "é".encode()[:1], PredictorFailed, "500: no room \\[2J$"),
        (204, b"", PredictorFailed, "204"),
    ],
)
async def test_every_refusal_has_its_error(predict, kit, status, body, kind, said) -> None:
    predictor, server = await predict(lambda asked: asked.whole(body, status, Retry_After="7", Location="/elsewhere"))
    with pytest.raises(kind, match=said) as caught:
        await kit.heard(predictor.synthesize(kit.job()))
    assert len(server.asked) == (3 if kind is BadRequest else 1)
    if kind is Busy:
        assert caught.value.retry_after_s == 7


async def test_faults_of_the_body(predict, kit, subtests=None) -> None:
    half = kit.pcm(kit.tone(0.2))

    async def cut_chunked(asked) -> None:
        await asked.chunked(half, end=False)
        asked.writer.close()

    async def cut_length(asked) -> None:
        await asked.head(Content_Length=str(len(half) * 2), Content_Type="audio/pcm")
        await asked.raw(half)
        asked.writer.close()

    async def cut_wav(asked) -> None:
        await asked.chunked(kit.wav(kit.tone(0.2))[:-50], Content_Type="audio/wav")

    async def reset(asked) -> None:
        await asked.chunked(half, end=False)
        await asyncio.sleep(0.01)
        asked.reset()

    async def no_reply(asked) -> None:
        asked.writer.close()

    async def no_http(asked) -> None:
        await asked.raw(b"\x00\x01 what is this\r\n\r\n")
        asked.writer.close()

    async def bad_chunk(asked) -> None:
        await asked.chunked(half, end=False)
        await asked.raw(b"zzzz\r\nnonsense")

    async def cut_events(asked) -> None:
        await asked.head(Content_Type="text/event-stream")
        await asked.raw(delta(half))
        asked.writer.close()

    faults = {
        cut_chunked: BrokenOff,
        cut_length: BrokenOff,
        cut_wav: PredictorFailed,
        reset: BrokenOff,
        no_reply: BrokenOff,
        no_http: BrokenOff,
        bad_chunk: BrokenOff,
        cut_events: BrokenOff,
        lambda asked: asked.chunked(Content_Type="audio/pcm"): PredictorFailed,
        lambda asked: asked.whole(b"", Content_Type="audio/pcm"): PredictorFailed,
        lambda asked: asked.whole({"hello": 1}): PredictorFailed,
        lambda asked: asked.whole(b"<html>", Content_Type="text/html"): PredictorFailed,
        lambda asked: asked.whole(b"RIFFxxxx", Content_Type="audio/wav"): PredictorFailed,
        lambda asked: asked.whole(b"data: nonsense\n\n", Content_Type="text/event-stream"): PredictorFailed,
        lambda asked: asked.whole(b'data: {"audio": 7}\n\n', Content_Type="text/event-stream"): PredictorFailed,
        lambda asked: asked.whole(b"\x00" * 9, Content_Type="audio/pcm; rate=1"): PredictorFailed,
    }
    for number, (answer, kind) in enumerate(faults.items()):
        predictor, _ = await predict(answer)
        with pytest.raises(kind) as caught:
            await kit.heard(predictor.synthesize(kit.job()))
        assert not isinstance(caught.value, OutOfPatience), number


async def test_never_answering_and_dripping_end_at_the_limit(predict, kit) -> None:
    async def never(asked) -> None:
        await asyncio.Event().wait()

    async def drip(asked) -> None:
        await asked.head(Transfer_Encoding="chunked")
        while True:
            await asked.chunk(b"\x00")
            await asyncio.sleep(0.02)

    for answer in (never, drip):
        predictor, server = await predict(answer, request_s=0.15)
        with pytest.raises(OutOfPatience, match=r"within 0\.15 s"):
            await kit.heard(predictor.synthesize(kit.job()))
        await kit.until(lambda server=server: server.asked[0].left.is_set())


async def test_sound_without_an_end_is_a_failure(predict, kit) -> None:
    async def endless(asked) -> None:
        await asked.head(Transfer_Encoding="chunked")
        while True:
            await asked.chunk(bytes(500_000))

    predictor, server = await predict(endless)
    total = 0
    with pytest.raises(PredictorFailed, match="longer than"):
        async for chunk in predictor.synthesize(kit.job()):
            total += len(chunk.samples)
    assert total <= MAX_STREAM_BYTES / 2
    await kit.until(lambda: server.open == 0)


async def test_a_file_at_another_rate_says_nothing_about_raw_sound(predict, kit) -> None:
    replies = [
        lambda asked: asked.whole(kit.wav(kit.tone(0.1), 16_000), Content_Type="audio/wav"),
        lambda asked: asked.chunked(kit.pcm(kit.tone(0.1)), Content_Type="audio/pcm"),
        lambda asked: asked.chunked(kit.pcm(kit.tone(0.1)), Content_Type="audio/pcm; rate=44100"),
        lambda asked: asked.chunked(kit.pcm(kit.tone(0.1)), Content_Type="audio/pcm", X_Sample_Rate="48000"),
    ]
    rates = []
    predictor, server = await predict(replies[0])
    for answer in replies:
        server.routes[SPEECH] = answer
        rates.append((await kit.heard(predictor.synthesize(kit.job())))[0].rate_hz)
    assert rates == [16_000, 24_000, 44_100, 48_000]


async def test_a_body_that_ends_with_its_connection(predict, kit) -> None:
    async def old(asked) -> None:
        await asked.head(Content_Type="audio/pcm")
        await asked.raw(kit.pcm(kit.tone(0.1)))
        asked.writer.close()

    predictor, _ = await predict(old)
    assert len(kit.sound(await kit.heard(predictor.synthesize(kit.job())))) == 2_400


@pytest.mark.parametrize(
    ("model", "language", "sent"),
    [
        ("Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice", "de-AT", "German"),
        ("Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice", "sw", "Auto"),
        ("k2-fsa/OmniVoice", "de-AT", "de"),
        ("k2-fsa/OmniVoice", "x-none", "x-none"),
        ("kokoro", "de-AT", "de-AT"),
        ("", "pt-BR", "pt-BR"),
    ],
)
async def test_the_language_in_the_words_of_the_model(predict, kit, model, language, sent) -> None:
    predictor, server = await predict(lambda asked: asked.chunked(kit.pcm(kit.tone(0.1))), model=model)
    await kit.heard(predictor.synthesize(kit.job(language=language)))
    assert server.asked[0].json["language"] == sent


async def test_a_slow_reader_costs_no_patience(predict, kit) -> None:
    async def answer(asked) -> None:
        await asked.head(Transfer_Encoding="chunked")
        for _ in range(4):
            await asked.chunk(kit.pcm(kit.tone(0.1)))
            await asyncio.sleep(0.005)
        await asked.raw(b"0\r\n\r\n")

    predictor, _ = await predict(answer, request_s=0.2)
    total = 0
    async for chunk in predictor.synthesize(kit.job()):
        total += len(chunk.samples)
        await asyncio.sleep(0.1)
    assert total == 9_600


@pytest.mark.parametrize("when", ["before the reply", "in mid-stream"])
async def test_faster_qwen3_tts_130_leaving_closes_the_connection_at_once(predict, kit, when) -> None:
    async def answer(asked) -> None:
        if when == "in mid-stream":
            await asked.head(Transfer_Encoding="chunked")
            await asked.chunk(kit.pcm(kit.tone(0.1)))
        await asyncio.Event().wait()

    predictor, server = await predict(answer)
    chunks = predictor.synthesize(kit.job())
    if when == "in mid-stream":
        await anext(chunks)
        await chunks.aclose()
    else:
        waiting = asyncio.ensure_future(anext(chunks))
        await kit.until(lambda: server.asked)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    await kit.until(lambda: server.asked[0].left.is_set())
    await kit.until(lambda: server.open == 0)


async def test_a_server_that_is_not_there_is_unreachable(kit) -> None:
    predictor = HttpSpeechPredictor("http://127.0.0.1:9/v1")
    with pytest.raises(Unreachable):
        await kit.heard(predictor.synthesize(kit.job()))
    with pytest.raises(Unreachable):
        await predictor.probe()
    await predictor.aclose()


async def test_a_fresh_connection_for_every_utterance(predict, kit) -> None:
    predictor, server = await predict(lambda asked: asked.chunked(kit.pcm(kit.tone(0.1))))
    for _ in range(3):
        await kit.heard(predictor.synthesize(kit.job()))
    assert server.connections == 3
    await kit.until(lambda: server.open == 0)


def health(asked):
    return asked.whole({"status": "healthy"})


@pytest.mark.parametrize(
    ("voices", "names"),
    [
        ({"voices": ["aiden", "vivian"], "uploaded_voices": [{"name": "mine", "consent": "yes"}]}, "aiden vivian mine"),
        ({"voices": [{"id": "af_heart", "name": "Heart"}, {"id": "bm_lewis", "name": "Lewis"}]}, "af_heart bm_lewis"),
        ({"object": "list", "data": [{"voice_id": "ef_dora", "language": "es"}]}, "ef_dora"),
        (["one", {"name": "two"}, 3, {}, {"name": ""}], "one two"),
        ({"voices": None}, ""),
        ("what", ""),
    ],
)
async def test_kokoro_fastapi_462_voices_of_every_shape(predict, kit, voices, names) -> None:
    predictor, _ = await predict(
        lambda asked: asked.whole(kit.wav(kit.tone(0.1), 16_000), Content_Type="audio/wav"),
        routes={"/health": health, "/v1/audio/voices": lambda asked: asked.whole(voices)},
    )
    info = await predictor.probe()
    assert [voice.name for voice in info.voices] == names.split()
    assert predictor.rate_hz("any") == 16_000


async def test_a_model_is_asked_for_by_the_name_that_is_listed(predict, kit) -> None:
    models = {"object": "list", "data": [{"id": "whisper-1"}, {"id": "k2-fsa/OmniVoice"}]}
    predictor, server = await predict(
        lambda asked: asked.whole(kit.wav(kit.tone(0.1)), Content_Type="audio/wav"),
        routes={"/health": health, "/v1/models": lambda asked: asked.whole(models)},
        model="tts",
    )
    info = await predictor.probe()
    assert (info.model, info.design) == ("k2-fsa/OmniVoice", True)
    await kit.heard(predictor.synthesize(kit.job(voice="", language="ar", instruct="male")))
    asked = server.of(SPEECH)[-1].json
    assert (asked["model"], asked["language"], "voice" in asked) == ("k2-fsa/OmniVoice", "arb", False)


async def test_it_is_ready_once_it_has_spoken(predict, kit) -> None:
    works = False

    async def answer(asked) -> None:
        await (asked.whole(kit.wav(kit.tone(0.1))) if works else asked.whole({"error": "weights are loading"}, 500))

    predictor, server = await predict(answer, routes={"/health": health})
    for _ in range(2):
        with pytest.raises(PredictorFailed, match="weights are loading"):
            await predictor.probe()
    works = True
    await predictor.probe()
    await predictor.probe()
    assert len(server.of(SPEECH)) == 3
    server.routes["/health"] = lambda asked: asked.whole({"status": "unhealthy"}, 503)
    with pytest.raises(Busy):
        await predictor.probe()
    server.routes["/health"] = health
    await predictor.probe()
    assert len(server.of(SPEECH)) == 4


async def test_a_server_without_a_health_page_is_up(predict, kit) -> None:
    predictor, _ = await predict(lambda asked: asked.whole({"error": "voice is required"}, 400))
    assert (await predictor.probe()).voices == ()


async def test_words_come_with_the_sound_each_once(predict, kit) -> None:
    text = "Sixteen small words are spoken here one after another while the whole sound still keeps coming."
    pieces = [kit.pcm(kit.tone(0.25))] * 20
    predictor, _ = await predict(lambda asked: asked.chunked(*pieces, Content_Type="audio/pcm"))
    at_ms, words, halfway = 0.0, [], False
    async for chunk in predictor.synthesize(kit.job(text)):
        words += chunk.words
        at_ms += len(chunk.samples) / 24
        assert all(word.end_ms <= at_ms + 1e-6 for word in chunk.words)
        halfway = halfway or (1 < len(words) < 16 and at_ms < 3_000)
    assert [text[word.start : word.end] for word in words] == text.rstrip(".").split()
    assert halfway
    assert all(one.end_ms <= two.start_ms + 1e-6 for one, two in pairwise(words))
    assert words[-1].end_ms <= 5_000.1
    assert not any(word.exact for word in words)


@pytest.mark.parametrize("name", ["mp3", "opus", "flac", "aac"])
async def test_a_server_that_gives_pcm_to_nobody(predict, kit, name) -> None:
    encoder = encoder_for(name, 24_000, streamed=False)
    clip = encoder.encode(kit.tone(1.0)) + encoder.finish()
    predictor, _ = await predict(lambda asked: asked.chunked(clip, Content_Type=format_named(name).content_type))
    (chunk,) = await kit.heard(predictor.synthesize(kit.job()))
    assert abs(len(chunk.samples) / chunk.rate_hz - 1.0) < 0.12
    spectrum = np.abs(np.fft.rfft(chunk.samples))
    assert abs(np.argmax(spectrum) * chunk.rate_hz / len(chunk.samples) - 220) < 3
    predictor, _ = await predict(lambda asked: asked.chunked(b"\x00" * 400, Content_Type="audio/mpeg"))
    with pytest.raises(PredictorFailed):
        await kit.heard(predictor.synthesize(kit.job()))


def omni(kit, version: float, wanted: np.ndarray):
    """vLLM-Omni's route as that version has it."""

    def refuse(asked, message: str):
        return asked.whole({"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}}, 400)

    async def answer(asked) -> None:
        told = asked.json
        streamed, form = told.get("stream", False), told.get("stream_format", "audio" if version < 0.24 else None)
        sound = told.get("response_format", "wav")
        if version < 0.24 and form == "sse":
            return await refuse(asked, "'sse' is not a supported stream_format yet")
        if streamed and sound not in ("pcm", "wav"):
            return await refuse(asked, "Streaming needs response_format 'pcm' or 'wav'")
        if streamed and told.get("speed", 1.0) != 1.0:
            return await refuse(asked, "Streaming takes no speed adjustment")
        body = kit.pcm(wanted) if sound == "pcm" else kit.wav(wanted, length=0xFFFFFFFF if streamed else None)
        if not streamed:
            return await asked.whole(body, Content_Type=f"audio/{sound}")
        if version < 0.24 or form == "audio":
            return await asked.chunked(body[:333], body[333:], Content_Type=f"audio/{sound}")
        return await asked.chunked(delta(body), DONE, Content_Type="text/event-stream")

    return answer


@pytest.mark.parametrize("version", [0.20, 0.22, 0.24, 0.26, 0.28, 0.30])
@pytest.mark.parametrize("speed", [1.0, 0.8])
async def test_vllm_omni_drift_gives_the_same_sound(predict, kit, version, speed) -> None:
    wanted = kit.tone(0.2)
    predictor, server = await predict(omni(kit, version, wanted), routes={"/health": health})
    await predictor.probe()
    for _ in range(2):
        heard = kit.sound(await kit.heard(predictor.synthesize(kit.job(speed=speed, instruct="male"))))
        np.testing.assert_allclose(heard, wanted, atol=1e-4)
    assert {asked.json.get("instructions") for asked in server.of(SPEECH)[1:]} == {"male"}


async def test_kokoro_fastapi_streams_by_default_and_says_no_length(predict, kit) -> None:
    async def answer(asked) -> None:
        assert asked.json["voice"] == "af_bella(2)+af_sky(1)"
        pieces = np.array_split(kit.tone(0.4), 5)
        await asked.chunked(*map(kit.pcm, pieces), Content_Type="audio/pcm", X_Accel_Buffering="no")

    predictor, _ = await predict(answer)
    np.testing.assert_allclose(
        kit.sound(await kit.heard(predictor.synthesize(kit.job(voice="af_bella(2)+af_sky(1)")))),
        kit.tone(0.4),
        atol=1e-4,
    )


HOSTILE = (
    b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 9\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 100_000 + b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"X-Many: a\r\n" * 5_000 + b"\r\n",
    b"HTTP/1.1 200 OK\r\nBad Header: x\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nX: \xff\xfe\x00\r\n\r\nabc",
    b"HTTP/1.1 2000 OK\r\n\r\n",
    b"HTTP/1.1 abc OK\r\n\r\n",
    b"HTTP/9.9 200 OK\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabc",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\nabc",
    b'HTTP/1.1 200 OK\r\nContent-Type: ;;;="\\\r\nContent-Length: 3\r\n\r\nabc',
    b"HTTP/1.1 200 OK\r\nContent-Type: audio/pcm; rate=99999999999999999999\r\nContent-Length: 4\r\n\r\nabcd",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc",
    b"SSH-2.0-OpenSSH_9.9\r\n",
    b"\x16\x03\x01\x02\x00\x01",
    b"",
)


async def test_whatever_a_server_answers_it_is_sound_or_a_typed_error(predict, kit) -> None:
    chance = random.Random(45)
    whole = b"HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n"
    events = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + delta(b"abcdef") + DONE
    replies = list(HOSTILE)
    for number in range(200):
        reply = bytearray((whole, events)[number % 2])
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(reply))
            reply[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
        replies.append(bytes(reply))

    async def answer(asked) -> None:
        await asked.raw(replies[0])
        asked.writer.close()

    predictor, server = await predict(answer, request_s=2.0)
    outcomes = collections.Counter()
    while replies:
        try:
            async for chunk in predictor.synthesize(kit.job()):
                assert np.isfinite(chunk.samples).all()
            outcomes["sound"] += 1
        except VivavoceError as error:
            outcomes[type(error).__name__] += 1
        del replies[0]
    assert outcomes["OutOfPatience"] == 0, outcomes
    assert outcomes["sound"] > 20 < outcomes["BrokenOff"], outcomes
    await kit.until(lambda: server.open == 0)
