"""What a gateway's predictor and an engine's V2 door say to each other, over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing

import numpy as np
import pytest
import uvicorn

from vivavoce.api import create_app
from vivavoce.api.server import uvicorn_config
from vivavoce.config import Settings
from vivavoce.engines.base import Chunk, Ipa, Phrase, Voice, WordTime
from vivavoce.engines.catalog import Catalog
from vivavoce.errors import Busy, PredictorFailed, UnknownVoice
from vivavoce.predictors.base import Deadline, Job
from vivavoce.predictors.v2 import V2Predictor

RATE_HZ = 22_050


class Engine:
    """Two voices; what they say is made by the predictor below."""

    name = "singer"
    rate_hz = RATE_HZ
    native_speed = True
    word_times = "exact"

    def voices(self) -> tuple[Voice, ...]:
        return (Voice("ada", "en-GB", "female", "Bright"), Voice("rudi", "de-DE", "male"))

    def ready_voices(self) -> tuple[Voice, ...]:
        return self.voices()

    def speaks(self, voice: str, language: str) -> bool:
        return {"ada": "en", "rudi": "de"}[voice] == language.split("-")[0]

    def load(self, voice: str) -> None:
        pass

    def synthesize(self, phrase: Phrase, voice: str, speed: float, cancelled: Callable[[], bool]) -> Iterator[Chunk]:
        raise NotImplementedError


class Singer:
    """Three chunks of noise a job, each with a word; waits at the gate before the third."""

    slots = 2

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.active = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.fails = False

    def streams(self, voice: str) -> int:
        return 17

    def rate_hz(self, voice: str) -> int:
        return RATE_HZ

    def sound(self, index: int) -> np.ndarray:
        samples = np.random.default_rng(index).uniform(-0.5, 0.5, 2_205)
        return (np.round(samples * 32_768) / 32_768).astype(np.float32)

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        self.jobs.append(job)
        self.active += 1
        try:
            for index in range(3):
                if index == 2:
                    await self.gate.wait()
                    if self.fails:
                        raise PredictorFailed("the singer is hoarse")
                yield Chunk(
                    self.sound(index), (WordTime(4 * index, 4 * index + 3, index * 100.0, index * 100.0 + 80.5),)
                )
        finally:
            self.active -= 1


@pytest.fixture
def singer() -> Singer:
    return Singer()


@pytest.fixture
def app(singer):
    settings = Settings(default_voice="ada", cache_mb=0, slots=2, tier="burst", node_name="n7", model_name="a/b c")
    return create_app(settings, "engine", catalog=Catalog([Engine()]), predictor=singer)


@pytest.fixture
async def far(app) -> AsyncIterator[V2Predictor]:
    server = uvicorn.Server(uvicorn_config(app, app.state.services.settings))
    server.capture_signals = contextlib.nullcontext
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        far = V2Predictor(f"http://127.0.0.1:{listener.getsockname()[1]}", model="a/b c")
        async with asyncio.timeout(10):
            while True:
                with contextlib.suppress(Busy, PredictorFailed):
                    await far.probe()
                    break
                await asyncio.sleep(0.005)
        yield far
        await far.aclose()
        server.should_exit = True
        await serving


async def test_a_pool_learns_what_the_engine_is(far):
    info = far.info
    assert (far.slots, far.streams("ada"), info.model, info.tier, info.node) == (2, 17, "singer", "burst", "n7")
    assert [(voice.name, voice.language, voice.gender) for voice in info.voices] == [
        ("ada", "en-GB", "female"),
        ("rudi", "de-DE", "male"),
    ]
    assert info.languages
    assert not info.design


async def test_a_job_arrives_as_it_was_and_its_sound_and_words_come_back_to_the_sample(far, singer):
    singer.jobs.clear()
    job = Job(Phrase("one two six", "en-GB", (Ipa(4, 7, "tuː"),)), "ada", 1.25, "female, whisper")
    async with aclosing(far.synthesize(job)) as chunks:
        heard = [chunk async for chunk in chunks]
    assert singer.jobs == [job]
    assert {chunk.rate_hz for chunk in heard} == {RATE_HZ}
    assert np.array_equal(
        np.concatenate([chunk.samples for chunk in heard]), np.concatenate([singer.sound(i) for i in range(3)])
    )
    words = [word for chunk in heard for word in chunk.words]
    assert words == [WordTime(4 * i, 4 * i + 3, i * 100.0, i * 100.0 + 80.5) for i in range(3)]
    assert [chunk.is_last for chunk in heard] == [False, False, False, True]
    origin = heard[0].origin
    assert (origin.tier, origin.node, origin.model) == ("burst", "n7", "singer")


async def test_sound_comes_while_it_is_made(far, singer):
    singer.gate.clear()
    async with aclosing(far.synthesize(Job(Phrase("one two six"), "ada"))) as chunks:
        first, second = await anext(chunks), await anext(chunks)
        assert singer.active == 1
        assert len(first.samples) == len(second.samples) == 2_205
        singer.gate.set()
        assert len([chunk async for chunk in chunks]) == 2


async def test_leaving_frees_the_engines_slot(far, singer, app, until):
    singer.gate.clear()
    async with aclosing(far.synthesize(Job(Phrase("one two six"), "ada"))) as chunks:
        await anext(chunks)
    await until(lambda: singer.active == 0 and app.state.v2.gate.busy == 0)


async def test_one_over_the_slots_is_a_refusal(far, singer):
    singer.gate.clear()
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(2):
            await anext(await stack.enter_async_context(aclosing(far.synthesize(Job(Phrase("one two six"), "ada")))))
        with pytest.raises(Busy) as refused:
            await anext(far.synthesize(Job(Phrase("one two six"), "ada")))
        assert refused.value.retry_after_s == 1


async def test_what_fails_in_the_midst_is_a_failure(far, singer):
    singer.fails = True
    heard = 0
    with pytest.raises(PredictorFailed, match="hoarse"):
        async with aclosing(far.synthesize(Job(Phrase("one two six"), "ada"))) as chunks:
            async for chunk in chunks:
                heard += len(chunk.samples)
    assert heard == 2 * 2_205


async def test_an_unknown_voice_is_the_callers_fault(far):
    with pytest.raises(UnknownVoice):
        await anext(far.synthesize(Job(Phrase("one two six"), "nobody")))
