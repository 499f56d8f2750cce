"""How many listeners an engine keeps up with, told from its own steps."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, Phrase, Voice
from vivavoce.predictors.base import Job
from vivavoce.predictors.embedded import EmbeddedPredictor
from vivavoce.predictors.speed import Speed


def after(*steps: tuple[int, float, float], times: int = 50) -> int | None:
    speed = Speed()
    for _ in range(times):
        for step in steps:
            speed.note(*step)
    return speed.streams


def test_nothing_is_concluded_from_a_moment_of_sound() -> None:
    assert Speed().streams is None
    assert after((1, 5, 900), times=3) is None
    assert after((1, 5, 1_000), times=4) is not None


def test_four_fifths_of_what_was_reached_side_by_side() -> None:
    assert after((1, 10, 1_000)) == 80
    assert after((2, 10, 1_000)) == 160


def test_steps_that_slow_each_other_down_are_counted_as_slow_as_they_are() -> None:
    """One step has both cores to itself; two are each half as fast, so there is room for no more than before."""
    assert after((1, 100, 1_000)) == 8
    assert after((1, 100, 1_000), (2, 200, 1_000)) == 8


def test_steps_without_sound_cost_what_they_cost() -> None:
    assert after((2, 10, 0), (2, 10, 1_000)) == 80


def test_what_was_long_ago_is_forgotten() -> None:
    speed = Speed()
    for _ in range(10_000):
        speed.note(2, 10, 1_000)
    assert speed.streams in (159, 160)
    for _ in range(2_500):
        speed.note(2, 40, 1_000)
    assert speed.streams in (40, 41)


class Slow:
    """Takes as long for a step as told, on a clock of its own; `load_ms` comes on top the first time."""

    name = "slow"
    rate_hz = 8_000
    native_speed = True
    word_times = "exact"

    def __init__(self, step_ms: float = 20.0, load_ms: float = 0.0) -> None:
        self.step_ms = step_ms
        self.load_ms = load_ms
        self.at_ms = 0.0
        self._lock = threading.Lock()

    def now_ms(self) -> float:
        return self.at_ms

    def voices(self) -> tuple[Voice, ...]:
        return (Voice("anna", "en-US"),)

    ready_voices = voices

    def speaks(self, voice: str, language: str) -> bool:
        return True

    def load(self, voice: str) -> None:
        pass

    def synthesize(self, phrase: Phrase, voice: str, speed: float, cancelled: Callable[[], bool]) -> Iterator[Chunk]:
        for _ in phrase.text.split():
            with self._lock:
                self.at_ms += self.step_ms + self.load_ms
                self.load_ms = 0.0
            yield Chunk(np.zeros(8_000, np.float32))


async def streams_after(engine: Slow, words: int, *, threads: int = 1) -> int:
    predictor = EmbeddedPredictor([engine], threads=threads, clock=engine)
    try:
        async for _ in predictor.synthesize(Job(Phrase("la " * words), "anna")):
            pass
        return predictor.streams("anna")
    finally:
        await asyncio.to_thread(predictor.close)


async def test_an_engine_learns_its_own_speed() -> None:
    assert await streams_after(Slow(20.0), 20) == 40


async def test_loading_the_model_is_no_work() -> None:
    assert await streams_after(Slow(20.0, load_ms=60_000), 20) == 40


@pytest.mark.parametrize(("threads", "words", "streams"), [(3, 1, 6), (1, 1, 2)])
async def test_before_anything_is_known_it_is_a_few_for_each_slot(threads: int, words: int, streams: int) -> None:
    assert await streams_after(Slow(), words, threads=threads) == streams


@pytest.mark.parametrize("step_ms", [5_000.0, 900.0])
async def test_an_engine_slower_than_real_time_still_has_its_slots(step_ms: float) -> None:
    assert await streams_after(Slow(step_ms), 20) == 1


async def test_a_voice_that_nobody_knows_is_no_error_here() -> None:
    predictor = EmbeddedPredictor([Slow()], threads=2)
    assert predictor.streams("nobody") == predictor.slots == 2
    await asyncio.to_thread(predictor.close)


async def test_a_step_that_fails_is_not_counted_and_leaves_the_count_of_running_ones_true() -> None:
    class Failing(Slow):
        def synthesize(self, phrase, voice, speed, cancelled) -> Iterator[Chunk]:
            if phrase.text == "fail":
                raise ValueError("no such sound")
            yield from super().synthesize(phrase, voice, speed, cancelled)

    engine = Failing(10.0)
    predictor = EmbeddedPredictor([engine], threads=1, clock=engine)
    for text in ("la la", *["fail"] * 5, "la " * 9):
        try:
            async for _ in predictor.synthesize(Job(Phrase(text), "anna")):
                pass
        except Exception as error:
            assert text == "fail", error
    assert predictor.streams("anna") == 80
    await asyncio.to_thread(predictor.close)
