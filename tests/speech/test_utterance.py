"""One utterance from text to sound: order, pauses, words, cancelling, errors."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import aclosing

import numpy as np
import pytest

import vivavoce.speech.arriving as arriving
from vivavoce.errors import EmptyInput
from vivavoce.speech import Audio, Finished, SegmentEnd, SegmentStart, Timeline, Utterance, Word, speak_utterance

VOICE = Utterance(voice="tester")


async def collect(text: str | AsyncIterator[str], predictor: object, utterance: Utterance = VOICE) -> list[object]:
    return [event async for event in speak_utterance(text, utterance, predictor)]  # type: ignore[arg-type]


def sound_of(events: list[object]) -> np.ndarray:
    return np.concatenate([e.samples for e in events if isinstance(e, Audio)])


def words_of(events: list[object]) -> list[Word]:
    return [word for e in events if isinstance(e, Audio) for word in e.words]


def quiet_runs_ms(samples: np.ndarray, rate_hz: int = 24_000, floor: float = 1e-3) -> list[float]:
    loud = np.flatnonzero(np.abs(samples) > floor)
    gaps = np.diff(loud)
    return [float(gap) * 1000 / rate_hz for gap in gaps if gap > rate_hz // 50]


async def test_segments_are_spoken_in_order_and_the_timeline_adds_up(predictor) -> None:
    events = await collect("The first one. And then a second one.", predictor)
    assert [job.phrase.text for job in predictor.jobs] == ["The first one.", "And then a second one."]
    starts = [e for e in events if isinstance(e, SegmentStart)]
    assert [s.index for s in starts] == [0, 1]
    finished = events[-1]
    assert isinstance(finished, Finished) and finished.outcome == "ok"
    assert finished.timeline.audio_ms == pytest.approx(len(sound_of(events)) / 24, abs=0.1)
    assert len(finished.timeline.segments) == 2
    assert sum(isinstance(e, SegmentEnd) for e in events) == 2


async def test_a_rest_to_begin_with_leaves_when_the_first_sound_is_there(predictor, still_clock) -> None:
    """Nobody takes silence for speech: sound has come when something of it can be heard."""
    text = "Going on here. And there."
    plain = await collect(text, predictor)
    utterance = Utterance(voice="tester", opening_rest_ms=300)

    class Late:
        slots, streams, rate_hz = 1, predictor.streams, predictor.rate_hz

        async def synthesize(self, job, deadline=None):
            still_clock.at_ms += 40
            async for chunk in predictor.synthesize(job, deadline):
                yield chunk

    events = [event async for event in speak_utterance(text, utterance, Late(), clock=still_clock)]
    sound = sound_of(events)
    assert np.flatnonzero(sound_of(plain))[0] + 300 * 24 == pytest.approx(np.flatnonzero(sound)[0], abs=24)
    assert quiet_runs_ms(sound) == quiet_runs_ms(sound_of(plain))
    before, after = words_of(plain), words_of(events)
    assert [word.start_ms - 300 for word in after] == pytest.approx([word.start_ms for word in before])
    timeline = events[-1].timeline
    assert timeline.ttfa_ms == 40
    assert timeline.leading_silence_ms == pytest.approx(plain[-1].timeline.leading_silence_ms + 300, abs=1)


async def test_word_times_match_the_sound_they_describe_pauses_included(predictor) -> None:
    """Kokoro-FastAPI 274: what is heard after a pause is told with the pause in it."""
    text = "Knock knock. [pause:1s] Who is there?"
    events = await collect(text, predictor)
    sound, words = sound_of(events), words_of(events)
    assert [w.text for w in words] == ["Knock", "knock", "Who", "is", "there"]
    assert all(text[w.start : w.end] == w.text for w in words)
    for word in words:
        middle = sound[int((word.start_ms + 10) * 24) : int((word.end_ms - 10) * 24)]
        assert np.abs(middle).max() > 0.2, word
        before = sound[max(0, int((word.start_ms - 20) * 24)) : int((word.start_ms - 4) * 24)]
        assert not before.size or np.abs(before).max() < 1e-3, word
    assert words[2].start_ms - words[1].end_ms >= 1000


async def test_words_are_told_no_later_than_the_audio_in_which_they_end(predictor) -> None:
    heard_ms = 0.0
    for event in await collect("One two three four. Five six seven.", predictor):
        if isinstance(event, Audio):
            for word in event.words:
                assert word.end_ms >= heard_ms - 1
            heard_ms += len(event.samples) / 24


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 44_100, 48_000])
async def test_other_rates_last_as_long(predictor, scripted, rate_hz: int) -> None:
    text = "Same words. Same time."
    plain = await collect(text, predictor)
    other = await collect(text, scripted(), Utterance(voice="tester", rate_hz=rate_hz))
    assert len(sound_of(other)) / rate_hz == pytest.approx(len(sound_of(plain)) / 24_000, abs=0.002)
    for ours, theirs in zip(words_of(plain), words_of(other), strict=True):
        assert ours.start_ms == pytest.approx(theirs.start_ms, abs=2)


async def test_kokoro_onnx_11_silence_between_sentences_is_the_pause_and_no_more(predictor) -> None:
    events = await collect("One two. Three four. Five six.", predictor)
    assert max(quiet_runs_ms(sound_of(events))) <= 300 + 25 + 60 + 10
    assert np.flatnonzero(np.abs(sound_of(events)) > 1e-3)[0] <= 24 * 30, "the lead of the engine is trimmed"


async def test_a_leading_pause_is_leading_silence(predictor) -> None:
    """Kokoro-FastAPI 355: a pause as the very first thing."""
    events = await collect("[pause:500ms]Now.", predictor)
    first = np.flatnonzero(np.abs(sound_of(events)) > 1e-3)[0]
    assert 500 <= first / 24 <= 535
    assert words_of(events)[0].start_ms == pytest.approx(525, abs=10)


async def test_only_a_pause_is_only_silence(predictor) -> None:
    events = await collect("[pause:250ms]", predictor)
    assert len(sound_of(events)) == 6_000 and not np.any(sound_of(events))
    assert predictor.jobs == []


@pytest.mark.parametrize("text", ["", "   \n\n ", "🎉 🎉", "... — !?", "\u200b\u202e", "**"])
async def test_airi_454_nothing_to_say_never_reaches_the_engine(predictor, text: str) -> None:
    with pytest.raises(EmptyInput):
        await collect(text, predictor)
    assert predictor.jobs == []


async def test_airi_454_an_emoji_sentence_among_others_is_skipped(predictor) -> None:
    await collect("Splendid! 🎉 🎉\n\n🎈\n\nOn we go.", predictor)
    assert len(predictor.jobs) == 2
    assert all(any(c.isalnum() for c in job.phrase.text) for job in predictor.jobs)


async def test_pipecat_2681_three_sentences_in_one_message_are_all_voiced(predictor) -> None:
    async def one_message() -> AsyncIterator[str]:
        yield "Welcome aboard! This is your captain. Shall we go?"

    events = await collect(one_message(), predictor)
    assert "captain" in [w.text for w in words_of(events)]
    assert words_of(events)[-1].text == "go"


async def test_vllm_omni_5316_the_first_sentence_is_heard_while_the_text_still_arrives(predictor) -> None:
    gate = asyncio.Event()

    async def slow_text() -> AsyncIterator[str]:
        yield "Certainly. L"
        await gate.wait()
        yield "et us begin."

    heard_before_the_rest = False
    async with aclosing(speak_utterance(slow_text(), VOICE, predictor)) as events:
        async for event in events:
            if isinstance(event, SegmentEnd) and event.index == 0:
                heard_before_the_rest = not gate.is_set()
                gate.set()
    assert heard_before_the_rest
    assert [job.phrase.text for job in predictor.jobs] == ["Certainly.", "Let us begin."]


@pytest.mark.parametrize("said", ["Certainly. ", "One moment, please. ", "Certainly.", "好的。"])
async def test_vllm_omni_5316_a_writer_who_pauses_is_heard_up_to_the_last_full_stop(predictor, said: str) -> None:
    gate, heard = asyncio.Event(), []

    async def pausing() -> AsyncIterator[str]:
        yield said
        await gate.wait()
        yield " And here is the rest."

    async with aclosing(speak_utterance(pausing(), VOICE, predictor)) as events:
        async for event in events:
            if isinstance(event, SegmentEnd):
                heard.append(gate.is_set())
                gate.set()
    assert heard == [False, True]


@pytest.mark.parametrize("said", ["We met Dr.", "It was in the U.S", "That makes 3.", 'He said "Stop. '])
async def test_a_pause_behind_what_only_looks_like_an_end_waits(predictor, said: str) -> None:
    async def pausing() -> AsyncIterator[str]:
        yield said
        await asyncio.sleep(0.3)
        assert not predictor.jobs
        yield " Lindqvist" if said.endswith("Dr.") else "5 and so on."

    events = await collect(pausing(), predictor)
    assert isinstance(events[-1], Finished)


@pytest.mark.parametrize("failing", [False, True])
async def test_a_text_that_ends_while_its_listener_leaves_leaves_no_trace(monkeypatch, failing: bool) -> None:
    monkeypatch.setattr(arriving, "_WRITER_PAUSE_MS", 0.0)
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    gate = asyncio.Event()

    async def ending() -> AsyncIterator[str]:
        yield "So "
        await gate.wait()
        if failing:
            raise ConnectionError("the writer is gone")

    pieces = arriving._pieces(ending())
    while isinstance(await anext(pieces), str):
        pass
    gate.set()
    for _ in range(5):
        await asyncio.sleep(0)
    await pieces.aclose()
    del pieces
    gc.collect()
    assert complaints == []


async def test_pocket_tts_238_leaving_in_mid_stream_stops_the_engine(scripted) -> None:
    predictor = scripted()
    stream = speak_utterance("A rather long text. " * 200, VOICE, predictor)
    async for event in stream:
        if isinstance(event, Audio) and event.samples.size:
            break
    await stream.aclose()
    assert predictor.running == 0
    assert len(predictor.jobs) < 100


async def test_leaving_before_the_first_sound_frees_everything(scripted) -> None:
    """sglang-omni 665: between the first request and the first chunk."""
    predictor = scripted(hang_on="stuck")
    stream = speak_utterance("We are stuck here.", VOICE, predictor)
    reading = asyncio.ensure_future(_drain(stream))
    for _ in range(50):
        await asyncio.sleep(0)
    assert predictor.running == 1
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert predictor.running == 0


async def _drain(stream: object) -> None:
    async with aclosing(stream) as events:  # type: ignore[type-var]
        async for _ in events:
            pass


async def test_closing_also_closes_the_text_that_was_arriving(predictor) -> None:
    closed = False

    async def endless() -> AsyncIterator[str]:
        nonlocal closed
        try:
            while True:
                yield "And another thing. "
                await asyncio.sleep(0)
        finally:
            closed = True

    stream = speak_utterance(endless(), VOICE, predictor)
    async for event in stream:
        if isinstance(event, SegmentEnd):
            break
    await stream.aclose()
    await asyncio.sleep(0)
    assert closed


async def test_an_engine_that_fails_is_an_error_after_what_was_already_made(scripted) -> None:
    predictor, heard = scripted(fail_on="breaks"), 0
    with pytest.raises(RuntimeError, match="fell over"):
        async for event in speak_utterance("This is fine. Here it breaks now.", VOICE, predictor):
            heard += isinstance(event, Audio)
    assert heard and predictor.running == 0


async def test_the_engine_never_runs_further_ahead_than_the_lead(scripted) -> None:
    predictor = scripted()
    stream = speak_utterance("Some more words to say here. " * 100, VOICE, predictor, lead_ms=2_000)
    async for event in stream:
        if isinstance(event, Audio) and event.samples.size:
            break
    for _ in range(2_000):
        await asyncio.sleep(0)
    assert len(predictor.jobs) <= 4
    await stream.aclose()


async def test_the_timeline_is_filled_whatever_the_end(scripted, still_clock) -> None:
    timeline = Timeline(still_clock.now_ms())
    stream = speak_utterance("Hello there. Bye now.", VOICE, scripted(), clock=still_clock, timeline=timeline)
    async for event in stream:
        if isinstance(event, Audio):
            still_clock.at_ms += 10
    assert timeline.ttfa_ms is not None and timeline.ended_ms is not None
    assert timeline.audio_ms > 0 and timeline.rtf is not None


async def test_markup_changes_pace_and_rests(predictor) -> None:
    text = 'Slow <prosody rate="50%">down here</prosody> please<break time="400ms"/> thanks.'
    events = await collect(text, predictor)
    assert [job.speed for job in predictor.jobs] == [1.0, 0.5, 1.0, 1.0]
    assert any(380 <= run <= 520 for run in quiet_runs_ms(sound_of(events)))
    assert all("<" not in job.phrase.text for job in predictor.jobs)


async def test_kokoro_1004_no_seam_clicks(predictor) -> None:
    """chatterbox-tts-api 14: the step from one sample to the next stays that of speech, at seams too."""
    sound = sound_of(await collect("One two. Three, four. Five six! Seven?", predictor))
    tone_step = 0.3 * 2 * np.pi * 300 / 24_000
    assert np.abs(np.diff(sound)).max() <= tone_step * 1.6


async def test_a_very_long_text_is_bounded_in_memory(scripted) -> None:
    predictor, most = scripted(), 0
    async for event in speak_utterance("Count with me. " * 3_000, VOICE, predictor, lead_ms=1_000):
        if isinstance(event, Audio):
            most = max(most, event.samples.size)
    assert len(predictor.jobs) >= 1_000
    assert most <= 24_000
