"""A predictor that follows a script, and a clock that tests own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, WordTime
from vivavoce.predictors.base import Deadline, Job


@dataclass
class ScriptedPredictor:
    """Says every word as a 100 ms tone with 50 ms of silence after it, a chunk a word; fails or hangs where told."""

    rate: int = 24_000
    slots: int = 1
    lead_silence_ms: int = 80
    fail_on: str | None = None
    hang_on: str | None = None
    jobs: list[Job] = field(default_factory=list)
    running: int = 0
    most_running: int = 0

    def streams(self, voice: str) -> int:
        return self.slots

    def rate_hz(self, voice: str) -> int:
        return self.rate

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        self.jobs.append(job)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            yield Chunk(self._quiet(self.lead_silence_ms))
            at_ms, position = float(self.lead_silence_ms), 0
            for word in job.phrase.text.split():
                start = job.phrase.text.index(word, position)
                position = start + len(word)
                if self.fail_on == word:
                    raise RuntimeError("the engine fell over")
                if self.hang_on == word:
                    await asyncio.Event().wait()
                await asyncio.sleep(0)
                samples = np.concatenate([self._tone(100), self._quiet(50)])
                yield Chunk(samples, (WordTime(start, position, at_ms, at_ms + 100),))
                at_ms += 150
        finally:
            self.running -= 1

    def _tone(self, duration_ms: int) -> np.ndarray:
        t = np.arange(self.rate * duration_ms // 1000) / self.rate
        return (0.3 * np.sin(2 * np.pi * 300 * t)).astype(np.float32)

    def _quiet(self, duration_ms: int) -> np.ndarray:
        return np.zeros(self.rate * duration_ms // 1000, np.float32)


class StillClock:
    """A clock that moves only when told."""

    def __init__(self) -> None:
        self.at_ms = 0.0

    def now_ms(self) -> float:
        return self.at_ms


@pytest.fixture
def predictor() -> ScriptedPredictor:
    return ScriptedPredictor()


@pytest.fixture
def scripted() -> type[ScriptedPredictor]:
    return ScriptedPredictor


@pytest.fixture
def still_clock() -> StillClock:
    return StillClock()
