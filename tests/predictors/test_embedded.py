import asyncio
import gc
import random
import threading
from contextlib import aclosing

import pytest

from vivavoce.engines.base import Phrase
from vivavoce.errors import PredictorFailed, UnknownVoice
from vivavoce.predictors.base import Job
from vivavoce.predictors.embedded import EmbeddedPredictor


def job(text: str = "one two three", voice: str = "anna") -> Job:
    return Job(Phrase(text), voice)


async def entered(engine) -> None:
    assert await asyncio.to_thread(engine.entered.wait, 5)


async def test_chunks_come_in_order_and_to_the_end(predictor, engine) -> None:
    chunks = [chunk async for chunk in predictor.synthesize(job())]
    assert [word.start for chunk in chunks for word in chunk.words] == [0, 1, 2]
    assert engine.open_runs == 0
    assert predictor.rate_hz("anna") == 24_000


async def test_work_runs_in_the_pools_threads_never_in_the_loops(predictor, engine) -> None:
    await asyncio.gather(*(drain(predictor, job()) for _ in range(8)))
    assert engine.threads
    assert all(name.startswith("vivavoce-engine") for name in engine.threads)


async def drain(predictor: EmbeddedPredictor, wanted: Job) -> int:
    count = 0
    async with aclosing(predictor.synthesize(wanted)) as chunks:
        async for _ in chunks:
            count += 1
    return count


async def test_no_more_run_at_once_than_there_are_slots(predictor, engine) -> None:
    engine.gate.clear()
    tasks = [asyncio.ensure_future(drain(predictor, job())) for _ in range(10)]
    await entered(engine)
    await asyncio.sleep(0)
    engine.gate.set()
    assert await asyncio.gather(*tasks) == [3] * 10
    assert engine.most_running <= predictor.slots == 2


async def test_the_loop_turns_while_a_step_takes_long(predictor, engine) -> None:
    engine.gate.clear()
    task = asyncio.ensure_future(drain(predictor, job()))
    await entered(engine)
    turns = 0
    for _ in range(1000):
        await asyncio.sleep(0)
        turns += 1
    assert not task.done()
    assert turns == 1000
    engine.gate.set()
    assert await task == 3


async def test_pocket_tts_238_leaving_in_mid_stream_stops_at_the_step(predictor, engine) -> None:
    chunks = predictor.synthesize(job("one two three four five six"))
    await anext(chunks)
    await chunks.aclose()
    assert engine.steps == 1
    assert engine.open_runs == 0
    assert await drain(predictor, job()) == 3


async def test_pocket_tts_172_leaving_during_a_step_waits_for_that_step_only(predictor, engine) -> None:
    engine.gate.clear()
    task = asyncio.ensure_future(drain(predictor, job("one two three four")))
    await entered(engine)
    task.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    assert not task.done()
    engine.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert engine.steps == 1
    assert engine.running == engine.open_runs == 0


async def test_impatient_cancels_still_wait_for_the_step(predictor, engine) -> None:
    engine.gate.clear()
    task = asyncio.ensure_future(drain(predictor, job()))
    await entered(engine)
    for _ in range(5):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    engine.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert engine.open_runs == 0


async def test_leaving_the_queue_before_a_thread_is_free_starts_nothing(predictor, engine) -> None:
    engine.gate.clear()
    busy = [asyncio.ensure_future(drain(predictor, job())) for _ in range(2)]
    await entered(engine)
    queued = asyncio.ensure_future(drain(predictor, job("never spoken")))
    for _ in range(5):
        await asyncio.sleep(0)
    queued.cancel()
    with pytest.raises(asyncio.CancelledError):
        await queued
    engine.gate.set()
    assert await asyncio.gather(*busy) == [3, 3]
    assert engine.steps == 6


async def test_sglang_omni_665_a_generator_that_is_never_started_holds_nothing(predictor, engine) -> None:
    chunks = predictor.synthesize(job())
    await chunks.aclose()
    del chunks
    forgotten = predictor.synthesize(job())
    del forgotten
    gc.collect()
    assert engine.steps == engine.open_runs == 0
    assert await drain(predictor, job()) == 3


async def test_a_forgotten_generator_is_closed(predictor, engine) -> None:
    chunks = predictor.synthesize(job())
    await anext(chunks)
    del chunks
    gc.collect()
    for _ in range(200):
        if not engine.open_runs:
            break
        await asyncio.sleep(0.001)
    assert engine.open_runs == 0


async def test_a_slow_listener_holds_no_thread(predictor, engine) -> None:
    slow = [predictor.synthesize(job()) for _ in range(5)]
    for chunks in slow:
        await anext(chunks)
    assert await drain(predictor, job()) == 3
    for chunks in slow:
        await chunks.aclose()
    assert engine.open_runs == 0


async def test_an_engine_that_fails_is_a_typed_error_and_frees_its_slot(predictor, engine) -> None:
    for _ in range(5):
        with pytest.raises(PredictorFailed, match="scripted failed: ValueError: no such sound") as caught:
            await drain(predictor, job("one fail two"))
        assert isinstance(caught.value.__cause__, ValueError)
    assert engine.open_runs == 0
    assert await drain(predictor, job()) == 3


async def test_unknown_voices_and_failing_loads_are_typed(predictor) -> None:
    with pytest.raises(UnknownVoice):
        await drain(predictor, job(voice="nobody"))
    with pytest.raises(UnknownVoice):
        predictor.rate_hz("nobody")
    await predictor.load("anna")
    with pytest.raises(PredictorFailed, match="the disk is gone"):
        await predictor.load("ben")


async def test_a_thousand_random_cancels_leave_nothing_behind(predictor, engine) -> None:
    chance = random.Random(5)

    async def leave() -> None:
        task = asyncio.ensure_future(drain(predictor, job("a b c d e f")))
        for _ in range(chance.randrange(12)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    before = set(threading.enumerate())
    await drain(predictor, job())
    for _ in range(100):
        await asyncio.gather(*(leave() for _ in range(10)))
    new = [thread.name for thread in threading.enumerate() if thread not in before]
    assert engine.running == engine.open_runs == 0
    assert 1 <= len([name for name in new if name.startswith("vivavoce")]) <= 3
    assert await drain(predictor, job()) == 3


async def test_threads_go_when_it_is_closed(engine) -> None:
    before = {thread.name for thread in threading.enumerate()}
    predictor = EmbeddedPredictor([engine], threads=3)
    await asyncio.gather(*(drain(predictor, job()) for _ in range(6)))
    await asyncio.to_thread(predictor.close)
    after = {thread.name for thread in threading.enumerate() if thread.name.startswith("vivavoce")}
    assert after <= before


def test_as_many_slots_as_cores_unless_told(engine) -> None:
    predictor = EmbeddedPredictor([engine])
    assert predictor.slots >= 1
    predictor.close()


async def test_hibari_speaks_through_it() -> None:
    pytest.importorskip("hibari")
    from vivavoce.engines.hibari import Hibari

    predictor = EmbeddedPredictor([Hibari()], threads=2)
    text = "The second request must not wait for the first."
    wanted = Job(Phrase(text), "heart", 1.2)
    try:
        results = await asyncio.gather(*(collect(predictor, wanted) for _ in range(3)))
    finally:
        await asyncio.to_thread(predictor.close)
    assert len(set(results)) == 1
    assert results[0][1] == 9


async def collect(predictor: EmbeddedPredictor, wanted: Job) -> tuple[int, int]:
    samples = words = 0
    async for chunk in predictor.synthesize(wanted):
        samples += len(chunk.samples)
        words += len(chunk.words)
    return samples, words
