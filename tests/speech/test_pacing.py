"""How far ahead of its listener an utterance is made."""

from __future__ import annotations

import asyncio
import gc
import random
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import pytest

import vivavoce.speech.arriving as arriving
from vivavoce.predictors.base import Job
from vivavoce.speech import (
    Audio,
    Finished,
    Listener,
    ScheduledPredictor,
    SegmentEnd,
    SegmentStart,
    Slots,
    Timeline,
    Utterance,
    speak_utterance,
)
from vivavoce.text import Segment, Splitter

VOICE = Utterance(voice="any", rate_hz=8_000)
# Each sentence sounds for about three seconds.
TEXT = " ".join(
    f"Sentence number {word} is one of many others here." for word in ("one", "two", "three", "four", "five", "six")
)


class Scene:
    """One listener on a simulated predictor; `ahead` is what it had left at each start of a job."""

    def __init__(self, clock, simulated, lead_ms: float = 5_000, **options: object) -> None:
        self.clock = clock
        self.inner = simulated(**options)
        self.began_ms = clock.now_ms()
        self.listener = Listener(clock, due_ms=self.began_ms + 150)
        self.timeline = Timeline(self.began_ms)
        self.slots = Slots(lambda: self.inner.slots, clock)
        self.lead_ms = lead_ms
        self.ahead: list[float] = []

    def others_events(self, text: str):
        """What another listener hears."""
        now_ms = self.clock.now_ms()
        self.timeline, self.listener = Timeline(now_ms), Listener(self.clock, due_ms=now_ms + 150)
        return self.events(text)

    def events(self, text: str | AsyncIterator[str | None] = TEXT):
        scene = self

        class Watched(ScheduledPredictor):
            async def synthesize(self, job: Job, deadline=None):
                scene.ahead.append(scene.listener.ahead_ms)
                async with aclosing(super().synthesize(job, deadline)) as chunks:
                    async for chunk in chunks:
                        yield chunk

        return speak_utterance(
            text,
            VOICE,
            Watched(self.inner, self.slots, can_rest=True),
            clock=self.clock,
            timeline=self.timeline,
            listener=self.listener,
            lead_ms=self.lead_ms,
        )

    @property
    def starts_ms(self) -> list[float]:
        return [at_ms - self.began_ms for at_ms, _ in self.inner.starts]


@pytest.fixture
def scene(virtual_clock, simulated) -> Callable[..., Scene]:
    return lambda **options: Scene(virtual_clock, simulated, **options)


@pytest.mark.parametrize("lead_ms", [1_000, 3_000, 5_000, 8_000])
def test_no_job_starts_while_the_lead_is_there(virtual, scene, lead_ms: int) -> None:
    async def run() -> Scene:
        made = scene(lead_ms=lead_ms)
        async for _ in made.events():
            pass
        return made

    made = virtual(run())
    # The rest between two sentences is handed over with the job that follows it.
    assert all(ahead <= lead_ms + 310 for ahead in made.ahead), made.ahead
    assert made.listener.underruns == made.timeline.underruns == 0
    assert len(made.ahead) == 6


@pytest.mark.parametrize("rtf", [0.1, 0.6, 0.9])
def test_vllm_omni_3497_the_next_sentence_is_there_when_its_turn_comes(virtual, scene, rtf: float) -> None:
    """What separates two sentences is the pause between them, never the time it takes to make one."""

    async def run() -> Scene:
        made = scene(rtf=rtf)
        async for _ in made.events():
            pass
        return made

    made = virtual(run())
    assert made.timeline.underruns == 0
    assert len(made.timeline.segments) == 6
    assert all(ahead > 0 for ahead in made.ahead[1:]), "it is begun while the one before is heard"


def test_hermes_agent_79859_a_sentence_in_streamed_text_is_begun_as_soon_as_it_is_certain(virtual, scene) -> None:
    async def run() -> list[float]:
        made = scene()

        async def writer() -> AsyncIterator[str]:
            for sentence in ("First comes this one. ", "Second comes this other one. ", "And that is all."):
                yield sentence[:9]
                yield sentence[9:]
                await asyncio.sleep(0.05)

        async for _ in made.events(writer()):
            pass
        return made.starts_ms

    starts = virtual(run())
    assert starts[0] <= 60 and starts[1] <= 300


def test_the_clients_cursor_moves_what_is_made(virtual, scene) -> None:
    """A listener who pauses is not spoken to for ever; one who is ahead of the clock gets more at once."""

    async def run(cursor: Callable[[float], float]) -> int:
        made = scene()
        async with aclosing(made.events()) as events:

            async def listen() -> None:
                async for _ in events:
                    pass

            listening = asyncio.ensure_future(listen())
            for _ in range(40):
                await asyncio.sleep(0.1)
                made.listener.played(cursor(made.clock.now_ms() - made.began_ms))
            jobs = len(made.inner.starts)
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
        return jobs

    paused = virtual(run(lambda now_ms: 100.0))
    in_time = virtual(run(lambda now_ms: now_ms - 200.0))
    hurried = virtual(run(lambda now_ms: 1e9))
    assert paused == 2 < in_time < hurried == 6


def test_a_reader_who_stops_holds_no_slot_and_a_bounded_amount_of_sound(virtual, scene) -> None:
    async def run() -> None:
        made = scene()
        async with aclosing(made.events(TEXT * 20)) as events:
            async for event in events:
                if isinstance(event, Audio):
                    break
            for _ in range(100):
                await asyncio.sleep(60)
            assert made.slots.busy == made.slots.waiting == made.inner.running == 0
            assert made.timeline.audio_ms <= 5_000 + 4_000, "the lead and at most one sentence"

    virtual(run())


def test_vllm_omni_5152_no_gap_after_a_short_first_chunk(virtual, scene) -> None:
    """The first chunk is tiny, the ones behind it take long: they are there before it is over, or it is told."""

    async def run(rtf: float) -> int:
        made = scene(rtf=rtf, chunk_ms=80)
        async for _ in made.events():
            pass
        assert made.timeline.underruns == made.listener.underruns
        return made.timeline.underruns

    assert virtual(run(0.9)) == 0
    assert virtual(run(1.4)) > 0


def test_vllm_omni_1635_sound_leaves_as_it_is_made_not_in_one_burst(virtual, scene) -> None:
    async def run() -> tuple[float, float]:
        made, at_ms = scene(rtf=0.8), []
        async for event in made.events(
            "This one sentence sounds for more than five seconds, which is long enough, no?"
        ):
            if isinstance(event, Audio) and event.samples.size:
                at_ms.append(made.clock.now_ms() - made.began_ms)
        return at_ms[0], at_ms[-1]

    first_ms, last_ms = virtual(run())
    assert first_ms < 0.5 * last_ms


def test_pocket_tts_238_leaving_frees_the_slot_for_the_next_at_once(virtual, scene) -> None:
    async def run() -> None:
        made = scene(slots=1, rtf=0.9)
        async with aclosing(made.events()) as events:
            async for event in events:
                if isinstance(event, Audio):
                    break
        left_ms = made.clock.now_ms()
        assert made.slots.busy == made.inner.running == 0
        async with aclosing(made.others_events("And the next one speaks.")) as events:
            async for event in events:
                if isinstance(event, Audio):
                    break
        assert made.clock.now_ms() - left_ms <= 400 * 0.9 + 1, "one chunk of its own"

    virtual(run())


def test_faster_qwen3_tts_130_a_stream_that_waits_for_its_slot_leaves_nothing_behind(virtual, scene) -> None:
    async def run() -> None:
        made = scene(slots=1)
        async with made.slots.hold(None):
            stream = made.events()
            reading = asyncio.ensure_future(anext(stream))
            assert isinstance(await reading, SegmentStart)
            reading = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(1)
            assert made.slots.waiting == 1
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await stream.aclose()
            assert made.slots.waiting == 0
        assert made.slots.busy == 0 and made.inner.starts == []

    virtual(run())


@pytest.mark.parametrize("piece_characters", [1, 7, 1_000_000])
def test_however_text_arrives_the_same_jobs_come_of_it(virtual, scene, piece_characters: int) -> None:
    """One character at a time, and all of it in one enormous piece."""

    async def run(text: str | AsyncIterator[str]) -> list[str]:
        made = scene(rtf=0.01)
        async for _ in made.events(text):
            pass
        return [said for _, said in made.inner.starts]

    async def pieces() -> AsyncIterator[str]:
        for start in range(0, len(TEXT), piece_characters):
            yield TEXT[start : start + piece_characters]
            await asyncio.sleep(0.001)

    assert virtual(run(pieces())) == virtual(run(TEXT))


def test_a_megabyte_in_one_piece_is_read_no_faster_than_it_is_spoken(virtual, scene, monkeypatch) -> None:
    fed = 0

    class Counting(Splitter):
        def feed(self, piece: str) -> list[Segment]:
            nonlocal fed
            fed += len(piece)
            return super().feed(piece)

    async def at_once() -> AsyncIterator[str]:
        yield "And so it went on and on. " * 40_000

    async def run() -> None:
        made = scene()
        async with aclosing(made.events(at_once())) as events:
            async for event in events:
                if isinstance(event, SegmentEnd) and event.index == 20:
                    break

    monkeypatch.setattr(arriving, "Splitter", Counting)
    virtual(run())
    assert 0 < fed <= 10_000


def test_a_thousand_utterances_that_are_cancelled_at_any_moment_leave_nothing_behind(virtual, scene) -> None:
    async def run() -> None:
        made, chance, before = scene(slots=3), random.Random(4), len(asyncio.all_tasks())

        async def speak() -> None:
            async with aclosing(made.others_events("Sentence one of it. Then sentence two. And three.")) as events:
                async for _ in events:
                    await asyncio.sleep(0)

        async def leave() -> None:
            task = asyncio.ensure_future(speak())
            await asyncio.sleep(chance.choice([0, 0, 0.01, 0.05, 0.3, 2.0]))
            for _ in range(chance.randrange(6)):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        for _ in range(20):
            await asyncio.gather(*(leave() for _ in range(50)))
        assert made.slots.busy == made.slots.waiting == made.inner.running == 0
        assert len(asyncio.all_tasks()) == before
        assert made.inner.most_stepping == 3

    virtual(run())


def test_index_tts_630_two_hundred_utterances_leave_nothing_behind(virtual, scene) -> None:
    async def run() -> tuple[int, int]:
        made = scene()
        before = len(asyncio.all_tasks())
        for index in range(200):
            async with aclosing(made.others_events("Shortly said. And over.")) as events:
                async for event in events:
                    if index % 3 == 0 and isinstance(event, Audio):
                        break
        assert made.slots.busy == made.slots.waiting == made.inner.running == 0
        return before, len(asyncio.all_tasks())

    before, after = virtual(run())
    assert after == before


def test_fish_speech_1025_memory_does_not_grow_with_the_number_of_requests(virtual, scene) -> None:
    async def run() -> int:
        made = scene()

        async def speak(times: int) -> int:
            for _ in range(times):
                async with aclosing(made.others_events("Said once. And once more.")) as events:
                    async for _ in events:
                        pass
            made.inner.starts.clear()
            made.ahead.clear()
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        before = await speak(30)
        return await speak(200) - before

    tracemalloc.start()
    try:
        assert virtual(run()) < 100_000
    finally:
        tracemalloc.stop()


def test_a_writer_who_pauses_makes_no_underrun_and_the_next_sound_comes_soon(virtual, scene) -> None:
    async def run() -> tuple[Timeline, float]:
        made, asked_ms, heard_ms = scene(), 0.0, 0.0

        async def writer() -> AsyncIterator[str]:
            nonlocal asked_ms
            yield "A first thought comes. "
            await asyncio.sleep(20)
            asked_ms = made.clock.now_ms()
            yield "And much later another one."

        async for event in made.events(writer()):
            if isinstance(event, Audio) and asked_ms and not heard_ms:
                heard_ms = made.clock.now_ms()
        return made.timeline, heard_ms - asked_ms

    timeline, answered_ms = virtual(run())
    assert timeline.underruns == 0
    assert answered_ms <= 60


def test_what_is_held_back_is_spoken_on_demand(virtual, scene) -> None:
    async def run() -> list[str]:
        made = scene()
        flushed = asyncio.Event()

        async def writer() -> AsyncIterator[str | None]:
            yield "No full stop here"
            yield None
            await flushed.wait()
            yield " and then the rest"
            yield None
            yield None

        async for event in made.events(writer()):
            if isinstance(event, SegmentEnd):
                flushed.set()
        return [text for _, text in made.inner.starts]

    assert virtual(run()) == ["No full stop here", "and then the rest"]


def test_the_timeline_is_complete_and_in_order(virtual, scene) -> None:
    async def run() -> tuple[Scene, list[object]]:
        made = scene(slots=1)

        async def hold() -> None:
            async with made.slots.hold(None):
                await asyncio.sleep(0.2)

        holding = asyncio.ensure_future(hold())
        await asyncio.sleep(0)
        events = [event async for event in made.events()]
        await holding
        return made, events

    made, events = virtual(run())
    timeline = made.timeline
    moments = (timeline.received_ms, timeline.first_segment_ms, timeline.slot_ms, timeline.first_audio_ms)
    assert None not in moments and sorted(moments) == list(moments)  # type: ignore[type-var]
    assert timeline.ended_ms is not None and timeline.ended_ms >= moments[-1]
    assert timeline.slot_ms - timeline.received_ms == pytest.approx(200, abs=1)
    assert timeline.segments[0].waited_ms == pytest.approx(200, abs=1)
    assert all(segment.waited_ms == 0 for segment in timeline.segments[1:])
    assert timeline.synthesis_ms == pytest.approx(sum(s.synthesis_ms for s in timeline.segments))
    assert timeline.rtf == pytest.approx(0.1, abs=0.02)
    assert [e for e in events if isinstance(e, SegmentEnd)] == timeline.segments
    assert [e.index for e in events if isinstance(e, SegmentStart)] == list(range(6))
    assert [type(e) for e in events].count(Finished) == 1 and isinstance(events[-1], Finished)
    assert timeline.underruns == timeline.retries == 0


def test_places_count_from_the_whole_text_of_which_this_is_the_rest(virtual, scene, scripted) -> None:
    async def run() -> tuple[list[str], list[str]]:
        whole = "Said already. Still to say, this here. And this."
        rest = whole[14:]
        utterance = Utterance(voice="any", rate_hz=8_000, offset=14)
        words, segments = [], []
        async for event in speak_utterance(rest, utterance, scripted()):
            if isinstance(event, Audio):
                words += [whole[word.start : word.end] for word in event.words]
            if isinstance(event, SegmentStart):
                segments.append(whole[event.segment.start : event.segment.end])
        return words, segments

    words, segments = virtual(run())
    assert words == ["Still", "to", "say", "this", "here", "And", "this"]
    assert segments == ["Still to say, this here. ", "And this."]


def test_short_sentences_are_joined_unless_told(virtual, scripted) -> None:
    async def jobs(join_short: bool) -> list[str]:
        predictor = scripted()
        utterance = Utterance(voice="any", rate_hz=8_000, join_short=join_short)
        async for _ in speak_utterance("Yes. No. Maybe. So.", utterance, predictor):
            pass
        return [job.phrase.text for job in predictor.jobs]

    assert len(virtual(jobs(True))) == 2
    assert len(virtual(jobs(False))) == 4


def test_the_design_of_a_voice_goes_with_its_jobs_and_with_no_other_voices(virtual, scripted) -> None:
    async def jobs() -> list[tuple[str, str]]:
        predictor = scripted()
        utterance = Utterance(voice="any", rate_hz=8_000, instruct="female, british accent")
        text = 'Mine. <voice name="other">Not mine.</voice>'
        async for _ in speak_utterance(text, utterance, predictor, resolve=lambda voice, language: voice or "any"):
            pass
        return [(job.voice, job.instruct) for job in predictor.jobs]

    assert virtual(jobs()) == [("any", "female, british accent"), ("other", "")]


def test_silence_that_the_sound_begins_with_is_perceived(virtual, scene) -> None:
    async def run(text: str) -> Timeline:
        made = scene()
        async for _ in made.events(text):
            pass
        return made.timeline

    plain, paused = virtual(run("Well then.")), virtual(run("[pause:700ms]Well then."))
    assert plain.leading_silence_ms <= 30
    assert paused.leading_silence_ms == pytest.approx(700 + plain.leading_silence_ms, abs=2)
    assert paused.perceived_ttfa_ms == pytest.approx(paused.ttfa_ms + paused.leading_silence_ms)
