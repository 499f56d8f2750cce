"""The sound of a V2 order, piece by piece and whole."""

from __future__ import annotations

import asyncio
import base64
import json
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, closing
from dataclasses import dataclass, field, replace

import numpy as np

from ..audio import Resampler, Samples, encoder_for, finite, format_named
from ..engines.base import Origin, Phrase, WordTime
from ..errors import EmptyInput, InputTooLarge, PredictorFailed
from ..predictors.base import Job
from ..predictors.v2_stream import words_json
from ..predictors.v2_wire import Tensor
from ..speech import Audio, SegmentEnd, Timeline, Utterance, speak_utterance
from .services import Services
from .v2_order import V2Order

__all__ = ["Piece", "Whole", "ahead", "collected", "pieces", "utterance_of"]

_AHEAD_MS = 60_000.0


@dataclass(frozen=True, slots=True)
class Piece:
    """Samples at `rate_hz`, the words of the text known since the last piece, and where they were made."""

    samples: Samples
    rate_hz: int
    words: tuple[WordTime, ...] = ()
    origin: Origin | None = None

    @property
    def duration_ms(self) -> float:
        """How long it sounds."""
        return len(self.samples) * 1000 / self.rate_hz


@dataclass(slots=True)
class Whole:
    """All the pieces of an order, in one."""

    rate_hz: int = 0
    samples: list[Samples] = field(default_factory=list)
    words: list[WordTime] = field(default_factory=list)
    origin: Origin | None = None

    def tensors(self, order: V2Order) -> tuple[Tensor, ...]:
        """The outputs of a response. Blocking: files are encoded here."""
        return (
            self._audio(order),
            Tensor.of_numbers("sample_rate", np.array([self.carried_rate_hz(order)], "<i4")),
            Tensor.of_texts("words", json.dumps(words_json(tuple(self.words)), separators=(",", ":"))),
        )

    def carried_rate_hz(self, order: V2Order) -> int:
        """The rate of the samples in the `audio` output."""
        return format_named(order.format).carried_rate_hz(self.rate_hz)

    def encoded(self, order: V2Order) -> bytes:
        """The bytes of a file, or bare s16le for `pcm`. Blocking."""
        with closing(encoder_for(order.format, self.rate_hz, streamed=False)) as encoder:
            for samples in self.samples:
                encoder.encode(samples)
            return encoder.finish()

    def _audio(self, order: V2Order) -> Tensor:
        if order.datatype == "FP32":
            return Tensor.of_numbers("audio", finite(np.concatenate(self.samples)))
        content = self.encoded(order)
        match order.datatype:
            case "INT16":
                return Tensor.of_numbers("audio", np.frombuffer(content, "<i2"))
            case "UINT8":
                return Tensor.of_numbers("audio", np.frombuffer(content, "u1"))
            case _:
                return Tensor("audio", "BYTES", (1,), (base64.b64encode(content),))


def utterance_of(services: Services, order: V2Order) -> Utterance:
    """Who speaks the order, and how. Raises UnknownVoice and its kin, BadRequest for a design that cannot be.

    The design of a normalized text is passed on as it stands: whoever cut the text into phrases has checked it.
    """
    if order.normalized:
        chosen = services.select(order.voice, order.model, order.language)
        utterance = Utterance(
            voice=chosen.voice.name, language=chosen.language, speed=order.speed, instruct=order.instruct
        )
    else:
        utterance = services.utterance(
            voice=order.voice,
            model=order.model,
            language=order.language,
            instruct=order.instruct,
            speed=order.speed,
        )
    return replace(utterance, rate_hz=order.rate_hz or services.predictor.rate_hz(utterance.voice))


async def pieces(services: Services, order: V2Order, utterance: Utterance, timeline: Timeline) -> AsyncGenerator[Piece]:
    """Speak the order; closing the generator stops the work. Raises what the predictor raises, EmptyInput."""
    source = _phrase if order.normalized else _text
    async with aclosing(source(services, order, utterance, timeline)) as found:
        async for piece in found:
            if len(piece.samples):
                services.has_spoken()
                timeline.audio_ms += piece.duration_ms if order.normalized else 0.0
            yield piece


async def collected(source: AsyncGenerator[Piece], limit_bytes: float) -> Whole:
    """All of it. Raises InputTooLarge beyond the limit, and what the source raises."""
    whole = Whole()
    held_bytes = 0
    async with aclosing(source) as found:
        async for piece in found:
            held_bytes += piece.samples.nbytes
            if held_bytes > limit_bytes:
                raise InputTooLarge("The reply is too long to be sent whole; use generate_stream.", param="text")
            whole.rate_hz = piece.rate_hz
            whole.samples.append(piece.samples)
            whole.words += piece.words
            whole.origin = piece.origin or whole.origin
    return whole


@asynccontextmanager
async def ahead(source: AsyncGenerator[Piece]) -> AsyncIterator[AsyncIterator[Piece]]:
    """Run the source in a task of its own, up to a minute of sound ahead of whoever reads.

    So a slow reader holds no slot. Leaving the block closes the source and waits for it.
    """
    box = _Box()
    work = asyncio.create_task(box.fill(source))
    try:
        yield box.taken()
        await work
    finally:
        work.cancel()
        await asyncio.wait([work])
        if not work.cancelled():
            work.exception()  # where it matters it was raised above


class _Box:
    """Pieces between the task that makes them and the one that sends them."""

    def __init__(self) -> None:
        self._pieces: deque[Piece] = deque()
        self._held_ms = 0.0
        self._over = False
        self._moved = asyncio.Condition()

    async def fill(self, source: AsyncGenerator[Piece]) -> None:
        """Take everything from the source; the reader gets what there is before the error, if there is one."""
        try:
            async with aclosing(source) as found:
                async for piece in found:
                    async with self._moved:
                        await self._moved.wait_for(lambda: self._held_ms < _AHEAD_MS)
                        self._pieces.append(piece)
                        self._held_ms += piece.duration_ms
                        self._moved.notify_all()
        finally:
            async with self._moved:
                self._over = True
                self._moved.notify_all()

    async def taken(self) -> AsyncIterator[Piece]:
        """The pieces, in order."""
        while True:
            async with self._moved:
                await self._moved.wait_for(lambda: self._pieces or self._over)
                if not self._pieces:
                    return
                piece = self._pieces.popleft()
                self._held_ms -= piece.duration_ms
                self._moved.notify_all()
            yield piece


async def _phrase(
    services: Services, order: V2Order, utterance: Utterance, timeline: Timeline
) -> AsyncGenerator[Piece]:
    """One phrase as the predictor makes it: its silence, its level and its times are its own."""
    clock, predictor = services.clock, services.predictor
    job = Job(Phrase(order.text, utterance.language, order.ipa), utterance.voice, utterance.speed, utterance.instruct)
    own_hz = 0
    resampler: Resampler | None = None
    since_ms = clock.now_ms()
    async with aclosing(predictor.synthesize(job)) as chunks:
        async for chunk in chunks:
            own_hz = chunk.rate_hz or own_hz or predictor.rate_hz(job.voice)
            resampler = resampler or Resampler(own_hz, order.rate_hz or own_hz)
            rest = None
            if resampler.from_hz != own_hz:
                rest, resampler = resampler.flush(), Resampler(own_hz, resampler.to_hz)
            samples = resampler.feed(chunk.samples)
            if rest is not None and len(rest):
                samples = np.concatenate((rest, samples))
            if timeline.first_audio_ms is None and len(samples):
                timeline.first_audio_ms = clock.now_ms()
            yield Piece(samples, resampler.to_hz, chunk.words, chunk.origin)
    if resampler is None or timeline.first_audio_ms is None:
        raise PredictorFailed("The engine gave no audio.")
    if len(rest := resampler.flush()):
        yield Piece(rest, resampler.to_hz)
    timeline.synthesis_ms += clock.now_ms() - since_ms


async def _text(services: Services, order: V2Order, utterance: Utterance, timeline: Timeline) -> AsyncGenerator[Piece]:
    """A whole text, through the heart."""
    events = speak_utterance(
        order.text,
        utterance,
        services.predictor,
        clock=services.clock,
        timeline=timeline,
        resolve=services.catalog.cast,
    )
    origin: Origin | None = None
    async with aclosing(events):
        async for event in events:
            if isinstance(event, SegmentEnd):
                origin = event.origin or origin
            elif isinstance(event, Audio):
                words = tuple(WordTime(w.start, w.end, w.start_ms, w.end_ms, w.exact) for w in event.words)
                yield Piece(event.samples, utterance.rate_hz, words, origin)
    if not timeline.audio_ms:
        raise EmptyInput("There is nothing to say in the text.", param="text")
