"""One utterance on its way to a client over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, closing, suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..audio import FRAME_BYTES, Encoder, encoder_for, format_named
from ..errors import InputTooLarge, VivavoceError
from ..speech import Audio, Timeline, Utterance, Word, speak_utterance
from ..speech.admission import Caller
from .delivery import deliver
from .presence import ClientGone
from .services import Services
from .speech_request import SpeechOrder
from .speech_wire import delta_event, done_event, error_event, usage_of, word_headers
from .writer import Writer

__all__ = ["DOOR", "SpeechReply"]


DOOR = "openai"
# Encoded in one go, so that the event loop is never held for longer than a few ms; lossy codecs take ten times as long.
_PIECE_MS, _LOSSY_PIECE_MS = 4_000, 500


class SpeechReply(Response):
    """Speaks while it is being sent.

    The headers wait for the first sound, so that what fails before it has a status of its own. Failures after it end
    an event stream with an error event, and break the connection of plain audio. A client that leaves, at any time,
    stops the work. Every reply is counted once, with its outcome.
    """

    def __init__(
        self, services: Services, order: SpeechOrder, utterance: Utterance, caller: Caller, timeline: Timeline
    ) -> None:
        self.background = None
        self._services = services
        self._order = order
        self._timeline = timeline
        self._utterance = utterance
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the reply. Raises what went wrong before its headers left."""
        writer = Writer(send, self._services.settings.stall_timeout_s)
        await deliver(
            lambda: self._deliver(writer),
            lambda error: self._break_off(writer, error),
            writer=writer,
            receive=receive,
            door=DOOR,
            metrics=self._services.metrics,
            timeline=self._timeline,
        )

    async def _deliver(self, writer: Writer) -> None:
        match self._order.delivery:
            case "whole":
                await self._whole(writer)
            case "chunked":
                await self._chunked(writer)
            case "sse":
                await self._events(writer)

    async def _whole(self, writer: Writer) -> None:
        """Everything is made, then sent with exact lengths."""
        words: list[Word] = []
        made_bytes, limit_bytes = 0, self._services.settings.max_whole_mb * 1_000_000
        async with self._turn():
            with closing(self._encoder(streamed=False)) as encoder:
                async with aclosing(self._pieces()) as pieces:
                    async for piece in pieces:
                        made_bytes += piece.samples.size * FRAME_BYTES
                        if made_bytes > limit_bytes:
                            message = "The reply is too long to be sent whole; ask for it with stream: true."
                            raise InputTooLarge(message, param="input")
                        encoder.encode(piece.samples)
                        words += piece.words
                body = encoder.finish()
        headers = word_headers(words) if self._order.word_timestamps else {}
        await writer.start(self._audio_headers(encoder, headers), length_bytes=len(body))
        await writer.write_all(body)
        await writer.end()

    async def _chunked(self, writer: Writer) -> None:
        """Bytes leave as they are made."""
        headers = {"X-Word-Timestamps-Omitted": "true"} if self._order.word_timestamps else {}
        async with self._turn():
            with closing(self._encoder(streamed=True)) as encoder:
                async with aclosing(self._pieces()) as pieces:
                    async for piece in pieces:
                        if not piece.samples.size:
                            continue
                        if not writer.started:
                            await writer.start(self._audio_headers(encoder, headers))
                        await writer.write(encoder.encode(piece.samples))
                await writer.write(encoder.finish())
        await writer.end()

    async def _events(self, writer: Writer) -> None:
        """The same bytes inside events; words ride in front of, or beside, the bytes that they are heard in."""
        told = self._order.word_timestamps
        words: list[Word] = []
        async with self._turn():
            with closing(self._encoder(streamed=True)) as encoder:
                async with aclosing(self._pieces()) as pieces:
                    async for piece in pieces:
                        words += piece.words
                        if not piece.samples.size:
                            continue
                        if not writer.started:
                            await writer.start(self._event_headers(encoder))
                        audio = encoder.encode(piece.samples)
                        if audio:
                            await writer.write(delta_event(audio, words if told else None))
                            words = []
                audio = encoder.finish()
                if audio or (told and words):
                    await writer.write(delta_event(audio, words if told else None))
        await writer.write(done_event(usage_of(self._order.text, self._timeline.audio_ms)))
        await writer.end()

    async def _break_off(self, writer: Writer, error: VivavoceError) -> None:
        """End a reply that failed in its midst: an event where there are events, else without the last chunk."""
        if self._order.delivery == "sse":
            with suppress(ClientGone):
                await writer.write(error_event(error))
                await writer.end()

    async def _pieces(self) -> AsyncGenerator[Audio]:
        """The sound, in pieces small enough to encode in one go; first in time, so that nothing waits for the rest."""
        services = self._services
        piece_ms = _PIECE_MS if format_named(self._order.format).lossless else _LOSSY_PIECE_MS
        step = max(1, self._utterance.rate_hz * piece_ms // 1000)
        events = speak_utterance(
            self._order.text,
            self._utterance,
            services.predictor,
            clock=services.clock,
            timeline=self._timeline,
            resolve=services.catalog.cast,
        )
        async with aclosing(events):
            async for event in events:
                if not isinstance(event, Audio):
                    continue
                if event.samples.size:
                    services.has_spoken()
                yield Audio(event.samples[:step], event.words)
                for start in range(step, event.samples.size, step):
                    await asyncio.sleep(0)
                    yield Audio(event.samples[start : start + step])

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        services = self._services
        seat = services.admission.admit(self._caller, voice=self._utterance.voice, characters=len(self._order.text))
        async with seat:
            self._timeline.admitted_ms = services.clock.now_ms()
            services.metrics.started(DOOR, self._timeline)
            yield

    def _encoder(self, *, streamed: bool) -> Encoder:
        return encoder_for(self._order.format, self._order.rate_hz, streamed)

    def _audio_headers(self, encoder: Encoder, more: Mapping[str, str]) -> dict[str, str]:
        return {
            "Content-Type": encoder.format.content_type,
            "X-Sample-Rate": str(encoder.carried_rate_hz),
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
            **more,
        }

    def _event_headers(self, encoder: Encoder) -> dict[str, str]:
        return self._audio_headers(encoder, {"Content-Type": "text/event-stream; charset=utf-8"})
