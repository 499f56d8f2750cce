"""Speech made in this process: engines run in threads, one step at a time, never in the event loop."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from ..clock import Clock, MonotonicClock
from ..engines.base import Chunk, Engine
from ..engines.catalog import Catalog
from ..engines.tempo import synthesize_at
from ..errors import PredictorFailed, UnknownVoice, VivavoceError
from .base import Deadline, Job
from .speed import Stopwatch

__all__ = ["EmbeddedPredictor"]

_STEP_BACK = 5

# Listeners for each slot of an engine whose speed is not known yet.
_UNKNOWN_PER_SLOT = 2


class EmbeddedPredictor:
    """Runs the engines of this process.

    Every step of an engine is one task of a pool of `threads` threads (as many as there are cores, unless told), so a
    listener who reads slowly holds no thread, and several jobs take turns. From the second chunk on, one step is made
    ahead of the reader. Closing a generator waits for the step that is running, at most; no other step starts.
    """

    def __init__(
        self, engines: Catalog | Iterable[Engine], *, threads: int | None = None, clock: Clock | None = None
    ) -> None:
        self._catalog = engines if isinstance(engines, Catalog) else Catalog(engines)
        self._stopwatch = Stopwatch(clock or MonotonicClock())
        self.slots = threads or _cores()
        self._pool = ThreadPoolExecutor(self.slots, thread_name_prefix="vivavoce-engine", initializer=_step_back)
        self._closer = ThreadPoolExecutor(1, thread_name_prefix="vivavoce-closer")

    def streams(self, voice: str) -> int:
        """As many as that voice's engine has kept up with at its speed so far; at least as many as there are slots."""
        try:
            engine = self._catalog.engine_of(voice)
        except UnknownVoice:
            return self.slots
        known = self._stopwatch.speed_of(engine).streams
        return max(self.slots, _UNKNOWN_PER_SLOT * self.slots if known is None else known)

    def rate_hz(self, voice: str) -> int:
        """The sample rate of that voice's chunks. Raises UnknownVoice."""
        return self._catalog.engine_of(voice).rate_hz

    async def load(self, voice: str) -> None:
        """Make a voice ready before its first job. Raises VoiceNotInstalled, ModelCorrupt."""
        engine = self._catalog.engine_of(voice)
        await asyncio.wrap_future(self._pool.submit(_guarded_load, engine, voice))

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        """Speak the job. Raises PredictorFailed, VoiceNotInstalled, UnknownVoice, ModelCorrupt."""
        run = _Run(self._catalog.engine_of(job.voice), job, self._stopwatch)
        is_first = True
        step: Future[Chunk | None] | None = None
        try:
            while True:
                step = step or self._pool.submit(run.step)
                chunk = await asyncio.wrap_future(step)
                if chunk is None:
                    return
                if run.over:
                    step = None
                    yield chunk
                    return
                # The first sound leaves before more work takes its core; later ones leave while the next is made.
                step = None if is_first and not chunk.hold_ms else self._pool.submit(run.step)
                is_first = False
                if step is not None and chunk.hold_ms:
                    await _done_within(step, chunk.hold_ms / 1000)
                yield chunk
        finally:
            run.cancelled.set()
            try:
                if step is not None and not step.cancel():
                    await _ended(step)
            finally:
                if not run.over:
                    await _ended(self._closer.submit(run.close))

    def close(self) -> None:
        """Let the threads go once their steps are done; no job may follow."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._closer.shutdown(wait=True)


class _Run:
    """One job on its engine; its methods run in threads, never two at once."""

    def __init__(self, engine: Engine, job: Job, stopwatch: Stopwatch) -> None:
        self._stopwatch = stopwatch
        self._engine = engine
        self._job = job
        self._chunks: Iterator[Chunk] | None = None
        self.cancelled = threading.Event()
        self.over = True

    def step(self) -> Chunk | None:
        """The next chunk, or None at the end; `over` tells, with the last chunk already where the engine does."""
        if self.cancelled.is_set():
            return None
        try:
            if self._chunks is None:
                job = self._job
                self._chunks = synthesize_at(self._engine, job.phrase, job.voice, job.speed, self.cancelled.is_set)
                self.over = False
            chunk = self._stopwatch.step(self._engine, self._job.voice, self._chunks)
            if chunk is None or chunk.is_last:
                self.close()
        except BaseException as error:
            self.over = True
            raise _typed(error, self._engine) from error
        return chunk

    def close(self) -> None:
        """Free what the engine holds for this job."""
        self.over = True
        close = getattr(self._chunks, "close", None)
        if close is not None:
            close()


def _guarded_load(engine: Engine, voice: str) -> None:
    try:
        engine.load(voice)
    except Exception as error:
        raise _typed(error, engine) from error


def _typed(error: BaseException, engine: Engine) -> BaseException:
    if isinstance(error, VivavoceError) or not isinstance(error, Exception):
        return error
    return PredictorFailed(f"The engine {engine.name} failed: {type(error).__name__}: {error}")


async def _done_within(work: Future[Any], limit_s: float) -> None:
    """Wait for work in a thread until it is done, at most that long; how it ends is told to whoever asks next."""
    waiting = asyncio.wrap_future(work)
    waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait([waiting], timeout=limit_s)


async def _ended(work: Future[Any]) -> None:
    """Wait for work in a thread to end, however often this task is cancelled meanwhile."""
    cancelled = False
    waiting = asyncio.wrap_future(work)
    while not waiting.done():
        try:
            await asyncio.wait([waiting])
        except asyncio.CancelledError:
            cancelled = True
    if not waiting.cancelled():
        waiting.exception()
    if cancelled:
        raise asyncio.CancelledError


def _step_back() -> None:
    """Let the event loop, which sends what is made, go before this thread where the cores are few."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + _STEP_BACK)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
