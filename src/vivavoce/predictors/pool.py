"""Many predictors as one: the floor before the burst, the least loaded first, and whoever fails is stepped over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import numpy as np

from ..clock import Clock, MonotonicClock
from ..engines.base import Chunk, Samples
from ..errors import BadRequest, Busy, UnknownVoice, VivavoceError
from .base import Deadline, Job
from .discovery import Source, Target
from .endpoint import SLOW_START_MS, Endpoint, EndpointState, Result
from .faults import OutOfPatience, Unreachable
from .patience import Patience
from .probes import Probes
from .remote import RemotePredictor
from .repeat import Take
from .tries import Tries

__all__ = ["Observe", "Pool"]

logger = logging.getLogger("vivavoce.predictors")

Observe = Callable[[str, Result, float], None]
"""Hears of every job at a predictor: its tier, how it ended, and after how many seconds."""

_NOTHING: Samples = np.zeros(0, np.float32)
_RETRY_AFTER_S = 1.0
_SOURCE_RETRY_S = 1.0


class Pool:
    """A predictor over those that `sources` know of, made by `connect`.

    `start` begins to look for them, `aclose` ends it. `slots` and `streams` are sums over those that are ready now;
    `on_change` is called whenever these may have changed, `observe` after every job at a predictor.

    A predictor that refuses a job is stepped over at once; while all are full, the job waits, the one whose listener
    runs dry first before all others. A job whose predictor cannot be reached goes to another one. One that breaks off
    or fails is made once more elsewhere, and never after our own time limit: that work may still be going on there.
    What the listener has heard is not said again. A chunk without sound tells that a job is being made again, and where;
    the `attempt` of every origin from there on says so too.
    """

    def __init__(
        self,
        sources: Iterable[Source],
        connect: Callable[[Target], RemotePredictor],
        *,
        clock: Clock | None = None,
        request_s: float = 30.0,
        probe_interval_s: float = 2.0,
        on_change: Callable[[], None] | None = None,
        observe: Observe | None = None,
        on_close: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        self.on_change = on_change
        self.observe = observe
        self._sources = tuple(sources)
        self._connect = connect
        self._clock = clock or MonotonicClock()
        self._request_s = request_s
        self._on_close = on_close
        self._found: dict[Source, frozenset[Target]] = {}
        self._endpoints: dict[str, Endpoint] = {}
        self._leaving: set[Endpoint] = set()
        self._waiting: list[Tries] = []
        self._watching: list[asyncio.Task[None]] = []
        self._probes = Probes(probe_interval_s, self._starts_slowly, self._changed, self._grant)
        self._waker: asyncio.TimerHandle | None = None
        self._started_ms = self._clock.now_ms()

    @property
    def endpoints(self) -> tuple[EndpointState, ...]:
        """Every predictor that is known now, the floor first, and those that are leaving with jobs of ours."""
        return tuple(endpoint.shown() for endpoint in (*self._endpoints.values(), *self._leaving))

    @property
    def slots(self) -> int:
        """How many jobs the ready predictors take at the same time."""
        return sum(endpoint.slots for endpoint in self._endpoints.values())

    def streams(self, voice: str) -> int:
        """How many utterances in that voice the ready predictors keep up with."""
        return sum(
            endpoint.predictor.streams(voice)
            for endpoint in self._endpoints.values()
            if endpoint.is_ready and endpoint.info.speaks(voice)
        )

    def rate_hz(self, voice: str) -> int:
        """The rate of that voice at one of the predictors; chunks say their own."""
        known = [endpoint for endpoint in self._endpoints.values() if endpoint.info.speaks(voice)]
        return known[0].predictor.rate_hz(voice) if known else 24_000

    async def start(self) -> None:
        """Begin to look for predictors and to ask them whether they are ready; waits for none of them."""
        self._started_ms = self._clock.now_ms()
        self._watching = [asyncio.create_task(self._follow(source)) for source in self._sources]

    async def aclose(self) -> None:
        """Stop looking and asking, and close what was opened; jobs that are under way are to be over."""
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        await self._probes.aclose()
        if self._waker is not None:
            self._waker.cancel()
        for tries in self._waiting:
            if not tries.granted.done():
                tries.granted.set_exception(Busy("The server is stopping.", reason="draining"))
        if self._on_close is not None:
            await self._on_close()

    async def _follow(self, source: Source) -> None:
        """Take in what a source finds; one that breaks is begun anew."""
        while True:
            try:
                async with aclosing(source.watch()) as found:
                    async for targets in found:
                        self._located(source, targets)
            except Exception:
                logger.exception("a source of predictors broke")
            await asyncio.sleep(_SOURCE_RETRY_S)

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        """Speak the job. Raises Busy, PredictorFailed, BadRequest, UnknownVoice."""
        tries = Tries(job, deadline, Patience(self._request_s))
        patience, take = Patience(self._request_s), Take()
        while True:
            endpoint = await self._endpoint_for(tries)
            result: Result = "cancelled"
            since_ms = self._clock.now_ms()
            patience.anew()
            endpoint.waits.add(patience)
            try:
                if tries.attempt > 1:
                    yield _attempted(Chunk(_NOTHING, origin=endpoint.origin), tries.attempt)
                async with aclosing(endpoint.predictor.synthesize(job, deadline, patience=patience)) as chunks:
                    async for chunk in chunks:
                        given = take.feed(chunk)
                        if given is not None:
                            yield _attempted(given, tries.attempt)
                rest = take.finish()
                result = "ok"
                if rest is not None:
                    yield _attempted(rest, tries.attempt)
                return
            except VivavoceError as error:
                result = _result_of(error)
                if not tries.may_go_on(endpoint, error, self._clock.now_ms(), self._ready_for(job)):
                    raise
            finally:
                endpoint.waits.discard(patience)
                self._over(endpoint, result, since_ms)
            take.again()

    def _ready_for(self, job: Job) -> list[Endpoint]:
        """The endpoints that could speak the job."""
        voice, language = job.voice, job.phrase.language
        return [e for e in self._endpoints.values() if e.is_ready and e.info.speaks(voice, language)]

    def _choice(self, tries: Tries) -> Endpoint | None:
        """The endpoint that the job goes to: untried before tried, floor before burst, the least loaded first."""
        free = [e for e in self._ready_for(tries.job) if not e.is_full and tries.allows(e)]
        return min(free, key=lambda e: (e in tries.stumbled, e.tier != "floor", e.load), default=None)

    async def _endpoint_for(self, tries: Tries) -> Endpoint:
        """An endpoint that has room for the job, and counts it. Raises Busy, UnknownVoice."""
        job = tries.job
        if self._endpoints and not any(e.info.speaks(job.voice, job.phrase.language) for e in self._endpoints.values()):
            raise UnknownVoice(f"No predictor has a voice {job.voice!r} for {job.phrase.language!r}.", param="voice")
        endpoint = self._choice(tries)
        if endpoint is not None:
            endpoint.began()
            return endpoint
        tries.granted = granted = asyncio.get_running_loop().create_future()
        self._waiting.append(tries)
        self._wake_in_time()
        try:
            return await tries.patience.wait(granted)
        except OutOfPatience:
            raise self._none_free(tries) from None
        except BaseException:
            if granted.done() and not granted.cancelled() and not granted.exception():
                self._over(granted.result(), "cancelled", self._clock.now_ms())
            raise
        finally:
            self._waiting.remove(tries)

    def _none_free(self, tries: Tries) -> VivavoceError:
        """Why the wait was in vain."""
        if self._ready_for(tries.job):
            return Busy("Every slot of the predictors is taken.", reason="full", retry_after_s=_RETRY_AFTER_S)
        return tries.error or Busy("No predictor is ready.", reason="full", retry_after_s=_RETRY_AFTER_S)

    def _grant(self) -> None:
        """Give what is free to those who wait, the one whose listener runs dry first before the others."""
        if not self._waiting:
            return
        for tries in sorted(
            (waiting for waiting in self._waiting if not waiting.granted.done()), key=lambda waiting: waiting.due_ms
        ):
            endpoint = self._choice(tries)
            if endpoint is not None:
                endpoint.began()
                tries.granted.set_result(endpoint)
        self._wake_in_time()

    def _wake_in_time(self) -> None:
        """Look again when the first predictor that refused may have room."""
        if self._waker is not None:
            self._waker.cancel()
            self._waker = None
        full_ms = [e.full_for_ms for e in self._endpoints.values() if e.full_for_ms > 0]
        if full_ms and any(not waiting.granted.done() for waiting in self._waiting):
            self._waker = asyncio.get_running_loop().call_later(min(full_ms) / 1000, self._grant)

    def _over(self, endpoint: Endpoint, result: Result, since_ms: float) -> None:
        """A job at an endpoint is over."""
        is_lost = endpoint.ended(result, others_ready=self._others_ready(endpoint))
        if self.observe is not None:
            self.observe(endpoint.tier, result, (self._clock.now_ms() - since_ms) / 1000)
        if result in ("failed", "timeout", "unreachable"):
            logger.warning("a job at %s ended: %s (now %s)", endpoint.target.url, result, endpoint.state)
            self._probes.hurry(endpoint)
        if endpoint.is_leaving and not endpoint.outstanding:
            self._leaving.discard(endpoint)
        self._grant()
        if is_lost:
            self._changed()

    def _others_ready(self, endpoint: Endpoint) -> bool:
        return any(other.is_ready for other in self._endpoints.values() if other is not endpoint)

    def _starts_slowly(self, endpoint: Endpoint) -> bool:
        """Whether it has just been started: what was there when the pool began has been running for longer."""
        return self._clock.now_ms() - self._started_ms > SLOW_START_MS and self._others_ready(endpoint)

    def _changed(self) -> None:
        self._grant()
        if self.on_change is not None:
            self.on_change()

    def _located(self, source: Source, targets: frozenset[Target]) -> None:
        """A source says where predictors are now."""
        self._found[source] = targets
        wanted: dict[str, Target] = {}
        for known in self._sources:
            for target in sorted(self._found.get(known, ()), key=lambda t: t.url):
                wanted.setdefault(target.url, target)
        for url, endpoint in list(self._endpoints.items()):
            if wanted.get(url) != endpoint.target:
                self._let_go(endpoint)
        for url, target in wanted.items():
            if url not in self._endpoints:
                endpoint = Endpoint(target, self._connect(target), self._clock)
                self._endpoints[url] = endpoint
                self._probes.begin(endpoint)
        self._endpoints = {url: self._endpoints[url] for url in wanted}
        self._changed()

    def _let_go(self, endpoint: Endpoint) -> None:
        """An endpoint is gone from its source: no new job goes there."""
        del self._endpoints[endpoint.target.url]
        endpoint.is_leaving = True
        self._probes.end(endpoint)
        if endpoint.outstanding:
            self._leaving.add(endpoint)


def _attempted(chunk: Chunk, attempt: int) -> Chunk:
    """The chunk, marked with the attempt that it comes from."""
    if attempt == 1 or chunk.origin is None:
        return chunk
    return replace(chunk, origin=replace(chunk.origin, attempt=attempt))


def _result_of(error: VivavoceError) -> Result:
    if isinstance(error, Busy):
        return "refused"
    if isinstance(error, BadRequest):
        return "rejected"
    if isinstance(error, OutOfPatience) or (isinstance(error, Unreachable) and error.is_silent):
        return "timeout"
    return "unreachable" if isinstance(error, Unreachable) else "failed"
