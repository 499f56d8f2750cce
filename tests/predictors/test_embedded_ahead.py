import asyncio
import gc
from collections.abc import Callable
from contextlib import aclosing

import pytest

from vivavoce.engines.base import Phrase
from vivavoce.errors import PredictorFailed
from vivavoce.predictors.base import Job
from vivavoce.predictors.embedded import EmbeddedPredictor


def job(text: str = "one two three", voice: str = "anna") -> Job:
    return Job(Phrase(text), voice)


async def drain(predictor: EmbeddedPredictor, wanted: Job) -> int:
    count = 0
    async with aclosing(predictor.synthesize(wanted)) as chunks:
        async for _ in chunks:
            count += 1
    return count


async def until(true: Callable[[], bool]) -> None:
    for _ in range(5000):
        if true():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never came true")


async def test_one_step_is_made_ahead_of_the_reader_and_no_more(predictor, engine) -> None:
    chunks = predictor.synthesize(job("a b c d e f"))
    for read, made in ((1, 1), (2, 3), (3, 4)):
        await anext(chunks)
        await until(lambda made=made: engine.steps == made)
        for _ in range(50):
            await asyncio.sleep(0.001)
        assert engine.steps == made, read
    assert engine.running == 0
    assert len([chunk async for chunk in chunks]) == 3
    assert engine.steps == 6
    assert engine.open_runs == 0


async def test_pocket_tts_238_leaving_while_a_step_is_made_ahead_frees_all(predictor, engine) -> None:
    chunks = predictor.synthesize(job("a b c d e f"))
    await anext(chunks)
    second = asyncio.ensure_future(anext(chunks))
    await second
    engine.gate.clear()
    await until(lambda: engine.steps == 3)
    leaving = asyncio.ensure_future(chunks.aclose())
    for _ in range(20):
        await asyncio.sleep(0)
    engine.gate.set()
    await leaving
    assert engine.steps == 3
    assert engine.running == engine.open_runs == 0
    assert await drain(predictor, job()) == 3


async def test_a_failure_ahead_comes_after_the_sound_before_it(predictor, engine, caplog) -> None:
    chunks = predictor.synthesize(job("a b fail d"))
    assert [(await anext(chunks)).words[0].start for _ in range(2)] == [0, 1]
    await until(lambda: engine.open_runs == 0)
    with pytest.raises(PredictorFailed, match="no such sound"):
        await anext(chunks)


async def test_a_failure_ahead_of_a_reader_who_left_is_nobodys(predictor, engine, caplog) -> None:
    chunks = predictor.synthesize(job("a b fail d"))
    await anext(chunks)
    await anext(chunks)
    await until(lambda: engine.open_runs == 0)
    await chunks.aclose()
    del chunks
    gc.collect()
    await asyncio.sleep(0)
    assert not caplog.records
    assert await drain(predictor, job()) == 3


async def test_a_chunk_that_is_to_be_held_leaves_when_the_next_one_is_there(predictor, engine) -> None:
    engine.hold_ms = 1e7
    chunks = predictor.synthesize(job("a b c"))
    assert (await anext(chunks)).words[0].start == 0
    assert engine.steps >= 2
    assert [chunk.words[0].start async for chunk in chunks] == [1, 2]
    assert engine.open_runs == 0


async def test_a_chunk_is_held_no_longer_than_it_says(predictor, engine) -> None:
    engine.hold_ms = 1.0
    engine.hold_from = 1
    chunks = predictor.synthesize(job("a b c"))
    assert (await anext(chunks)).words[0].start == 0
    assert engine.running == 1
    engine.gate.set()
    assert [chunk.words[0].start async for chunk in chunks] == [1, 2]


async def test_leaving_while_a_chunk_is_held_frees_all(predictor, engine) -> None:
    engine.hold_ms = 1e7
    engine.hold_from = 1
    first = asyncio.ensure_future(drain(predictor, job("a b c d")))
    await until(lambda: engine.steps == 2)
    first.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    assert not first.done()
    engine.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert engine.steps == 2
    assert engine.running == engine.open_runs == 0


async def test_a_failure_while_a_chunk_is_held_comes_after_it(predictor, engine, caplog) -> None:
    engine.hold_ms = 1e7
    chunks = predictor.synthesize(job("a fail c"))
    assert (await anext(chunks)).words[0].start == 0
    with pytest.raises(PredictorFailed, match="no such sound"):
        await anext(chunks)
    assert not caplog.records
    assert engine.open_runs == 0


async def test_a_last_chunk_that_says_so_is_the_end_without_another_step(predictor, engine) -> None:
    engine.knows_last = True
    chunks = predictor.synthesize(job("a b c"))
    read = [(await anext(chunks)).words[0].start for _ in range(3)]
    assert read == [0, 1, 2]
    assert engine.open_runs == 0
    engine.gate.clear()
    with pytest.raises(StopAsyncIteration):
        await anext(chunks)
    assert engine.steps == 3


async def test_leaving_at_the_last_chunk_holds_nothing(predictor, engine) -> None:
    engine.knows_last = True
    engine.hold_ms = 1e7
    chunks = predictor.synthesize(job("one"))
    assert (await anext(chunks)).is_last
    await chunks.aclose()
    assert engine.running == engine.open_runs == 0
    assert await drain(predictor, job()) == 3
