"""Speech of any server that has `/v1/audio/speech`: what is asked, and what is heard of its answers."""

import asyncio
import base64
import zlib
from itertools import pairwise

import numpy as np
import pytest

from .speech_events import DONE, SPEECH, delta, health


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


async def test_a_fresh_connection_for_every_utterance(predict, kit) -> None:
    predictor, server = await predict(lambda asked: asked.chunked(kit.pcm(kit.tone(0.1))))
    for _ in range(3):
        await kit.heard(predictor.synthesize(kit.job()))
    assert server.connections == 3
    await kit.until(lambda: server.open == 0)


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
