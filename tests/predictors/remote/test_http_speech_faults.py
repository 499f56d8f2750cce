"""Speech servers that refuse, break off, say nothing or nonsense."""

import asyncio
import collections
import gzip
import json
import random

import numpy as np
import pytest

from vivavoce.audio import encoder_for, format_named
from vivavoce.errors import BadRequest, Busy, PredictorFailed, UnknownVoice, VivavoceError
from vivavoce.predictors.faults import BrokenOff, OutOfPatience, Unreachable, fault_of
from vivavoce.predictors.http_speech import HttpSpeechPredictor
from vivavoce.predictors.upstream import MAX_BODY_BYTES, MAX_STREAM_BYTES

from .speech_events import DONE, delta


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


async def test_vllm_omni_an_error_in_mid_stream_is_an_error(predict, kit) -> None:
    body = delta(kit.pcm(kit.tone(0.1))) + (
        b'event: speech.audio.error\ndata: {"type":"speech.audio.error","error":{"message":"codec fell over"}}\n\n'
    )
    predictor, _ = await predict(lambda asked: asked.chunked(body, Content_Type="text/event-stream"))
    chunks = predictor.synthesize(kit.job())
    assert len((await anext(chunks)).samples)
    with pytest.raises(PredictorFailed, match="codec fell over"):
        await anext(chunks)


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


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("2", 2),
        ("0.5", 0.5),
        ("-1", 0),
        ("86400", 60),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 60),
        ("", None),
        ("soon", None),
        ("Fri, 99 Dec 2026 23:59:59 GMT", None),
    ],
)
def test_when_to_come_back_is_told_in_seconds_or_as_a_date(told, seconds) -> None:
    busy = fault_of(503, b"", {"Retry-After": told})
    assert isinstance(busy, Busy)
    assert busy.retry_after_s == seconds


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


async def test_a_server_that_is_not_there_is_unreachable(kit) -> None:
    predictor = HttpSpeechPredictor("http://127.0.0.1:9/v1")
    with pytest.raises(Unreachable):
        await kit.heard(predictor.synthesize(kit.job()))
    with pytest.raises(Unreachable):
        await predictor.probe()
    await predictor.aclose()


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
