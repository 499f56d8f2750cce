"""What a client of /ws/synthesize hears when all goes well."""

from __future__ import annotations

import asyncio
import io
import struct
from typing import Any

import av
import numpy as np
import pytest

HEAD = 16
TEXT = "The ferry leaves at nine. It carries forty cars, and one very old bus."


def sound(heard: list[Any]) -> bytes:
    return b"".join(frame for frame in heard if isinstance(frame, bytes))


def kinds(heard: list[Any]) -> list[str]:
    """The types of the messages, with runs of sound as one."""
    found: list[str] = []
    for frame in heard:
        kind = "sound" if isinstance(frame, bytes) else frame["type"]
        if not found or (kind, found[-1]) != ("sound", "sound"):
            found.append(kind)
    return found


def of(heard: list[Any], kind: str) -> list[dict[str, Any]]:
    return [frame for frame in heard if isinstance(frame, dict) and frame["type"] == kind]


async def test_a_text_is_spoken_in_order(app, serve):
    async with serve(app) as door, door.connect() as client:
        assert client.socket.subprotocol == "vivavoce.v1"
        heard = await client.speak(TEXT, request_id="r1")
    assert kinds(heard)[:4] == ["accepted", "start", "segment", "sound"]
    assert kinds(heard)[-2:] == ["sound", "done"] or kinds(heard)[-2:] == ["segment_end", "done"]
    assert all(message["request_id"] == "r1" for message in heard if isinstance(message, dict))
    segments = of(heard, "segment")
    assert "".join(segment["text"] for segment in segments) == TEXT
    assert [TEXT[segment["start"] : segment["end"]] for segment in segments] == [s["text"] for s in segments]
    assert [end["index"] for end in of(heard, "segment_end")] == [segment["index"] for segment in segments]
    (done,) = of(heard, "done")
    assert done["outcome"] == "ok"
    assert done["bytes"] == len(sound(heard))
    assert done["audio_ms"] == pytest.approx(len(sound(heard)) / 48, abs=0.2)
    assert done["ttfa_ms"] is not None
    moments = [
        done["timeline"][name] for name in ("received", "admitted", "first_segment", "slot", "first_audio", "ended")
    ]
    assert moments == sorted(moments)


async def test_openai_agents_1824_every_frame_holds_whole_samples(app, predictor, serve):
    predictor.chunk_ms = 33.337
    predictor.chunks = 9
    async with serve(app) as door, door.connect() as client:
        heard = await client.speak(TEXT, sample_rate=44_100)
    frames = [frame for frame in heard if isinstance(frame, bytes)]
    assert len(frames) > 3
    assert all(frame and len(frame) % 2 == 0 for frame in frames)


async def test_the_first_segment_is_told_before_the_second_is_made(app, predictor, serve, until):
    predictor.hold_at = 0
    async with serve(app) as door, door.connect() as client:
        await client.say("synthesize", text=TEXT)
        await until(lambda: predictor.active == 1)
        predictor.hold_at = None
        predictor.gate.set()
        heard = await client.until("done")
    assert len(predictor.jobs) == 2
    assert kinds(heard).index("sound") < kinds(heard).index("segment_end")


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
async def test_the_start_tells_the_rate_of_the_sound(app, serve, rate_hz):
    async with serve(app) as door, door.connect() as client:
        heard = await client.speak("One, two, three.", sample_rate=rate_hz)
    (start,), (done,) = of(heard, "start"), of(heard, "done")
    assert (start["sample_rate"], start["channels"], start["format"]) == (rate_hz, 1, "pcm")
    assert len(sound(heard)) / 2 / rate_hz * 1000 == pytest.approx(done["audio_ms"], abs=0.2)


@pytest.mark.parametrize("name", ["mp3", "opus", "flac", "aac", "wav"])
async def test_other_formats_are_one_file(app, serve, name):
    async with serve(app) as door, door.connect() as client:
        heard = await client.speak(TEXT, format=name)
    (start,), (done,) = of(heard, "start"), of(heard, "done")
    assert start["format"] == name
    with av.open(io.BytesIO(sound(heard))) as file:
        frames = sum(frame.samples for frame in file.decode(audio=0))
        rate_hz = file.streams.audio[0].rate
    assert frames / rate_hz * 1000 == pytest.approx(done["audio_ms"], abs=150)


async def test_words_come_before_the_sound_in_which_they_end(app, serve):
    async with serve(app) as door, door.connect() as client:
        heard = await client.speak(TEXT, word_timestamps=True)
    played_ms, words = 0.0, []
    for frame in heard:
        if isinstance(frame, bytes):
            played_ms += len(frame) / 48
        elif frame["type"] == "words":
            assert all(word["end_ms"] >= played_ms - 1 for word in frame["words"])
            words += frame["words"]
    assert [TEXT[word["start"] : word["end"]] for word in words] == [word["word"] for word in words]
    assert len(words) == len(TEXT.split())


async def test_words_are_not_told_unasked(app, serve):
    async with serve(app) as door, door.connect() as client:
        assert "words" not in kinds(await client.speak(TEXT))


async def test_several_utterances_in_a_row_on_one_connection(app, serve):
    async with serve(app) as door, door.connect() as client:
        for turn in range(5):
            heard = await client.speak(f"Turn number {turn}.")
            assert of(heard, "done")[0]["outcome"] == "ok"
            assert of(heard, "start")[0]["generation"] == turn + 1
        assert door.ended("ok") == 5


async def test_the_voice_and_language_are_the_clients_choice(app, predictor, serve):
    async with serve(app) as door, door.connect() as client:
        await client.speak("Guten Tag zusammen.", voice="otto", language="de", speed=1.5)
    (job,) = predictor.jobs
    assert (job.voice, job.phrase.language, job.speed) == ("otto", "de", 1.5)


async def test_two_utterances_at_once_do_not_mix(app, predictor, serve):
    predictor.pitches = {"Alpha": 300.0, "Beta": 900.0}
    predictor.chunks, predictor.step_s = 12, 0.001
    async with serve(app) as door, door.connect() as client:
        await client.say("synthesize", request_id="a", text="Alpha speaks low.", framing="header")
        await client.say("synthesize", request_id="b", text="Beta speaks high.", framing="header")
        heard = await client.until("done")
        heard += await client.until("done")
    owner = {start["generation"]: start["request_id"] for start in of(heard, "start")}
    pcm: dict[str, bytes] = {"a": b"", "b": b""}
    turns = []
    for frame in heard:
        if isinstance(frame, bytes):
            generation, _, offset = struct.unpack("<IIQ", frame[:HEAD])
            name = owner[generation]
            assert offset * 2 == len(pcm[name])
            pcm[name] += frame[HEAD:]
            turns.append(name)
    assert "ab" in "".join(turns) and "ba" in "".join(turns)
    assert pitch(pcm["a"]) == pytest.approx(300, rel=0.05)
    assert pitch(pcm["b"]) == pytest.approx(900, rel=0.05)
    assert {done["request_id"] for done in of(heard, "done")} == {"a", "b"}


def pitch(pcm: bytes) -> float:
    samples = np.frombuffer(pcm, "<i2").astype(np.float32)
    loud = samples[2_400:-2_400]
    return float(np.sum(np.diff((loud >= 0).astype(int)) > 0) / (loud.size / 24_000))


async def test_a_client_without_a_subprotocol_is_served_too(app, serve):
    async with serve(app) as door, door.connect(subprotocols=None) as client:
        assert client.socket.subprotocol is None
        assert of(await client.speak("Come in."), "done")[0]["outcome"] == "ok"


async def test_nexent_2747_a_slow_reader_gets_all_of_it(app, predictor, serve):
    predictor.chunks, predictor.chunk_ms = 30, 1_000.0
    options = {"max_queue": 1}
    async with serve(app) as door, door.connect(**options) as client:
        await client.say("synthesize", text="A long story, which takes half a minute.", lead_ms=15_000)
        heard: list[Any] = []
        while not heard or not (isinstance(heard[-1], dict) and heard[-1]["type"] == "done"):
            await asyncio.sleep(0.005)
            heard.append(await client.hear())
        assert len(sound(heard)) >= 29_000 * 48
        assert heard[-1]["bytes"] == len(sound(heard))
        await client.say("ping", id="still here")
        assert await client.hear() == {"type": "pong", "id": "still here"}
