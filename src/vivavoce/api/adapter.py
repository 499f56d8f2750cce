"""The adapter's engine: one server of /v1/audio/speech, watched."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from ..clock import Clock, MonotonicClock
from ..config import Settings
from ..engines.base import Chunk, Origin, Phrase
from ..errors import BadRequest, Busy, ConfigError, PredictorFailed, VivavoceError
from ..predictors.base import Deadline, Job
from ..predictors.discovery import source_for
from ..predictors.endpoint import EndpointState, Result
from ..predictors.faults import OutOfPatience, Unreachable
from ..predictors.http_speech import HttpSpeechPredictor
from ..predictors.pool import Observe
from ..predictors.remote import RemotePredictor, Times
from ..predictors.upstream import Upstream

__all__ = ["EngineWatch", "engine_from_settings"]

logger = logging.getLogger("vivavoce.api")

RETRY_AFTER_S = 1.0
_AWAY_INTERVAL_S = 0.5
_DOUBTS_TO_LEAVE = 2
_FIRST_WORDS = "Ready when you are."


class EngineWatch:
    """The engine beside an adapter: a predictor that knows whether it can speak now.

    It is ready once it has really spoken. It is not from the moment that nobody answers at its address, or that two
    probes in a row have failed; then it has to speak again. A job is sent exactly once. `on_change` is called when the
    engine has come or gone, `observe` after every job.
    """

    def __init__(
        self,
        engine: RemotePredictor,
        *,
        interval_s: float = 2.0,
        away_interval_s: float = _AWAY_INTERVAL_S,
        origin: Origin | None = None,
        clock: Clock | None = None,
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.on_change: Callable[[], None] | None = None
        self.observe: Observe | None = None
        self.ready = False
        self.fault: VivavoceError | None = None
        self._engine = engine
        self._origin = origin or Origin()
        self._clock = clock or MonotonicClock()
        self._on_close = on_close
        self._outstanding = self._requests = self._failures = 0
        self._interval_s = interval_s
        self._away_interval_s = away_interval_s
        self._in_doubt = asyncio.Event()
        self._doubts = 0
        self._watching: asyncio.Task[None] | None = None

    @property
    def slots(self) -> int:
        """How many jobs the engine is given at the same time."""
        return self._engine.slots

    @property
    def endpoints(self) -> tuple[EndpointState, ...]:
        """The engine as a pool of one."""
        origin, info = self._origin, self._engine.info
        return (
            EndpointState(
                endpoint=origin.endpoint,
                tier=origin.tier or info.tier,
                node=origin.node or info.node,
                model=info.model or origin.model,
                state="ready" if self.ready else "unready",
                slots=self.slots if self.ready else 0,
                streams=self.streams("") if self.ready else 0,
                outstanding=self._outstanding,
                requests=self._requests,
                failures=self._failures,
                info=info,
            ),
        )

    def streams(self, voice: str) -> int:
        """As many utterances as the engine is known to keep up with."""
        return self._engine.streams(voice)

    def rate_hz(self, voice: str) -> int:
        """The rate that was heard last; chunks say their own."""
        return self._engine.rate_hz(voice)

    async def start(self) -> None:
        """Begin to ask the engine whether it can speak; does not wait for it."""
        self._watching = asyncio.create_task(self._watch())

    async def aclose(self) -> None:
        """Stop asking, and close what was opened."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        if self._on_close is not None:
            await self._on_close()

    async def synthesize(self, job: Job, deadline: Deadline | None = None) -> AsyncGenerator[Chunk]:
        """Speak the job. Raises Busy where the engine is away or full, PredictorFailed, BadRequest."""
        result: Result = "cancelled"
        since_ms = self._clock.now_ms()
        self._outstanding += 1
        self._requests += 1
        try:
            async with aclosing(self._engine.synthesize(job, deadline)) as chunks:
                async for chunk in chunks:
                    yield self._named(chunk)
            result, self._doubts = "ok", 0
        except Unreachable as error:
            result = "unreachable"
            self._leave(error)
            raise Busy("The engine is away.", retry_after_s=RETRY_AFTER_S, reason="full") from error
        except Busy:
            result = "refused"
            raise
        except BadRequest:
            result = "rejected"
            raise
        except PredictorFailed as error:
            result = "timeout" if isinstance(error, OutOfPatience) else "failed"
            self._in_doubt.set()
            raise
        finally:
            self._outstanding -= 1
            self._failures += result in ("failed", "timeout", "unreachable")
            if self.observe is not None:
                self.observe(self._origin.tier, result, (self._clock.now_ms() - since_ms) / 1000)

    def _named(self, chunk: Chunk) -> Chunk:
        """The chunk, and where it was made with the model that the engine has."""
        if chunk.origin is None:
            return chunk
        return replace(chunk, origin=replace(chunk.origin, model=self._engine.info.model or chunk.origin.model))

    async def _watch(self) -> None:
        while True:
            self._in_doubt.clear()
            try:
                await self._look()
            except VivavoceError as error:
                self._doubt(error)
            except Exception:
                logger.exception("the engine could not be asked")
                self._doubt(PredictorFailed("The engine could not be asked."))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._interval_s if self.ready else self._away_interval_s):
                    await self._in_doubt.wait()

    async def _look(self) -> None:
        """Ask, and have it speak where it was away."""
        await self._engine.probe()
        self._doubts = 0
        if self.ready:
            return
        voices = self._engine.info.voices
        job = Job(Phrase(_FIRST_WORDS), voices[0].name if voices else "")
        async with aclosing(self._engine.synthesize(job)) as chunks:
            heard = [len(chunk.samples) async for chunk in chunks]
        if not any(heard):
            raise PredictorFailed("The engine gave no sound.")
        logger.info("the engine speaks")
        self._become(True, None)

    def _doubt(self, error: VivavoceError) -> None:
        self._doubts += 1
        if not self.ready or isinstance(error, Unreachable) or self._doubts >= _DOUBTS_TO_LEAVE:
            self._leave(error)

    def _leave(self, error: VivavoceError) -> None:
        if self.ready or self.fault is None or self.fault.message != error.message:
            logger.warning("the engine cannot speak: %s", error.message)
        self._become(False, error)

    def _become(self, ready: bool, fault: VivavoceError | None) -> None:
        is_change = ready is not self.ready
        self.ready, self.fault = ready, fault
        if is_change and not ready:
            self._in_doubt.set()
        if is_change and self.on_change is not None:
            self.on_change()


def engine_from_settings(settings: Settings, clock: Clock | None = None) -> EngineWatch:
    """The engine that the settings name; it wants `start` and `aclose`. Raises ConfigError."""
    if not settings.engine_url:
        raise ConfigError("the adapter needs its engine: give --engine-url or VIVAVOCE_ENGINE_URL")
    if "://" in settings.engine_url and not settings.engine_url.startswith(("http://", "https://")):
        raise ConfigError(
            f"VIVAVOCE_ENGINE_URL is the http address of one server, which {settings.engine_url!r} is not"
        )
    source_for(settings.engine_url, settings.tier)
    key = settings.predictor_key.get_secret_value() if settings.predictor_key else None
    upstream = Upstream(key=key, connect_timeout_s=settings.connect_timeout_s, keep_alive=settings.keep_alive)
    model = settings.engine_model or settings.model_name
    origin = Origin(settings.engine_url, settings.tier, settings.node_name, model)
    engine = HttpSpeechPredictor(
        settings.engine_url,
        model=settings.engine_model or "",
        upstream=upstream,
        origin=origin,
        slots=settings.slots,
        times=Times(settings.request_timeout_s),
    )
    return EngineWatch(
        engine, interval_s=settings.probe_interval_s, origin=origin, clock=clock, on_close=upstream.aclose
    )
