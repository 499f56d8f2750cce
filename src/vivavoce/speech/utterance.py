"""The walk of one utterance: text to segments to phrases to PCM, in order, one ahead of the listener."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, suppress

import numpy as np

from ..clock import Clock, MonotonicClock
from ..engines.base import Origin, Samples
from ..errors import EmptyInput, PredictorFailed
from ..predictors.base import Predictor
from ..text import Normalizer, Segment
from .arriving import Text, segments_of
from .events import Audio, Event, Finished, SegmentEnd, SegmentStart, Timeline, Utterance, Word
from .listener import Listener
from .mixer import Mixer
from .outbox import Outbox
from .pauses import Pauses
from .script import Resolve, Rest, Say, beats
from .slots import Ticket
from .take import Take
from .words import WordTracker

__all__ = ["speak_utterance"]

LEAD_MS = 10_000.0
# When a stream whose door says nothing wants its first sound.
_FIRST_AUDIO_MS = 150.0
# Softer than this (-60 dBFS) nothing is heard.
_AUDIBLE = 1e-3
# From the outbox by way of encoder and writer to the socket.
_TURNS_TO_LEAVE = 5


async def speak_utterance(
    text: Text,
    utterance: Utterance,
    predictor: Predictor,
    *,
    clock: Clock | None = None,
    timeline: Timeline | None = None,
    resolve: Resolve | None = None,
    pauses: Pauses | None = None,
    lead_ms: float = LEAD_MS,
    listener: Listener | None = None,
) -> AsyncGenerator[Event]:
    """Speak a text, whole or while it is still arriving; a piece that is None means: speak now what is held back.

    Yields, for each segment in order, SegmentStart, Audio as it is made, and SegmentEnd; at last Finished.

    With a `listener`, no job starts while `lead_ms` of sound or more is made and not yet heard. Sound counts as handed
    over (`listener.sent`, called here) the moment it is yielded; the door only tells what was `played`. Without one, no
    job starts while `lead_ms` lies unread, and jobs are as urgent as for somebody who plays what was made.

    Closing the generator (`aclose`) cancels the work within one engine step. `timeline` is filled while it runs and
    stays readable after any end. `resolve` casts the voices and languages that markup asks for. Raises EmptyInput where
    there is nothing to say, PredictorFailed where no sound came of it, and whatever the predictor raises.
    """
    clock = clock or MonotonicClock()
    timeline = timeline or Timeline(clock.now_ms())
    outbox = Outbox(utterance.rate_hz, lead_ms)
    pace = _Pace(outbox, listener, lead_ms, clock, timeline)
    speaker = _Speaker(utterance, predictor, clock, timeline, resolve, pauses or Pauses(), outbox, pace)
    work = asyncio.create_task(speaker.run(text))
    try:
        while (event := await outbox.get()) is not None:
            if isinstance(event, Audio):
                pace.taken(event.samples.size * 1000 / utterance.rate_hz)
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


class _Pace:
    """How far speech is made ahead, and how urgent more of it is.

    With a listener, what it still has to hear decides; without one, what its reader has not taken, and playback of what
    was made stands for the listener.
    """

    def __init__(
        self, outbox: Outbox, listener: Listener | None, lead_ms: float, clock: Clock, timeline: Timeline
    ) -> None:
        self._outbox = outbox
        self._lead_ms = lead_ms
        self._timeline = timeline
        self._is_heard = listener is not None
        self.listener = listener or Listener(clock, due_ms=timeline.received_ms + _FIRST_AUDIO_MS)

    def ticket(self) -> Ticket:
        """The deadline of the next job."""
        return Ticket(self.listener, is_download=not self._is_heard)

    async def room(self) -> None:
        """Return once more may be made."""
        if self._is_heard:
            await self.listener.until_ahead_below(self._lead_ms, lambda: self._outbox.held_ms)
        else:
            await self._outbox.room()

    def made(self, audio_ms: float) -> None:
        """Note sound that was put into the outbox."""
        if not self._is_heard:
            self.listener.sent(audio_ms)

    def taken(self, audio_ms: float) -> None:
        """Note sound that leaves the outbox."""
        if self._is_heard:
            self.listener.sent(audio_ms)
            self._timeline.underruns = self.listener.underruns


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
        pace: _Pace,
    ) -> None:
        self._utterance = utterance
        self._predictor = predictor
        self._clock = clock
        self._timeline = timeline
        self._resolve = resolve
        self._pauses = pauses
        self._outbox = outbox
        self._pace = pace
        self._mixer = Mixer(utterance.rate_hz)
        self._normalizer = Normalizer(utterance.language, utterance.lexicon, name_emoji=utterance.name_emoji)
        self._owed_rest_ms = utterance.opening_rest_ms
        self._jobs = 0
        self._spoke = False
        self._is_silent = True
        self._waited_ms = 0.0
        self._origin: Origin | None = None

    async def run(self, text: Text) -> None:
        """Speak all of it; the outbox is closed whatever happens."""
        try:
            async with aclosing(segments_of(text, self._utterance)) as segments:
                asked_ms = self._clock.now_ms()
                async for segment in segments:
                    self._pace.listener.text_came(asked_ms)
                    await self._segment(segment)
                    await asyncio.sleep(0)  # phrases from memory come without a pause; the reader gets its turn here
                    asked_ms = self._clock.now_ms()
                self._pace.listener.text_came(asked_ms)  # the writer's last pause, too, is no underrun
            await self._put(self._mixer.finish())
            if self._jobs and not self._spoke:
                raise PredictorFailed("The predictor gave no sound.")
            if not self._timeline.audio_ms:
                raise EmptyInput("There is nothing to say in the text.", param="input")
        finally:
            self._outbox.close()

    async def _segment(self, segment: Segment) -> None:
        spoken = self._normalizer.speak(segment.text)
        script = list(beats(spoken, self._utterance, self._resolve))
        if not script:
            return
        timeline = self._timeline
        index = len(timeline.segments)
        if timeline.first_segment_ms is None:
            timeline.first_segment_ms = self._clock.now_ms()
        await self._pace.room()
        self._outbox.put(SegmentStart(index, segment, spoken))
        before_ms, made_ms = self._mixer.position_ms, timeline.synthesis_ms
        self._waited_ms, self._origin = 0.0, None
        tracker = WordTracker(segment.text, spoken, segment.start)
        for beat in script:
            await self._pace.room()
            if isinstance(beat, Rest):
                await self._rest(beat)
            else:
                await self._say(beat, tracker)
        if timeline.audio_ms:
            self._owed_rest_ms = max(self._owed_rest_ms, self._pauses.after(segment) / self._utterance.speed)
        end = SegmentEnd(
            index,
            self._mixer.position_ms - before_ms,
            timeline.synthesis_ms - made_ms,
            self._waited_ms,
            self._origin,
        )
        timeline.segments.append(end)
        self._outbox.put(end)

    async def _rest(self, beat: Rest) -> None:
        self._owed_rest_ms = max(0.0, self._owed_rest_ms - beat.duration_ms)
        await self._put(self._mixer.rest(beat.duration_ms))

    async def _say(self, beat: Say, tracker: WordTracker) -> None:
        rest = self._mixer.rest(self._owed_rest_ms)
        self._owed_rest_ms = 0.0
        if self._timeline.audio_ms:
            await self._put(rest)
            rest = rest[:0]
        self._jobs += 1
        job = beat.job
        take = Take(self._mixer, self._clock, self._pace.ticket(), lambda: self._predictor.rate_hz(job.voice))
        try:
            async with aclosing(self._predictor.synthesize(job, take.ticket)) as chunks:
                async for chunk in chunks:
                    if self._timeline.slot_ms is None:
                        self._timeline.slot_ms = take.slot_ms
                    samples = take.feed(chunk)
                    if rest.size and samples.size:
                        await self._put(rest)
                        rest = rest[:0]
                    await self._put(samples, tracker.feed(chunk.words, beat.out_start, take.origin_ms))
            await self._put(rest)
            await self._put(take.end(), tracker.flush())
        finally:
            self._note(take)

    def _note(self, take: Take) -> None:
        self._timeline.synthesis_ms += take.synthesis_ms
        self._timeline.retries += take.retries
        self._waited_ms += take.ticket.waited_ms
        self._origin = take.origin or self._origin
        self._spoke = self._spoke or take.sounded

    async def _put(self, samples: Samples, words: Iterable[Word] = ()) -> None:
        audio = Audio(samples, tuple(words))
        if not samples.size and not audio.words:
            return
        audio_ms = samples.size * 1000 / self._utterance.rate_hz
        self._measure_silence(samples)
        self._timeline.audio_ms += audio_ms
        is_first = self._timeline.first_audio_ms is None and samples.size > 0
        if is_first:
            self._timeline.first_audio_ms = self._clock.now_ms()
        self._outbox.put(audio)
        self._pace.made(audio_ms)
        if is_first:
            await self._first_sound_leaves()

    async def _first_sound_leaves(self) -> None:
        """Give the reader a few turns of the loop, before making more takes the core."""
        for _ in range(_TURNS_TO_LEAVE):
            await asyncio.sleep(0)
            if self._outbox.is_awaited:
                await asyncio.sleep(0)  # the loop writes at the end of a turn
                return

    def _measure_silence(self, samples: Samples) -> None:
        """How long the sound that leaves is silent before the first thing to be heard."""
        if self._is_silent and samples.size:
            audible = np.abs(samples) > _AUDIBLE
            self._is_silent = not audible.any()
            silent_frames = samples.size if self._is_silent else int(audible.argmax())
            self._timeline.leading_silence_ms += silent_frames * 1000 / self._utterance.rate_hz
