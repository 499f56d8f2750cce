"""What the doors share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from fastapi import Request

from ..audio import preload
from ..clock import Clock
from ..config import Settings
from ..engines.casting import Cast, Casting
from ..engines.design import nearest_voice, parse_design
from ..errors import ConfigError, UnknownVoice, VivavoceError
from ..logs import log_ending
from ..metrics import Metrics
from ..predictors.base import Predictor
from ..predictors.cached import CachedPredictor
from ..readings import PredictorState
from ..speech import Audio, ScheduledPredictor, Slots, Utterance, speak_utterance
from ..speech.admission import Admission, Caller
from ..speech.resume import ResumeTokens
from ..stats import Stats
from ..text import Lexicon
from ..traces import TracedPredictor, Traces, traces_to
from .counted import CountedPredictor
from .keys import Keyring, secret_of
from .sources import Source
from .ws_connections import Connections

__all__ = ["Services", "build_services", "caller_of", "services_of"]

logger = logging.getLogger("vivavoce.api")

# Long enough to tell how many listeners this machine keeps up with.
WARM_UP_TEXT = (
    "Ready when you are. Every voice has to clear its throat before the first guest comes in, "
    "and this one does so by telling nobody in particular how the morning went. It went well."
)
WARM_UP_RETRY_S = 15.0


@dataclass(slots=True)
class Services:
    """One server's settings, source of speech, admission and counters."""

    settings: Settings
    source: Source
    catalog: Casting
    predictor: Predictor
    counted: CountedPredictor
    slots: Slots
    admission: Admission
    keyring: Keyring
    resume_tokens: ResumeTokens
    metrics: Metrics
    stats: Stats
    clock: Clock
    lexicon: Lexicon | None = None
    on_ready: Callable[[], None] | None = None
    connections: Connections = field(default_factory=Connections)
    """The WebSockets that are open."""
    traces: Traces | None = None
    spoken: bool = False
    """Whether this server has ever spoken."""
    fault: VivavoceError | None = None
    """Why the warm-up could not speak."""

    def utterance(
        self,
        *,
        voice: str | None,
        model: str | None,
        language: str | None,
        instruct: str = "",
        speed: float = 1.0,
        rate_hz: int = 24_000,
    ) -> Utterance:
        """An utterance with everything chosen that the request leaves open.

        Where no predictor designs voices, a design chooses the nearest one, unless a voice is named. Raises as `select`
        does, and BadRequest for a design that cannot be.
        """
        design = parse_design(instruct, language) if instruct.strip() else None
        if design is not None and not self.catalog.designs and not voice:
            voice = nearest_voice(design, self.catalog.voices(), language).voice.name
        chosen = self.select(voice, model, language)
        return Utterance(
            voice=chosen.voice.name,
            language=chosen.language,
            speed=speed,
            rate_hz=rate_hz,
            lexicon=self.lexicon,
            instruct=design.instruct if design is not None and self.catalog.designs else "",
        )

    def select(self, voice: str | None, model: str | None, language: str | None) -> Cast:
        """Choose who speaks: `default` is no voice unless one is called so, `auto` no language.

        Raises UnknownVoice, UnknownModel, UnsupportedLanguage, VoiceNotInstalled.
        """
        if (language or "").strip().lower() in ("", "auto"):
            language = None
        if (voice or "").strip().lower() == "default":
            with suppress(UnknownVoice):
                return self.catalog.resolve(voice, model, language)
            voice = None
        if voice is None and language is None and self.source.default_voice:
            try:
                return self.catalog.resolve(self.source.default_voice, model, None)
            except UnknownVoice:
                pass  # the model that was named has voices of its own
        return self.catalog.resolve(voice, model, language)

    @property
    def predictors(self) -> Sequence[PredictorState]:
        """Who speaks for this server, and how they are doing."""
        if self.source.elsewhere is not None:
            return self.source.endpoints
        return (self.counted.here(self.source.usual_voice, ready=self.spoken),)

    def counts_listeners(self, voice: str) -> bool:
        """Whether that voice is made so much faster than it is heard that a slot serves several listeners."""
        return self.source.predictor.streams(voice) > self.source.predictor.slots

    def has_spoken(self) -> None:
        """Note that speech came out: from now on the server is healthy."""
        if self.spoken:
            return
        self.spoken = True
        if self.on_ready is not None:
            self.on_ready()

    def refuse_new_work(self) -> None:
        """From now on the server drains: not ready, and whoever comes is told to try again elsewhere."""
        self.admission.draining = True

    async def say_goodbye(self, grace_s: float) -> None:
        """Tell WebSocket clients where to go on: at once, or once what is spoken to them is over, `grace_s` at most."""
        await self.connections.going_away(grace_s)

    def source_changed(self) -> None:
        """Predictors came or went: what is free goes to those who wait."""
        self.slots.capacity_changed()
        self.admission.capacity_changed()
        if self.source.elsewhere is not None and self.source.ready:
            self.has_spoken()

    async def close(self) -> None:
        """Let go of what was made for this server, once running engine steps are done."""
        await self.source.close()
        if self.traces is not None:
            self.traces.close()

    async def become_ready(self) -> None:
        """Warm up until it works: a voice that is missing may be pulled while the server runs.

        Predictors elsewhere warm themselves up.
        """
        await self.source.start()
        if self.source.elsewhere is not None:
            return
        while not self.spoken:
            await self.warm_up()
            if not self.spoken:
                await asyncio.sleep(WARM_UP_RETRY_S)

    async def warm_up(self) -> None:
        """Speak once in the default voice, so that the first caller does not wait for a model to load."""
        known = self.fault.message if self.fault else ""
        try:
            await asyncio.gather(asyncio.to_thread(preload), self._speak_once())
        except VivavoceError as error:
            self.fault = error
            if error.message != known:
                logger.error("the default voice cannot speak: %s", error.message)
        except Exception as error:
            self.fault = VivavoceError(f"The warm-up failed ({type(error).__name__}).")
            if self.fault.message != known:
                logger.exception("the default voice cannot speak")

    async def _speak_once(self) -> None:
        selection = self.select(None, None, None)
        utterance = Utterance(voice=selection.voice.name, language=selection.language)
        async for event in speak_utterance(WARM_UP_TEXT, utterance, self.predictor, clock=self.clock):
            if isinstance(event, Audio) and event.samples.size:
                self.has_spoken()


def build_services(
    settings: Settings,
    *,
    source: Source,
    clock: Clock,
    on_ready: Callable[[], None] | None = None,
) -> Services:
    """Put a server together. Raises ConfigError."""
    source.warm_capacity = settings.warm_capacity
    predictor = source.predictor
    traces = traces_to(settings.otlp_endpoint, clock) if settings.otlp_endpoint else None
    if traces is not None:
        predictor = TracedPredictor(predictor, traces)
    metrics = Metrics()
    metrics.listen(log_ending)
    if traces is not None:
        metrics.listen(traces.ended, traces.started)
    counted = CountedPredictor(predictor, clock, metrics.predictor_request if source.elsewhere is None else None)
    # Without any slot a job goes on to its predictor, which knows how long to wait for one.
    slots = Slots(lambda: max(1, source.predictor.slots), clock, timeout_s=settings.request_timeout_s)
    scheduled = ScheduledPredictor(counted, slots, can_rest=source.elsewhere is None)
    cached = CachedPredictor(scheduled, settings.cache_mb) if settings.cache_mb else None
    admission = Admission(
        clock,
        streams=source.predictor.streams,
        queue_limit=settings.queue_limit,
        queue_timeout_s=settings.queue_timeout_s,
        enabled=settings.admission_enabled,
        capacity=settings.warm_capacity,
        is_pressed=lambda: slots.is_pressed(settings.first_audio_target_ms),
    )
    secret = secret_of(settings)
    connections = Connections()
    metrics.watch(
        slots=lambda: source.predictor.slots,
        busy=lambda: slots.busy,
        waiting=lambda: admission.waiting,
        capacity=source.capacity,
        predictors=lambda: services.predictors,
        cache=cached,
        connections=lambda: connections.count,
    )
    services = Services(
        settings=settings,
        source=source,
        catalog=source.catalog,
        slots=slots,
        predictor=cached or scheduled,
        counted=counted,
        admission=admission,
        keyring=Keyring(settings, secret),
        resume_tokens=ResumeTokens(secret, settings.resume_ttl_s),
        connections=connections,
        metrics=metrics,
        stats=Stats(metrics, clock),
        clock=clock,
        lexicon=_lexicon(settings),
        on_ready=on_ready,
        traces=traces,
    )
    if source.elsewhere is not None:
        source.elsewhere.observe = metrics.predictor_request
        source.elsewhere.on_change = services.source_changed
    return services


def _lexicon(settings: Settings) -> Lexicon | None:
    if settings.lexicon is None:
        return None
    try:
        return Lexicon.load(settings.lexicon)
    except OSError as error:
        raise ConfigError(f"VIVAVOCE_LEXICON cannot be read: {error.strerror}") from None


def caller_of(request: Request) -> Caller:
    """Whose request this is."""
    caller: Caller = request.scope.get("state", {}).get("caller", Caller())
    return caller


def services_of(request: Request) -> Services:
    """The services of the server that got this request."""
    services: Services = request.app.state.services
    return services
