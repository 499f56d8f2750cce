"""Replies of the V2 door on their way to a client: an inference, a generation, a stream of one."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..audio import to_pcm16
from ..engines.base import Origin, WordTime
from ..errors import VivavoceError
from ..predictors.v2_stream import StreamEvent, encode_error, encode_event, words_json
from ..predictors.v2_wire import Body, InferRequest, InferResponse
from ..speech import Timeline, Utterance
from .delivery import deliver
from .presence import ClientGone
from .services import Services
from .v2_body import asked_coding, compressed
from .v2_door import VERSION, Seat, V2Door
from .v2_order import V2Order
from .v2_speech import Piece, Whole, ahead, collected, pieces
from .writer import Writer

__all__ = ["DOOR", "Errand", "GenerateReply", "InferReply", "StreamReply"]


DOOR = "v2"


@dataclass(slots=True)
class Errand:
    """One order that has its slot: what is asked, how it is spoken, and when things happened."""

    door: V2Door
    order: V2Order
    utterance: Utterance
    seat: Seat
    timeline: Timeline
    id: str = ""

    @property
    def services(self) -> Services:
        """The server's."""
        return self.door.services

    def headers(self, origin: Origin | None) -> dict[str, str]:
        """What a pool wants to know, of this order."""
        return self.door.headers(origin, self.utterance.voice)

    def named(self) -> dict[str, str]:
        """The keys that every answer of `generate` begins with."""
        told = {"model_name": self.door.name, "model_version": VERSION}
        return {**told, "id": self.id} if self.id else told

    async def pieces(self) -> AsyncGenerator[Piece]:
        """The sound; when the last of it is made the slot is free and the inference counted."""
        is_made = False
        try:
            async with aclosing(pieces(self.services, self.order, self.utterance, self.timeline)) as found:
                async for piece in found:
                    yield piece
            is_made = True
        finally:
            self.seat.release()
            self._count(is_made)

    def _count(self, is_made: bool) -> None:
        tally = self.door.tally
        took_ms = self.services.clock.now_ms() - self.timeline.received_ms
        tally.last_unix_ms = int(time.time() * 1000)
        if is_made:
            tally.succeeded += 1
            tally.succeeded_ms += took_ms
        else:
            tally.failed += 1
            tally.failed_ms += took_ms


class _Reply(Response):
    """A reply that counts itself once, with its outcome, and stops the work as soon as its client leaves."""

    def __init__(self, errand: Errand) -> None:
        self.background = None
        self._errand = errand

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the reply. Raises what went wrong before its headers left."""
        errand = self._errand
        writer = Writer(send, errand.services.settings.stall_timeout_s)
        errand.services.metrics.started(DOOR, errand.timeline)

        async def work() -> None:
            try:
                await self._deliver(writer, Headers(scope=scope))
            finally:
                errand.seat.release()
                if errand.timeline.ended_ms is None:
                    errand.timeline.ended_ms = errand.services.clock.now_ms()

        await deliver(
            work,
            lambda error: self._break_off(writer, error),
            writer=writer,
            receive=receive,
            door=DOOR,
            metrics=errand.services.metrics,
            timeline=errand.timeline,
        )

    async def _deliver(self, writer: Writer, headers: Headers) -> None:
        """Make the sound and send it; `headers` are the request's."""
        raise NotImplementedError

    async def _break_off(self, writer: Writer, error: VivavoceError) -> None:
        """End a reply that failed in its midst; plain bodies have an exact length, so that a cut is seen."""

    async def _whole(self) -> Whole:
        limit_bytes = self._errand.services.settings.max_whole_mb * 1_000_000
        return await collected(self._errand.pieces(), limit_bytes)

    async def _send(self, writer: Writer, build: Callable[[], Body], headers: Headers, origin: Origin | None) -> None:
        """Encode, and pack where the client asks for it, in a thread; then send with an exact length."""
        coding = asked_coding(headers.get("accept-encoding", ""))

        def made() -> tuple[bytes, dict[str, str]]:
            body = build()
            if not coding:
                return body.content, body.headers
            return compressed(body.content, coding), {**body.headers, "Content-Encoding": coding}

        content, described = await asyncio.to_thread(made)
        told = {**self._errand.headers(origin), **described, "Vary": "Accept-Encoding"}
        await writer.start({"Cache-Control": "no-store", **told}, length_bytes=len(content))
        await writer.write_all(content)
        await writer.end()


class InferReply(_Reply):
    """An inference response, its tensors as JSON or in binary, as the request asks."""

    def __init__(self, errand: Errand, request: InferRequest) -> None:
        super().__init__(errand)
        self._request = request

    async def _deliver(self, writer: Writer, headers: Headers) -> None:
        errand, request = self._errand, self._request
        whole = await self._whole()

        def build() -> Body:
            outputs = tuple(tensor for tensor in whole.tensors(errand.order) if request.wants(tensor.name))
            return InferResponse(errand.door.name, outputs, VERSION, errand.id).encode(request.wants_binary)

        await self._send(writer, build, headers, whole.origin)


class GenerateReply(_Reply):
    """One JSON object with Triton's keys and ours: `audio` is base64."""

    async def _deliver(self, writer: Writer, headers: Headers) -> None:
        errand = self._errand
        whole = await self._whole()

        def build() -> Body:
            body: dict[str, Any] = {
                **errand.named(),
                "text_output": errand.order.text,
                "audio": base64.b64encode(whole.encoded(errand.order)).decode("ascii"),
                "format": errand.order.format,
                "sample_rate": whole.carried_rate_hz(errand.order),
                "words": words_json(tuple(whole.words)),
                "words_exact": all(word.exact for word in whole.words),
            }
            return Body(json.dumps(body, separators=(",", ":")).encode("ascii"))

        await self._send(writer, build, headers, whole.origin)


class StreamReply(_Reply):
    """Server-Sent Events while the speech is made; the headers wait for the first sound."""

    async def _deliver(self, writer: Writer, headers: Headers) -> None:
        errand = self._errand
        rate_hz = 0
        words: tuple[WordTime, ...] = ()
        origin: Origin | None = None
        async with ahead(errand.pieces()) as found:
            async for piece in found:
                words += piece.words
                origin = piece.origin or origin
                if not writer.started:
                    if not len(piece.samples):
                        continue
                    await writer.start(self._told(origin))
                rate_hz = piece.rate_hz
                await writer.write(self._event(replace(piece, words=words)))
                words = ()
        await writer.write(encode_event(StreamEvent(b"", rate_hz, (), final=True), **errand.named(), text_output=""))
        await writer.end()

    async def _break_off(self, writer: Writer, error: VivavoceError) -> None:
        with suppress(ClientGone):
            await writer.write(encode_error(error.message))
            await writer.end()

    def _told(self, origin: Origin | None) -> dict[str, str]:
        told = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store"}
        return {**self._errand.headers(origin), **told, "X-Accel-Buffering": "no"}

    def _event(self, piece: Piece) -> bytes:
        errand = self._errand
        text = errand.order.text
        heard = " ".join(text[word.start : word.end] for word in piece.words)
        event = StreamEvent(to_pcm16(piece.samples), piece.rate_hz, piece.words)
        return encode_event(event, **errand.named(), text_output=heard)
