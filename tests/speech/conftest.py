"""Predictors that follow a script, clocks that tests own, and an event loop that never waits for real."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import pytest

from vivavoce.engines.base import Chunk, WordTime
from vivavoce.predictors.base import Deadline, Job
from vivavoce.speech.protocol import Conversation

from .talking import LIMIT, read_token

T = TypeVar("T")


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


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is its own: it jumps to the next timer instead of waiting for it.

    Ten minutes of speech take as long as the work in them. A program in which nothing can happen any more fails
    instead of hanging.
    """

    def __init__(self) -> None:
        self._now_s = 1_000.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self._now_s

    def jump(self, duration_s: float) -> None:
        self._now_s += duration_s


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everybody waits, and nothing is left that could happen")
        if not ready and timeout:
            self._loop.jump(timeout)
        return ready


class VirtualClock:
    """The clock of the loop that runs; the one it is made for where none does."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop

    def now_ms(self) -> float:
        return (self._loop or asyncio.get_running_loop()).time() * 1000


@pytest.fixture(scope="session")
def virtual() -> Callable[[Coroutine[Any, Any, T]], T]:
    """Runs a coroutine to its end in virtual time."""

    def run(work: Coroutine[Any, Any, T]) -> T:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(work)

    return run


@pytest.fixture(scope="session")
def virtual_clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture(scope="session")
def virtual_loop() -> type[VirtualLoop]:
    return VirtualLoop


@dataclass
class SimulatedPredictor:
    """Makes speech in virtual time: 60 ms of tone a character, in chunks, `rtf` times as long as they sound."""

    slots: int = 2
    rtf: float = 0.1
    chunk_ms: float = 400.0
    rate: int = 8_000
    starts: list[tuple[float, str]] = field(default_factory=list)
    running: int = 0
    stepping: int = 0
    most_stepping: int = 0

    def streams(self, voice: str) -> int:
        return int(self.slots / self.rtf)

    def rate_hz(self, voice: str) -> int:
        return self.rate

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        loop = asyncio.get_running_loop()
        self.starts.append((loop.time() * 1000, job.phrase.text))
        self.running += 1
        try:
            left_ms = 60.0 * len(job.phrase.text)
            while left_ms > 0:
                audio_ms = min(left_ms, self.chunk_ms)
                left_ms -= audio_ms
                await self._step(audio_ms * self.rtf / 1000)
                yield Chunk(np.full(int(audio_ms * self.rate / 1000), 0.1, np.float32), is_last=left_ms <= 0)
        finally:
            self.running -= 1

    async def _step(self, duration_s: float) -> None:
        self.stepping += 1
        self.most_stepping = max(self.most_stepping, self.stepping)
        try:
            await asyncio.sleep(duration_s)
        finally:
            self.stepping -= 1


@pytest.fixture(scope="session")
def simulated() -> type[SimulatedPredictor]:
    return SimulatedPredictor


@pytest.fixture
def talk() -> Conversation:
    """A conversation of a WebSocket that has just begun."""
    return Conversation(read_token, max_characters=LIMIT)
