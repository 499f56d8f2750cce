"""The walk of one utterance: text to segments to phrases to PCM, in order, one ahead of the listener."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing, suppress

from ..clock import Clock, MonotonicClock
from ..errors import EmptyInput
from ..predictors.base import Predictor
from ..text import Normalizer, Segment, Splitter
from .events import Audio, Event, Finished, SegmentEnd, SegmentStart, Timeline, Utterance
from .mixer import Mixer
from .outbox import Outbox
from .pauses import Pauses
from .script import Resolve, Rest, Say, beats
from .words import WordTracker

__all__ = ["speak_utterance"]

LEAD_MS = 10_000.0
_PIECE_CHARACTERS = 2_000
# Longer than a language model takes for a word, shorter than a listener notices.
_WRITER_PAUSE_MS = 200.0


async def speak_utterance(
    text: str | AsyncIterable[str],
    utterance: Utterance,
    predictor: Predictor,
    *,
    clock: Clock | None = None,
    timeline: Timeline | None = None,
    resolve: Resolve | None = None,
    pauses: Pauses | None = None,
    lead_ms: float = LEAD_MS,
) -> AsyncGenerator[Event]:
    """Speak a text, whole or while it is still arriving.

    Yields, for each segment in order, SegmentStart, Audio as it is made, and SegmentEnd; at last Finished. At most
    `lead_ms` of sound is made ahead of the reader. Closing the generator (`aclose`) cancels the work within one engine
    step. `timeline` is filled while it runs and stays readable after any end. `resolve` casts the voices and languages
    that markup asks for. Raises EmptyInput where there is nothing to say, and whatever the predictor raises.
    """
    clock = clock or MonotonicClock()
    timeline = timeline or Timeline(clock.now_ms())
    outbox = Outbox(utterance.rate_hz, lead_ms)
    speaker = _Speaker(utterance, predictor, clock, timeline, resolve, pauses or Pauses(), outbox)
    work = asyncio.create_task(speaker.run(text))
    try:
        while (event := await outbox.get()) is not None:
            yield event
        await work
        timeline.ended_ms = clock.now_ms()
        yield Finished("ok", timeline)
    finally:
        if timeline.ended_ms is None:
            timeline.ended_ms = clock.now_ms()
        work.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await work


class _Speaker:
    """Makes the sound of one utterance, segment after segment, into its outbox."""

    def __init__(
        self,
        utterance: Utterance,
        predictor: Predictor,
        clock: Clock,
        timeline: Timeline,
        resolve: Resolve | None,
        pauses: Pauses,
        outbox: Outbox,
    ) -> None:
        self._utterance = utterance
        self._predictor = predictor
        self._clock = clock
        self._timeline = timeline
        self._resolve = resolve
        self._pauses = pauses
        self._outbox = outbox
        self._mixer = Mixer(utterance.rate_hz)
        self._normalizer = Normalizer(utterance.language, utterance.lexicon, name_emoji=utterance.name_emoji)
        self._owed_rest_ms = 0.0

    async def run(self, text: str | AsyncIterable[str]) -> None:
        """Speak all of it; the outbox is closed whatever happens."""
        try:
            async with aclosing(_segments(text, self._utterance.language)) as segments:
                async for segment in segments:
                    await self._segment(segment)
            await self._put(Audio(self._mixer.finish()))
            if not self._timeline.audio_ms:
                raise EmptyInput("There is nothing to say in the text.", param="input")
        finally:
            self._outbox.close()

    async def _segment(self, segment: Segment) -> None:
        spoken = self._normalizer.speak(segment.text)
        script = list(beats(spoken, self._utterance, self._resolve))
        if not script:
            return
        index = len(self._timeline.segments)
        if self._timeline.first_segment_ms is None:
            self._timeline.first_segment_ms = self._clock.now_ms()
        await self._outbox.put(SegmentStart(index, segment, spoken))
        before_ms, made_ms = self._mixer.position_ms, self._timeline.synthesis_ms
        tracker = WordTracker(segment.text, spoken, segment.start)
        for beat in script:
            if isinstance(beat, Rest):
                await self._rest(beat)
            else:
                await self._say(beat, tracker)
        self._owed_rest_ms = max(self._owed_rest_ms, self._pauses.after(segment) / self._utterance.speed)
        end = SegmentEnd(index, self._mixer.position_ms - before_ms, self._timeline.synthesis_ms - made_ms)
        self._timeline.segments.append(end)
        await self._outbox.put(end)

    async def _rest(self, beat: Rest) -> None:
        self._owed_rest_ms = max(0.0, self._owed_rest_ms - beat.duration_ms)
        await self._put(Audio(self._mixer.rest(beat.duration_ms)))

    async def _say(self, beat: Say, tracker: WordTracker) -> None:
        if self._timeline.audio_ms:
            await self._put(Audio(self._mixer.rest(self._owed_rest_ms)))
        self._owed_rest_ms = 0.0
        self._mixer.begin(self._predictor.rate_hz(beat.job.voice))
        async with aclosing(self._predictor.synthesize(beat.job)) as chunks:
            since_ms = self._clock.now_ms()
            async for chunk in chunks:
                self._timeline.synthesis_ms += self._clock.now_ms() - since_ms
                samples = self._mixer.feed(chunk.samples)
                words = tuple(tracker.feed(chunk.words, beat.out_start, self._mixer.origin_ms))
                await self._put(Audio(samples, words))
                since_ms = self._clock.now_ms()
            self._timeline.synthesis_ms += self._clock.now_ms() - since_ms
        await self._put(Audio(self._mixer.end(), tuple(tracker.flush())))

    async def _put(self, audio: Audio) -> None:
        if not len(audio.samples) and not audio.words:
            return
        self._timeline.audio_ms += len(audio.samples) * 1000 / self._utterance.rate_hz
        first = self._timeline.first_audio_ms is None and len(audio.samples) > 0
        if first:
            self._timeline.first_audio_ms = self._clock.now_ms()
        await self._outbox.put(audio)
        if first:
            await asyncio.sleep(0)  # the listener's first sound leaves before the engine's next step takes the core


async def _segments(text: str | AsyncIterable[str], language: str) -> AsyncGenerator[Segment]:
    """Segments as soon as each is certain, or as soon as the writer pauses behind what looks like an end."""
    splitter = Splitter(language)
    if isinstance(text, str):
        for start in range(0, len(text), _PIECE_CHARACTERS):
            for segment in splitter.feed(text[start : start + _PIECE_CHARACTERS]):
                yield segment
    else:
        async with aclosing(_pieces(text)) as pieces:
            async for piece in pieces:
                for segment in splitter.pause() if piece is None else splitter.feed(piece):
                    yield segment
    for segment in splitter.flush():
        yield segment


async def _pieces(text: AsyncIterable[str]) -> AsyncGenerator[str | None]:
    """The pieces of a text that is still arriving, and None once in every pause of its writer."""
    source = aiter(text)
    try:
        while True:
            coming = asyncio.ensure_future(anext(source))
            try:
                done, _ = await asyncio.wait({coming}, timeout=_WRITER_PAUSE_MS / 1000)
                if not done:
                    yield None
                yield await coming
            except StopAsyncIteration:
                return
            finally:
                coming.cancel()
                await asyncio.wait({coming})
                if not coming.cancelled():
                    coming.exception()  # however it ended, nobody else will ask
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()
