"""The adapter's engine is ready while it really speaks, and is sent each text exactly once."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager

import numpy as np
import pytest

from vivavoce.api.adapter import EngineWatch, engine_from_settings
from vivavoce.config import Settings
from vivavoce.engines.base import Phrase
from vivavoce.errors import Busy, ConfigError, PredictorFailed, UnknownVoice
from vivavoce.predictors.base import Job


@pytest.fixture
def watching(engine):
    """`async with watching() as watch`: an engine watch that is asked often."""

    @asynccontextmanager
    async def begin(**settings):
        told = {"engine_url": f"http://127.0.0.1:{engine.port}", "probe_interval_s": 0.02, "connect_timeout_s": 0.5}
        watch = engine_from_settings(Settings(**told | settings))
        watch._away_interval_s = 0.02
        await watch.start()
        try:
            yield watch
        finally:
            await watch.aclose()

    return begin


async def say(watch: EngineWatch, text: str, **job) -> np.ndarray:
    pieces = []
    async with aclosing(watch.synthesize(Job(Phrase(text), job.pop("voice", ""), **job))) as chunks:
        async for chunk in chunks:
            pieces.append(chunk.samples)
    return np.concatenate(pieces)


async def test_an_adapter_without_an_engine_does_not_start():
    with pytest.raises(ConfigError, match="--engine-url"):
        engine_from_settings(Settings())


@pytest.mark.parametrize(
    "url", ["", "ftp://host", "dns://host:80", "k8s://ns/service", "http://", "http://[fd00::7", "http://h:0", "a b:80"]
)
def test_an_engine_whose_address_cannot_be_one_stops_the_start(url):
    with pytest.raises(ConfigError):
        engine_from_settings(Settings(engine_url=url))


async def test_ready_only_once_it_has_really_spoken(engine, watching, until):
    engine.speaks = False
    async with watching() as watch:
        await until(lambda: len(engine.asked) > 4)
        assert not watch.ready
        assert watch.endpoints[0].state == "unready"
        engine.speaks = True
        await until(lambda: watch.ready)
        assert watch.endpoints[0].state == "ready"


async def test_a_clip_without_sound_is_no_speech(engine, watching, until, monkeypatch):
    monkeypatch.setitem(type(engine)._speech.__globals__, "spoken", lambda text: b"")
    async with watching() as watch:
        await until(lambda: len(engine.asked) > 3)
        assert not watch.ready


async def test_a_ready_engine_that_is_well_is_not_made_to_speak_again(engine, watching, until):
    async with watching() as watch:
        await until(lambda: watch.ready)
        spoken = len(engine.asked)
        for _ in range(5):
            assert len(await say(watch, "Good day to you.")) > 10_000
        assert len(engine.asked) == spoken + 5


async def test_an_engine_that_dies_is_away_at_once_and_comes_back_once_it_speaks(engine, watching, until):
    changes = []
    async with watching() as watch:
        watch.on_change = lambda: changes.append(watch.ready)
        await until(lambda: watch.ready)
        await engine.die()
        with pytest.raises(Busy) as refused:
            await say(watch, "Is anybody there?")
        assert (refused.value.retry_after_s, watch.ready) == (1.0, False)
        engine.speaks = False
        before = len(engine.asked)
        await engine.start()
        await until(lambda: len(engine.asked) > before + 3)
        assert not watch.ready
        engine.speaks = True
        await until(lambda: watch.ready)
        assert len(await say(watch, "Here again.")) > 10_000
    assert changes == [True, False, True]


async def test_an_engine_that_dies_while_nobody_speaks_is_noticed_by_its_probes(engine, watching, until):
    async with watching() as watch:
        await until(lambda: watch.ready)
        await engine.die()
        await until(lambda: not watch.ready)


async def test_one_bad_probe_is_no_reason_to_leave_and_two_are(engine, watching, until):
    async with watching(probe_interval_s=60) as watch:
        await until(lambda: watch.ready)
        await watch._look()
        watch._doubt(PredictorFailed("slow"))
        assert watch.ready
        watch._doubt(PredictorFailed("slow"))
        assert not watch.ready


@pytest.mark.parametrize("fault", ["speaks", "cut"])
async def test_kserve_1663_a_text_whose_answer_failed_is_never_sent_twice(engine, watching, until, fault):
    seen = []
    async with watching() as watch:
        watch.observe = lambda tier, result, seconds: seen.append(result)
        await until(lambda: watch.ready)
        setattr(engine, fault, fault == "cut")
        with pytest.raises(PredictorFailed):
            await say(watch, "Only once, please.")
        assert engine.texts.count("Only once, please.") == 1
    assert seen == ["failed"]


async def test_kserve_1663_a_text_that_took_too_long_is_never_sent_twice(engine, watching, until):
    seen = []
    async with watching(request_timeout_s=0.15) as watch:
        watch.observe = lambda tier, result, seconds: seen.append(result)
        await until(lambda: watch.ready)
        engine.gate.clear()
        with pytest.raises(PredictorFailed):
            await say(watch, "Only once, please.")
        await until(lambda: engine.aborted == 1)
        assert engine.texts.count("Only once, please.") == 1
    assert seen == ["timeout"]


async def test_leaving_ends_the_engines_request(engine, watching, until):
    async with watching() as watch:
        await until(lambda: watch.ready)
        engine.gate.clear()
        chunks = watch.synthesize(Job(Phrase("A tale without an end."), ""))
        first = asyncio.ensure_future(anext(chunks))
        await until(lambda: engine.active == 1)
        assert watch.endpoints[0].outstanding == 1
        first.cancel()
        await until(lambda: engine.active == 0)
        assert (engine.aborted, watch.endpoints[0].outstanding) == (1, 0)
        assert watch.ready


async def test_a_full_engine_is_a_refusal_and_no_fault(engine, watching, until):
    async with watching() as watch:
        await until(lambda: watch.ready)
        engine.full = True
        with pytest.raises(Busy):
            await say(watch, "Is there room?")
        assert watch.ready
        assert watch.endpoints[0].failures == 0


async def test_voices_and_design_reach_the_engine(engine, watching, until):
    async with watching() as watch:
        await until(lambda: watch.ready)
        await say(watch, "Hello there.", voice="hanna", instruct="female, whisper")
        assert (engine.asked[-1]["voice"], engine.asked[-1]["instructions"]) == ("hanna", "female, whisper")
        with pytest.raises(UnknownVoice):
            await say(watch, "Hello there.", voice="nobody")
        assert watch.ready
        state = watch.endpoints[0]
        assert (state.info.design, [voice.name for voice in state.info.voices]) == (True, ["hanna"])
