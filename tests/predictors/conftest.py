"""Engines that follow a script."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, Phrase, Voice, WordTime
from vivavoce.predictors.embedded import EmbeddedPredictor


class Scripted:
    """Speaks one chunk for each word; a step can be held, can fail, and is counted."""

    name = "scripted"
    rate_hz = 24_000
    native_speed = True
    word_times = "exact"

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.running = 0
        self.most_running = 0
        self.open_runs = 0
        self.steps = 0
        self.hold_ms = 0.0
        self.hold_from: int | None = None
        self.knows_last = False
        self.threads: set[str] = set()
        self._lock = threading.Lock()

    def voices(self) -> tuple[Voice, ...]:
        return (Voice("anna", "en-US"), Voice("ben", "en-US"))

    ready_voices = voices

    def speaks(self, voice: str, language: str) -> bool:
        return True

    def load(self, voice: str) -> None:
        if voice == "ben":
            raise OSError("the disk is gone")

    def synthesize(self, phrase: Phrase, voice: str, speed: float, cancelled: Callable[[], bool]) -> Iterator[Chunk]:
        self.open_runs += 1
        try:
            words = phrase.text.split()
            for index, word in enumerate(words):
                if cancelled():
                    return
                with self._lock:
                    self.running += 1
                    self.steps += 1
                    self.most_running = max(self.most_running, self.running)
                    self.threads.add(threading.current_thread().name)
                if index == self.hold_from:
                    self.gate.clear()
                self.entered.set()
                self.gate.wait(10)
                with self._lock:
                    self.running -= 1
                if word == "fail":
                    raise ValueError("no such sound")
                yield Chunk(
                    np.full(240, 0.1, np.float32),
                    (WordTime(index, index + 1, 10.0 * index, 10.0 * index + 10),),
                    0.0 if index else self.hold_ms,
                    is_last=self.knows_last and index == len(words) - 1,
                )
        finally:
            self.open_runs -= 1


@pytest.fixture
def engine() -> Scripted:
    return Scripted()


@pytest.fixture
async def predictor(engine) -> AsyncIterator[EmbeddedPredictor]:
    made = EmbeddedPredictor([engine], threads=2)
    yield made
    engine.gate.set()
    await asyncio.to_thread(made.close)
