"""One utterance on its way to a client over a WebSocket."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, closing
from dataclasses import replace

from ..audio import Encoder, encoder_for, format_named
from ..errors import Busy, EmptyInput, InternalError, RateLimited, VivavoceError
from ..logs import request_id
from ..speech import Audio, Event, Outcome, SegmentEnd, SegmentStart, Timeline, Utterance, speak_utterance
from ..speech.admission import Caller, Place, Seat
from ..speech.ask import Ask
from ..speech.listener import Listener
from ..speech.protocol import Conversation
from .presence import ClientGone
from .services import Services
from .ws_feed import TextFeed
from .ws_outlet import Outlet

__all__ = ["DOOR", "WsSpeech"]

logger = logging.getLogger("vivavoce.api")

DOOR = "websocket"
# Encoded in one go, so that the event loop is never held for longer than a few ms; lossy codecs take ten times as long.
_PIECE_MS, _LOSSY_PIECE_MS = 2_000, 500


class WsSpeech:
    """Speaks what was asked for, tells the client about it, and counts it once, with its outcome.

    `begin` starts its task, `over` waits until that has freed what it held. The other methods may be called at any time
    and never raise; after an end, whoever brought it about, they do nothing.
    """

    def __init__(
        self, services: Services, caller: Caller, conversation: Conversation, outlet: Outlet, ask: Ask
    ) -> None:
        self._services = services
        self._caller = caller
        self._conversation = conversation
        self._outlet = outlet
        self._ask = ask
        self._feed = TextFeed(ask.text)
        if not ask.streamed:
            self._feed.end()
        self._timeline = Timeline(services.clock.now_ms())
        self._listener = self._new_listener()
        self._stopped_ms: float | None = None
        self._task: asyncio.Task[None] | None = None
        self.begun = False
        """Whether it was admitted."""
        self.ended = False
        self.rate_limited = False
        """Whether it was refused because of its key's limit."""

    def begin(self, on_over: Callable[[], None]) -> None:
        """Speak; `on_over` is called once it has ended and freed what it held."""
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(lambda _: on_over())

    async def over(self) -> None:
        """Return once it has ended and freed what it held."""
        if self._task is not None:
            await asyncio.wait([self._task])

    def feed(self, text: str) -> None:
        """More of its text."""
        if self.ended:
            return
        try:
            self._services.admission.spend(self._caller, len(text))
        except RateLimited as refusal:
            self._break_off(refusal)
            return
        self._services.metrics.characters.labels(DOOR).inc(len(text))
        self._feed.add(text)

    def flush(self) -> None:
        """Speak what is held back of the text."""
        self._feed.flush()

    def end_text(self) -> None:
        """The text is complete."""
        self._feed.end()

    def played(self, cursor_ms: float) -> None:
        """The client has heard so much."""
        self._listener.played(cursor_ms)

    def fail(self, fault: VivavoceError) -> None:
        """End in an error."""
        if not self.ended:
            self._outlet.post(self._conversation.failed(self._ask.generation, fault))
            self.end("error", fault.code)

    def refuse(self, refusal: Busy) -> None:
        """End without having been spoken."""
        if not self.ended:
            self.rate_limited = isinstance(refusal, RateLimited)
            depth = self._services.admission.waiting
            self._outlet.post(self._conversation.refused(self._ask.generation, refusal, depth))
            self.end("shed", refusal.code, refusal.reason)

    def end(self, outcome: Outcome, code: str = "", reason: str = "") -> None:
        """End now, with that outcome. Nothing of it is sent any more; what it holds is freed after one engine step."""
        if self.ended:
            return
        self.ended = True
        if self._task is not None and asyncio.current_task() is not self._task:
            self._task.cancel()
        now_ms = self._services.clock.now_ms()
        if outcome in ("cancelled", "client_gone"):
            self._stopped_ms = now_ms
        if self._timeline.ended_ms is None:
            self._timeline.ended_ms = now_ms
        self._timeline.underruns = self._listener.underruns
        self._services.metrics.ended(DOOR, outcome, self._timeline, code, reason)
        heard_ms = self._listener.heard_ms
        self._outlet.post(self._conversation.ended(self._ask.generation, outcome, self._timeline, heard_ms))

    def _break_off(self, error: Exception) -> None:
        if isinstance(error, EmptyInput) and self._ask.resumed is not None:
            self.end("ok")  # nothing was left to say
        elif isinstance(error, Busy) and self._timeline.first_audio_ms is None:
            self.refuse(error)
        elif isinstance(error, VivavoceError):
            self.fail(error)
        else:
            logger.error("speech broke off", exc_info=error)
            self.fail(InternalError("Something went wrong here."))

    async def _run(self) -> None:
        request_id.set(f"{request_id.get() or 'ws'}.{self._ask.generation}")
        try:
            await self._speak()
            self.end("ok")
        except ClientGone:
            pass  # counted when it was noticed
        except Exception as error:
            self._break_off(error)
        finally:
            if self._stopped_ms is not None:
                self._services.metrics.cancelled((self._services.clock.now_ms() - self._stopped_ms) / 1000)

    async def _speak(self) -> None:
        utterance = self._cast()
        with closing(encoder_for(self._ask.format, self._ask.rate_hz, streamed=True)) as encoder:
            async with self._seat(utterance) as seat:
                self._admitted()
                self._outlet.post(self._started(utterance, encoder))
                await self._text_begun()
                events = speak_utterance(
                    self._feed if self._ask.streamed else self._ask.text,
                    utterance,
                    self._services.predictor,
                    clock=self._services.clock,
                    timeline=self._timeline,
                    resolve=self._services.catalog.cast,
                    lead_ms=self._ask.lead_ms or self._services.settings.lead_ms,
                    listener=self._listener,
                )
                async with aclosing(events):
                    async for event in events:
                        await self._tell(event, encoder)
                await self._send(self._conversation.audio(self._ask.generation, encoder.finish()))
                if self._services.counts_listeners(utterance.voice):
                    seat.linger_ms = self._listener.ahead_ms

    async def _send(self, frames: Sequence[str | bytes]) -> None:
        """Send, and return once it has left. Raises ClientGone."""
        try:
            await self._outlet.send(frames)
        except ClientGone:
            self.end("client_gone")
            raise

    def _cast(self) -> Utterance:
        """Everything chosen that the client left open; a resumed voice is the same, where it is known here."""
        ask = self._ask
        if ask.resumed is None:
            return self._chosen(ask.voice)
        try:
            chosen = self._chosen(ask.resumed.voice)
        except VivavoceError:
            chosen = self._chosen(ask.voice)
        return replace(chosen, offset=ask.resumed.offset, opening_rest_ms=ask.resumed.opening_rest_ms)

    def _chosen(self, voice: str | None) -> Utterance:
        ask = self._ask
        return self._services.utterance(
            voice=voice,
            model=ask.model,
            language=ask.language,
            instruct=ask.instruct,
            speed=ask.speed,
            rate_hz=ask.rate_hz,
        )

    def _seat(self, utterance: Utterance) -> AbstractAsyncContextManager[Seat]:
        services, characters = self._services, len(self._ask.text)
        services.metrics.characters.labels(DOOR).inc(characters)
        return services.admission.admit(
            self._caller, voice=utterance.voice, characters=characters, on_queued=self._queued
        )

    def _admitted(self) -> None:
        self._timeline.admitted_ms = self._services.clock.now_ms()
        self._services.metrics.started(DOOR, self._timeline)
        self.begun = True

    def _queued(self, place: Place) -> None:
        self._outlet.post(self._conversation.queued(self._ask.generation, place))

    def _started(self, utterance: Utterance, encoder: Encoder) -> list[str]:
        ask = self._ask
        token = self._services.resume_tokens.sign(
            utterance,
            request_id=ask.request_id,
            caller=self._caller.name,
            format=ask.format,
            framing=ask.framing,
            word_timestamps=ask.word_timestamps,
            voice_asked=ask.voice or "",
        )
        return self._conversation.started(ask.generation, encoder.carried_rate_hz, token)

    async def _text_begun(self) -> None:
        """Wait for the first text; where it came late, everything counts from its coming."""
        if self._ask.text:
            return
        await self._feed.begun()
        self._timeline.received_ms = self._timeline.admitted_ms = self._services.clock.now_ms()
        self._listener = self._new_listener()

    def _new_listener(self) -> Listener:
        due_ms = self._timeline.received_ms + self._services.settings.first_audio_target_ms
        return Listener(self._services.clock, due_ms=due_ms)

    async def _tell(self, event: Event, encoder: Encoder) -> None:
        generation, conversation = self._ask.generation, self._conversation
        match event:
            case SegmentStart():
                await self._send(conversation.segment(generation, event))
            case Audio():
                if event.samples.size:
                    self._services.has_spoken()
                await self._sound(event, encoder)
            case SegmentEnd():
                await self._send(conversation.segment_ended(generation, event))

    async def _sound(self, audio: Audio, encoder: Encoder) -> None:
        """Send sound in pieces, the words that end in it first."""
        piece_ms = _PIECE_MS if format_named(self._ask.format).lossless else _LOSSY_PIECE_MS
        step = max(1, self._ask.rate_hz * piece_ms // 1000)
        frames: list[str | bytes] = [*self._conversation.words(self._ask.generation, audio.words)]
        for start in range(0, max(1, audio.samples.size), step):
            data = encoder.encode(audio.samples[start : start + step])
            frames += self._conversation.audio(self._ask.generation, data)
            await self._send(frames)
            frames = []
