"""The door with the voice that comes in hibari's wheel."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI

from vivavoce.api import create_app
from vivavoce.config import Settings

pytestmark = pytest.mark.models
pytest.importorskip("hibari")

TEXT = (
    "The night train was late again. A guard walked along the platform, lamp in hand, and told everybody why. "
    "Snow had closed the pass at half past nine. Tea was served, and nobody complained."
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIVAVOCE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture
def app(home: None) -> FastAPI:
    return create_app(Settings(token_secret="shared-between-gateways", cache_mb=0))


def sound(heard: list[Any]) -> np.ndarray:
    return np.frombuffer(b"".join(frame for frame in heard if isinstance(frame, bytes)), "<i2")


def words(heard: list[Any]) -> list[dict[str, Any]]:
    told = [frame for frame in heard if isinstance(frame, dict) and frame["type"] == "words"]
    return [word for message in told for word in message["words"]]


async def test_a_text_typed_bit_by_bit_is_spoken_as_it_is_when_whole(app, serve):
    async with serve(app) as door, door.connect() as client:
        whole = await client.speak(TEXT, word_timestamps=True, lead_ms=15_000)
        await client.say("synthesize", stream=True, word_timestamps=True, lead_ms=15_000)
        for start in range(0, len(TEXT), 7):
            await client.say("text", text=TEXT[start : start + 7])
        await client.say("end")
        pieces = await client.until("done")
    assert whole[-1]["outcome"] == pieces[-1]["outcome"] == "ok"
    assert np.array_equal(sound(whole), sound(pieces))
    assert np.abs(sound(whole)).max() > 3_000
    assert words(whole) == words(pieces)
    assert [word["word"] for word in words(whole)] == [word.strip(".,") for word in TEXT.split()]
    assert all(word["exact"] for word in words(whole))


async def test_speech_that_broke_off_goes_on_without_a_lost_or_doubled_word(app, serve, until):
    async with serve(app) as door:
        async with door.connect() as client:
            await client.say("synthesize", text=TEXT, word_timestamps=True, lead_ms=15_000)
            heard = await client.until("start")
            token = heard[-1]["resume_token"]
            heard += await client.until("segment_end")
            heard += await client.until("words")
            client.leave()
        received_ms = sound(heard).size / 24
        kept = [word for word in words(heard) if word["end_ms"] <= received_ms]
        offset = kept[-1]["end"] + 1
        async with door.connect() as client:
            await client.say("resume", token=token, text=TEXT[offset:], offset=offset)
            rest = await client.until("done")
        await until(lambda: door.idle)
    spoken = kept + words(rest)
    assert rest[-1]["outcome"] == "ok"
    assert [TEXT[word["start"] : word["end"]] for word in spoken] == [word.strip(".,") for word in TEXT.split()]


async def test_a_cancel_frees_the_slot_within_a_step(app, serve, until):
    async with serve(app) as door, door.connect() as client:
        for turn in range(5):
            await client.say("synthesize", request_id=f"r{turn}", text=TEXT * 5, lead_ms=15_000)
            await client.until("segment")
            await client.say("cancel")
            assert (await client.until("done"))[-1]["outcome"] == "cancelled"
        await until(lambda: door.services.admission.running == 0 and door.count("tts_slots_busy") == 0)
        assert door.count("tts_cancel_seconds_count") == 5
        assert (await client.speak("And now this."))[-1]["outcome"] == "ok"


async def test_eight_voices_at_once_on_one_connection(app, serve):
    async with serve(app) as door, door.connect() as client:
        alone = sound(await client.speak("I counted seven herons by the river.", request_id="alone"))
        for name in range(8):
            await client.say(
                "synthesize", request_id=f"v{name}", text="I counted seven herons by the river.", framing="header"
            )
        heard: list[Any] = []
        for _ in range(8):
            heard += await client.until("done")
    pcm: dict[int, bytes] = {}
    for frame in heard:
        if isinstance(frame, bytes):
            generation = int.from_bytes(frame[:4], "little")
            pcm[generation] = pcm.get(generation, b"") + frame[16:]
    assert len(pcm) == 8
    assert all(np.array_equal(np.frombuffer(samples, "<i2"), alone) for samples in pcm.values())


async def test_hundred_people_come_and_go(app, serve, until):
    async with serve(app) as door:

        async def visit(number: int) -> str:
            async with door.connect() as client:
                await client.say("synthesize", text=f"Visitor number {number}, welcome. Please sit down.")
                if number % 3 == 0:
                    await client.until("accepted")
                    client.leave()
                    return "client_gone"
                if number % 3 == 1:
                    await client.say("cancel")
                done = (await client.until("done"))[-1]
                assert done["outcome"] == ("cancelled" if number % 3 == 1 else "ok")
                return str(done["outcome"])

        ends = await asyncio.gather(*(visit(number) for number in range(99)))
        await until(lambda: door.idle and door.count("tts_slots_busy") == 0)
        for outcome in ("ok", "cancelled", "client_gone"):
            assert door.ended(outcome) == ends.count(outcome) == 33
