from collections.abc import AsyncGenerator
from contextlib import aclosing

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, Ipa, Origin, Phrase, WordTime
from vivavoce.errors import PredictorFailed
from vivavoce.predictors.base import Deadline, Job
from vivavoce.predictors.cached import CachedPredictor

CHUNK_SAMPLES = 2_500


class Counting:
    """Speaks two chunks and counts how often it was asked."""

    slots = 3

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.closed = 0

    def streams(self, voice: str) -> int:
        return self.slots

    def rate_hz(self, voice: str) -> int:
        return 24_000

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        self.asked.append(job.phrase.text)
        try:
            for index in range(2):
                if job.phrase.text == "fails" and index:
                    raise PredictorFailed("half way")
                yield Chunk(np.full(CHUNK_SAMPLES, 0.1, np.float32), (WordTime(index, index + 1, 0, 1),))
        finally:
            self.closed += 1


@pytest.fixture
def inner() -> Counting:
    return Counting()


@pytest.fixture
def cached(inner: Counting) -> CachedPredictor:
    # Room for three results of 2 x 10,000 bytes.
    return CachedPredictor(inner, limit_mb=0.065)


def job(text: str, **changes: object) -> Job:
    return Job(
        Phrase(text, **{k: v for k, v in changes.items() if k in ("language", "ipa")}),
        "anna",
        changes.get("speed", 1.0),
    )


async def speak(predictor: CachedPredictor, wanted: Job) -> list[Chunk]:
    return [chunk async for chunk in predictor.synthesize(wanted)]


async def test_the_second_time_comes_from_memory(cached: CachedPredictor, inner: Counting) -> None:
    first, second = await speak(cached, job("hello")), await speak(cached, job("hello"))
    assert inner.asked == ["hello"]
    assert [id(chunk) for chunk in first] == [id(chunk) for chunk in second]
    assert (cached.hits, cached.misses) == (1, 1)
    assert cached.holds(job("hello"))


async def test_everything_that_changes_the_sound_is_part_of_the_key(cached: CachedPredictor, inner: Counting) -> None:
    variants = [
        job("a"),
        job("a", speed=1.1),
        job("a", language="fr"),
        job("a", ipa=(Ipa(0, 1, "x"),)),
        Job(Phrase("a"), "ben"),
    ]
    for wanted in variants:
        await speak(cached, wanted)
    assert len(inner.asked) == len(variants)


async def test_the_least_recently_spoken_leaves_first(cached: CachedPredictor, inner: Counting) -> None:
    for text in ("a", "b", "c", "a", "d"):
        await speak(cached, job(text))
    assert [text for text in "abcd" if cached.holds(job(text))] == ["a", "c", "d"]
    assert cached.bytes <= 65_000


async def test_a_result_that_was_not_heard_to_its_end_is_not_kept(cached: CachedPredictor, inner: Counting) -> None:
    async with aclosing(cached.synthesize(job("left"))) as chunks:
        await anext(chunks)
    assert not cached.holds(job("left"))
    assert inner.closed == 1


async def test_a_failure_is_not_kept(cached: CachedPredictor, inner: Counting) -> None:
    for _ in range(2):
        with pytest.raises(PredictorFailed):
            await speak(cached, job("fails"))
    assert inner.asked == ["fails", "fails"]
    assert cached.bytes == 0


async def test_what_is_larger_than_the_limit_is_spoken_but_not_kept(inner: Counting) -> None:
    small = CachedPredictor(inner, limit_mb=0.015)
    assert len(await speak(small, job("big"))) == 2
    assert not small.holds(job("big"))


async def test_no_limit_keeps_nothing(inner: Counting) -> None:
    off = CachedPredictor(inner, limit_mb=0)
    await speak(off, job("a"))
    await speak(off, job("a"))
    assert inner.asked == ["a", "a"]
    assert off.bytes == 0


async def test_nobody_can_change_what_others_will_hear(cached: CachedPredictor) -> None:
    (chunk, _) = await speak(cached, job("shared"))
    with pytest.raises(ValueError, match="read-only"):
        chunk.samples[0] = 1


async def test_two_at_once_are_both_whole_and_kept_once(cached: CachedPredictor, inner: Counting) -> None:
    one, two = cached.synthesize(job("twice")), cached.synthesize(job("twice"))
    heard = [await anext(one), await anext(two), await anext(one), await anext(two)]
    assert [chunk async for chunk in one] == [chunk async for chunk in two] == []
    assert len(heard) == 4
    assert cached.bytes < 25_000


def test_it_passes_on_what_the_inner_one_says(cached: CachedPredictor) -> None:
    assert (cached.slots, cached.rate_hz("anna")) == (3, 24_000)


class Remote(Counting):
    """Names its endpoint; gives `first` the first time where told."""

    def __init__(self, first: np.ndarray | None = None) -> None:
        super().__init__()
        self.first = first

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        samples = np.full(CHUNK_SAMPLES, 0.1, np.float32)
        if self.first is not None and not self.asked:
            samples = self.first
        self.asked.append(job.phrase.text)
        yield Chunk(samples, rate_hz=16_000, origin=Origin("http://a"), is_last=True)


async def test_a_phrase_from_memory_was_made_at_no_endpoint_but_keeps_its_rate() -> None:
    predictor = CachedPredictor(Remote(), limit_mb=1)
    first, again = await speak(predictor, job("hello")), await speak(predictor, job("hello"))
    assert [chunk.origin for chunk in first] == [Origin("http://a")]
    assert [(chunk.origin, chunk.rate_hz, chunk.is_last) for chunk in again] == [(None, 16_000, True)]


@pytest.mark.parametrize("frames", [0, CHUNK_SAMPLES])
async def test_no_sound_is_not_remembered(frames: int) -> None:
    inner = Remote(first=np.zeros(frames, np.float32))
    predictor = CachedPredictor(inner, limit_mb=1)
    assert not (await speak(predictor, job("hello")))[0].samples.any()
    assert (await speak(predictor, job("hello")))[0].samples.any()
    assert len(inner.asked) == 2
    assert predictor.holds(job("hello"))


async def test_two_designs_of_one_voice_are_two_phrases(cached, inner) -> None:
    for instruct in ("female, whisper", "male", "female, whisper"):
        await speak(cached, Job(Phrase("hello"), "anna", 1.0, instruct))
    assert len(inner.asked) == 2
